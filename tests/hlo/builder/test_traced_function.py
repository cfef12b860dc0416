"""`@hlo`: annotated functions are modules and can be called."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.hlo.builder import HloBuilder, HloBuilderError, TracedFunction, hlo
from xla_explorer.hlo.primitive_type import F32

ROWS = 4


@hlo
def scale(x: F32[ROWS, 3], factor: F32):  # type: ignore[no-untyped-def]
    """Times a factor."""
    return x * factor


def test_module_and_call() -> None:
    assert isinstance(scale, TracedFunction) and scale.__doc__ == "Times a factor."
    assert scale.module is scale.module and scale.module.name == "scale"
    assert [p.name for p in scale.module.entry.parameters()] == ["x", "factor"]
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(scale(x, np.float32(2)), x * 2)
    assert repr(scale) == "<hlo function scale(x: f32[4,3], factor: f32[])>"


def test_local_names_in_annotations() -> None:
    size = 5

    @hlo(name="renamed")
    def f(x: F32[size]):  # type: ignore[no-untyped-def]
        return x + 1, x.sum()

    assert f.module.name == "renamed" and f.module.parameter_shapes() == [F32[5]]


def test_traced_functions_compose() -> None:
    b = HloBuilder("m")
    module = b.build(scale(b.parameter(F32[4, 3]), 3.0))
    assert module.result_shape() is F32[4, 3]


def test_shapes_from_arrays() -> None:
    @hlo
    def double(x):  # type: ignore[no-untyped-def]
        return x + x

    np.testing.assert_array_equal(
        double(np.ones((2, 2), np.float32)), np.full((2, 2), 2, np.float32)
    )
    assert double.specialize(F32[7]).result_shape() is F32[7]
    with pytest.raises(HloBuilderError, match="no shape for x"):
        _ = double.module
    with pytest.raises(TypeError, match="takes 1 arguments"):
        double(1, 2)


def test_nothing_returned() -> None:
    @hlo
    def nothing(x: F32[2]):  # type: ignore[no-untyped-def]
        x + 1

    with pytest.raises(HloBuilderError, match="returns nothing"):
        _ = nothing.module
