"""Texts of small modules for tests of fusion."""

from __future__ import annotations

_REDUCERS = """sum {
  l0 = f32[] parameter(0)
  r0 = f32[] parameter(1)
  ROOT o0 = f32[] add(l0, r0)
}
largest {
  l1 = f32[] parameter(0)
  r1 = f32[] parameter(1)
  ROOT o1 = f32[] maximum(l1, r1)
}
"""


def entry(*lines: str) -> str:
    """Return a module of these instructions with the reducers `sum` and `largest`."""
    return "HloModule m\n" + _REDUCERS + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"
