"""`python -m xla_explorer` is the command line."""

from __future__ import annotations

import importlib
import sys

sys.exit(importlib.import_module("xla_explorer.cli.main").main())
