"""Holds for every test: no connection leaves this machine."""

from __future__ import annotations

from models.offline import refuse_outside_connections

refuse_outside_connections()
