"""A flag of XLA as XLA_FLAGS has it."""

from __future__ import annotations


def flag_text(name: str, value: object) -> str:
    """Return a flag as text.

    Examples
    --------
    >>> flag_text("xla_cpu_use_fusion_emitters", False)
    '--xla_cpu_use_fusion_emitters=false'
    """
    return f"--{name.lstrip('-')}={str(value).lower() if isinstance(value, bool) else value}"
