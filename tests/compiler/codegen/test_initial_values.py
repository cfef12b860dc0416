"""The initial value of a reduction."""

import numpy as np
import pytest

import xla_explorer as xe


def _text(opcode: str, element_type: str, count: int = 8) -> str:
    return f"""HloModule reduction

f {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT c = {element_type}[] {opcode}(a, b)
}}

ENTRY main {{
  x = {element_type}[{count}] parameter(0)
  start = {element_type}[] parameter(1)
  ROOT r = {element_type}[] reduce(x, start), dimensions={{0}}, to_apply=f
}}
"""


@pytest.mark.parametrize(("element_type", "threads"), [("f32", 1), ("f32", 2), ("c64", 2)])
def test_a_sum_of_negative_zeros_is_one(element_type, threads):
    """A long sum of negative zeros is a negative zero, in both parts of a complex one.

    Partial sums must not start from positive zero.
    """
    count = 70_000
    x = np.full(
        count,
        {"f32": -0.0, "c64": complex(-0.0, -0.0)}[element_type],
        {"f32": np.float32, "c64": np.complex64}[element_type],
    )
    result = np.asarray(xe.compile(_text("add", element_type, count), threads=threads)(x, x[0]))
    assert np.signbit(result.real) and (element_type == "f32" or np.signbit(result.imag))
