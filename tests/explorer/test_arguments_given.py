"""Bad arguments of users: out of range, misleading objects, too many; each has its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.diagnostic import XlaExplorerError


class Lies:
    def __init__(self, device: Any, value: Any) -> None:
        self.device, self.value = device, value

    def __dlpack_device__(self) -> Any:
        return self.device

    def __dlpack__(self, *_: Any, **__: Any) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class NoArray:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("not today")


def identity(shape: str) -> str:
    return f"HloModule m\nENTRY e {{ ROOT x = {shape} parameter(0) }}"


WAYS = {
    "cpu": lambda text: xe.compile(text),
    "interpreter": lambda text: xe.compile(text, backend="interpreter"),
    "evaluate": lambda text: lambda value: xe.evaluate(text, value),
}
REFUSED = [
    ("s8[]", 300), ("s8[]", -129), ("u32[]", -1), ("s4[]", 8), ("u2[]", 4), ("s64[]", 1 << 63), ("s32[]", 1.5), ("s32[]", float("nan")),
    ("s32[]", float("inf")), ("s32[]", 1j), ("f32[]", 1j), ("f32[]", 10**400), ("c64[]", 10**400), ("bf16[]", -(10**400)), ("pred[]", 0.5),
    ("pred[]", 1j), ("f32[2]", [[1.0], [1.0, 2.0]]), ("f32[2]", Lies((1, 0), ValueError("no"))), ("f32[2]", Lies((), 3)),
    ("f32[2]", Lies((1, 0), None)), ("f32[2]", Lies(None, BufferError())), ("f32[2]", NoArray()), ("f32[2]", None), ("f32[2]", "text"),
    ("f32[2]", object()), ("f32[2]", {1: 2}), ("(f32[2], f32[])", 3),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_refused_by_name(way: str) -> None:
    for shape, value in REFUSED:
        call = WAYS[way](identity(shape))
        with pytest.raises(XlaExplorerError, match="%x"):
            call(value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("shape", "value"),
    [("s32[]", 2.0), ("s8[]", -128), ("u64[]", (1 << 64) - 1), ("s4[]", -8), ("f32[]", 3), ("c64[]", 1j), ("c64[]", 2), ("pred[]", True),
     ("pred[]", 1), ("s32[]", True), ("f32[]", float("inf"))],
)  # fmt: skip
def test_numbers_that_fit_keep_their_value(way: str, shape: str, value: Any) -> None:
    assert WAYS[way](identity(shape))(value).item() == value


@pytest.mark.parametrize("way", WAYS)
def test_any_byte_but_zero_is_true(way: str) -> None:
    text = "HloModule m\nENTRY e { x = pred[5] parameter(0)\n ROOT c = s32[5] convert(x) }"
    dirty = np.array([0, 1, 2, 255, 4], np.uint8)
    strided = np.repeat(dirty, 2)
    for given in (dirty.view(bool), strided.view(bool)[::2]):
        before = given.view(np.uint8).copy()
        assert WAYS[way](text)(given).tolist() == [0, 1, 1, 1, 1]
        assert (given.view(np.uint8) == before).all()


def test_many_parameters_do_not_hide_the_next_step() -> None:
    parameters = "\n".join(f"  p{k} = f32[{k + 1}] parameter({k})" for k in range(107))
    session = xe.compile(
        f"HloModule m\nENTRY e {{\n{parameters}\n  ROOT r = f32[1] negate(p0) }}",
        backend="interpreter",
    )
    with pytest.raises(xe.XlaExplorerError, match="takes 107 arguments, got 3") as caught:
        session(1, 2, 3)
    assert (
        len(str(caught.value)) < 500
        and "jax.tree.leaves" in caught.value.hint
        and "p7: f32[8] and 99 more" in caught.value.hint
    )


def test_random_arguments_larger_than_memory() -> None:
    with pytest.raises(XlaExplorerError, match=r"%x.*do not fit"):
        xe.random_arguments(identity("f32[1000000000000000000]"))
