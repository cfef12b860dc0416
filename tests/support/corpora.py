"""Place of the reference corpora: beside the checkout, or XLA_EXPLORER_CORPORA.

Tests that need the corpora skip without them, and the head of a run reports it.
"""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(
    os.environ.get("XLA_EXPLORER_CORPORA") or Path(__file__).resolve().parents[3] / "shared"
).resolve()


def report() -> str:
    """Return the line in the head of a run."""
    found = SHARED.is_dir()
    return f"reference corpora: {SHARED}" + (
        "" if found else " IS ABSENT: the tests that need them are skipped, each with its reason"
    )
