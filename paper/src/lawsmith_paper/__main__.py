"""`python -m lawsmith_paper`."""

from __future__ import annotations

import sys

from lawsmith_paper.cli import main

if __name__ == "__main__":
    sys.exit(main())
