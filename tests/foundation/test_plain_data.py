"""Values between processes: equal, sharing kept, and hostile bytes execute nothing."""

from __future__ import annotations

import enum
import io
import json
import math
import struct
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
import xla_explorer.explorer.sessions.isolation.travelling
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.messages import receive, send
from xla_explorer.foundation.plain_data import PlainDataError
from xla_explorer.foundation.reason import Reason


class Colour(enum.Enum):
    RED = "r"


class Pair(NamedTuple):
    left: Any
    right: Any


def there_and_back(value: Any) -> Any:
    stream = io.BytesIO()
    send(stream, value)
    stream.seek(0)
    return receive(stream)


PLAIN = [
    None,
    True,
    0,
    -1,
    2**62,
    -(2**200),
    1.5,
    -0.0,
    math.inf,
    "",
    "é\ud800\x00",
    b"",
    b"\xff",
    1 + 2j,
    (),
    [],
    {},
    (1, (2, [3])),
    {"a": {1: (2,)}},
    {1, 2},
    frozenset({"x"}),
    Colour.RED,
    Pair(1, Pair(2, ())),
    [[5]],
    Reason("a-code", "words", {"n": 1}),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value: Any) -> None:
    found = there_and_back(value)
    assert (
        type(found) is type(value)
        and found == value
        and math.copysign(1, found or 1) == math.copysign(1, value or 1)
        if isinstance(value, float)
        else found == value
    )


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "uint64",
        ">f4",
        "float16",
        "complex128",
        "bfloat16",
        "int4",
        "uint2",
        "float8_e4m3fn",
        "float4_e2m1fn",
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (4, 5)])
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.arange(math.prod(shape)).reshape(shape).astype(kind)
    for given in (value, np.asfortranarray(value), value[..., ::-1] if shape else value):
        found = there_and_back([given])[0]
        assert (
            found.dtype == given.dtype
            and found.shape == given.shape
            and found.tobytes() == given.tobytes()
        )
        assert found.flags.writeable


def test_what_is_shared_stays_shared() -> None:
    one = ("a", 1)
    first, second = there_and_back([one, one])
    assert first is second


def test_a_module_travels_with_ids_and_lines() -> None:
    module = xe.parse_hlo(
        "HloModule m\nENTRY e {\n  x = f32[8]{0} parameter(0)\n  c = f32[] constant(2)\n b = f32[8] broadcast(c), dimensions={}\n ROOT y = f32[8] multiply(x, b)\n}"
    )
    found = there_and_back(module)
    assert found.to_text() == module.to_text() and found.snapshot() == module.snapshot()
    assert [i.line for i in found.instructions()] == [i.line for i in module.instructions()]
    assert found.next_instruction_id == module.next_instruction_id


def test_errors_travel_with_their_places() -> None:
    with pytest.raises(xe.errors.HloParseError) as caught:
        xe.parse_hlo("HloModule m\nENTRY e { x = f99[8] parameter(0) }")
    found = there_and_back(caught.value)
    assert (
        type(found) is xe.errors.HloParseError
        and str(found) == str(caught.value)
        and found.lineno == caught.value.lineno
    )
    plain = there_and_back(XlaExplorerError("what", "next"))
    assert (plain.message, plain.hint, str(plain)) == ("what", "next", "what\n  hint: next")
    assert there_and_back(ZeroDivisionError("x")).args == ("x",)


@pytest.mark.parametrize(
    "value",
    [lambda: 1, open, np.array([object()]), object(), io.BytesIO(), type],
    ids=["function", "builtin", "object array", "object", "file", "class"],
)
def test_what_does_not_travel_is_refused_before_anything_is_written(value: Any) -> None:
    stream = io.BytesIO()
    with pytest.raises(PlainDataError, match="cannot be sent"):
        send(stream, [1, value])
    assert stream.getvalue() == b""


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(PlainDataError, match="holds itself"):
        send(io.BytesIO(), endless)


HOSTILE = [
    [["os:system"], [["o", 0, "touch /tmp/never"]], [0], []],
    [["subprocess:Popen"], [["o", 0, ["true"]]], [0], []],
    [["builtins:eval"], [["o", 0, "1/0"]], [0], []],
    [["antigravity:X"], [["o", 0]], [0], []],
    [["xla_explorer.foundation.child_process:MessagingChild"], [["o", 0, "true"]], [0], []],
    [["../x:y"], [], 1, []],
    [[], [["t", [5]]], [0], []],
    [[], [["z"]], [0], []],
    [[], [["a", "O", [1], 0]], [0], [8]],
    [[], [["a", "f4", [1000], 0]], [0], [8]],
    [[], [], 1, [-5]],
    [[], [], 1, [1 << 70]],
    [[], [["d", 1]], [0], []],
    {"not": "a table"},
    17,
]


@pytest.mark.parametrize("message", HOSTILE, ids=json.dumps)
def test_hostile_bytes_are_an_error_and_run_nothing(message: Any) -> None:
    import sys

    before = set(sys.modules)
    head = json.dumps(message).encode()
    with pytest.raises(PlainDataError):
        receive(io.BytesIO(struct.pack("<Q", len(head)) + head + bytes(64)))
    assert {m.split(".")[0] for m in set(sys.modules) - before} <= {"xla_explorer"}


def test_a_length_alone_costs_no_memory() -> None:
    with pytest.raises(EOFError):
        receive(io.BytesIO(struct.pack("<Q", 1 << 60) + b"short"))
    with pytest.raises(PlainDataError):
        receive(io.BytesIO(struct.pack("<Q", 5) + b"\xff\xfe[[["))
