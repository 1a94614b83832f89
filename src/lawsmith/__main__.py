"""`python -m lawsmith` is the command line."""

from __future__ import annotations

import sys

from lawsmith.cli import main

sys.exit(main())
