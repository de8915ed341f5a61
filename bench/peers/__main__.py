"""`npm run peers`: ask the peers again (`verdicts.py`)."""

from __future__ import annotations

import sys

from bench.peers.verdicts import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
