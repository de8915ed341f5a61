"""Holds for every test: no connection leaves this machine, and nobody's own `.env` is read."""

from __future__ import annotations

import os

from models.offline import refuse_outside_connections

refuse_outside_connections()
os.environ["EVALS_ENV_FILE"] = "off"
