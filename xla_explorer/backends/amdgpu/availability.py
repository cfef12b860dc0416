"""Why nothing runs on AMD GPUs here."""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse


def why_nothing_runs() -> Reason:
    """Return the reason of the platform before a compile, and of the compiler after it."""
    return refuse(
        "inspect-only",
        "xla_explorer has no runtime for AMD GPUs: amdgpu code can be compiled and inspected",
    )
