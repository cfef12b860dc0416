"""Python functions that programs call: `jax.pure_callback`, `io_callback`, `debug.print`.

A call is a custom call whose configuration has the number of a registered function.
"""

from __future__ import annotations

import itertools
import re
import secrets
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.evaluator import evaluates_custom_call
from xla_explorer.pjrt.errors import PjrtError

CALLBACK = "xla_explorer_python_callback"
_functions: weakref.WeakValueDictionary[int, _Callback] = weakref.WeakValueDictionary()
# The first number is random: a program of JAX's persistent cache has a number of another process,
# which must not be that of a function of this process.
_numbers = itertools.count(secrets.randbits(40) << 20)


class _Callback:
    """A Python function as programs call it. JAX's executable keeps it alive."""

    def __init__(
        self,
        function: Callable[..., Any],
        results: Sequence[Any],
        has_token: bool,
        canonical: Callable[[Any], Any],
    ) -> None:
        self.function, self.results, self.has_token, self.canonical = (
            function,
            tuple(results),
            has_token,
            canonical,
        )
        self.operands: Sequence[
            Sharding
        ] = ()  # the shardings, if each of several devices calls with its part
        self.devices, self.is_partitioned = 1, False

    def __call__(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        given = [np.array(v) for v in (operands[1:] if self.has_token else operands)]
        if self.operands:
            for device in range(self.devices):
                parts = [
                    v[s.part(v.shape, device)].copy()
                    for v, s in zip(given, self.operands, strict=True)
                ]
                self.function(*parts)
            return (operands[0],) if self.has_token else ()
        answers = [np.asarray(v) for v in self.function(*given)]
        made = tuple(
            [
                v if v.dtype == r.dtype else self.canonical(v)
                for v, r in zip(answers, self.results, strict=True)
            ]
        )
        for k, (value, wanted) in enumerate(zip(made, self.results, strict=True)):
            if value.shape != wanted.shape or value.dtype != wanted.dtype:
                raise PjrtError(
                    "invalid",
                    f"result {k} of a callback must be {wanted.str_short()}, got "
                    f"{value.dtype}{list(value.shape)}",
                    "make the callback return arrays of its result_shape_dtypes",
                )
        return (operands[0], *made) if self.has_token else made


class BufferView(np.ndarray[Any, Any]):
    """An array that `jax.experimental.buffer_callback` passes to its function."""

    @property
    def writeable(self) -> bool:
        """True for a result, or an argument that a result aliases."""
        return self.flags.writeable


class BufferContext:
    """Context that `jax.experimental.buffer_callback` passes to its function.

    error: the class of JAX's error for a stream on a CPU.
    """

    def __init__(self, stage: Any, error: type[Exception]) -> None:
        self.stage, self._error = stage, error

    @property
    def stream(self) -> int:
        """Not available, since the devices are the host; raises JAX's error."""
        raise self._error(
            "XLA FFI GPU context is not available: a stream is that of a GPU; write into the arrays"
        )


def added(
    function: Callable[..., Any],
    results: Sequence[Any],
    has_token: bool,
    canonical: Callable[[Any], Any],
    is_partitioned: bool = False,
) -> tuple[np.uint64, _Callback]:
    """Register a function; return its number, and an object to keep as long as it may be called.

    has_token: a token is the first operand and the first result. canonical: converts a result to
    JAX's types, such as int64 to int32 without x64. is_partitioned: in a program for several
    devices, each device calls for itself.
    """
    call = _Callback(function, results, has_token, canonical)
    call.is_partitioned = is_partitioned
    number = next(_numbers)
    _functions[number] = call
    return np.uint64(number), call


def call_on_parts(number: int, operands: Sequence[Sharding], devices: int) -> None:
    """Let each device call a function with its part of the operands, as XLA does.

    Such functions have no results.
    """
    call = _functions.get(number)
    if call is not None and call.is_partitioned:
        call.operands, call.devices = tuple(operands), devices


@evaluates_custom_call(CALLBACK)
def _run_callback(i: Any, operands: Sequence[Any], evaluator: Any) -> Any:
    found = re.search(r"number\s*=\s*(\d+)", str(i.attributes.get("backend_config") or ""))
    function = _functions.get(int(found.group(1))) if found else None
    if function is None:
        raise PjrtError(
            "precondition",
            f"the Python function that %{i.name} calls no longer exists",
            "trace it again: callbacks live in the process that traced them",
        )
    results = function(operands)
    return tuple(results) if i.shape.is_tuple else results[0]
