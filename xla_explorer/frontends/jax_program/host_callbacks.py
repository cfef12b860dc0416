"""Python functions called by JAX programs: `jax.pure_callback`, `io_callback`, `debug.print`.

JAX's lowering numbers the functions of a module and passes them to its compiler. A call in our
modules holds a number that is valid in the whole process. JAX orders effects by tokens that enter
and leave the program; our programs begin with a token of their own.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.evaluator import EvaluationError, evaluates_custom_call
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import TOKEN
from xla_explorer.hlo.shape import Shape, tuple_shape

_JAXS_TARGET = re.compile(r'"?xla_ffi(_partitioned)?_python_cpu_callback"?')
_TARGET = "xla_explorer_host_callback"
_NUMBER = re.compile(r"(\w+)\s*=\s*(\d+)")
_MODULES_KEPT = (
    256  # of those that nobody can be seen to hold, how many of the newest keep their functions
)


class HostCallback:
    """A Python function from operands to a sequence of results; ordered ones have a token first."""

    def __init__(self, function: Callable[..., Sequence[Any]]) -> None:
        self.function = function


_numbers = itertools.count()
_callbacks: weakref.WeakValueDictionary[int, HostCallback] = weakref.WeakValueDictionary()
_kept: deque[tuple[HostCallback, ...]] = deque(maxlen=_MODULES_KEPT)


def keep(callbacks: tuple[HostCallback, ...]) -> None:
    """Keep the functions of a module that is handed out by itself."""
    if callbacks:
        _kept.append(callbacks)


def bind_callbacks(
    module: HloModule, functions: Sequence[Callable[..., Any]]
) -> tuple[HostCallback, ...]:
    """Give each call of a Python function the function's number in this process.

    The functions can be called as long as the returned objects live.
    """
    made: dict[int, tuple[int, HostCallback]] = {}
    for i in list(module.instructions()):
        if i.opcode.name != "custom-call" or not _JAXS_TARGET.fullmatch(
            str(i.attributes.get("custom_call_target"))
        ):
            continue
        index = dict(_NUMBER.findall(str(i.attributes.get("backend_config") or ""))).get("index")
        if index is None or int(index) >= len(functions):
            continue
        if int(index) not in made:
            made[int(index)] = next(_numbers), HostCallback(functions[int(index)])
            _callbacks[made[int(index)][0]] = made[int(index)][1]
        config = f"{{number = {made[int(index)][0]} : ui64}}"
        i.parent.set_attributes(
            i, i.attributes.with_values(custom_call_target=f'"{_TARGET}"', backend_config=config)
        )
    return tuple([callback for _, callback in made.values()])


def has_callbacks(module: HloModule) -> bool:
    """Return True if a module calls Python functions of this process."""
    return any(custom_call_target(i) == _TARGET for i in module.instructions())


def _is_token(shape: Shape) -> bool:
    return not shape.is_tuple and shape.element_type is TOKEN


def start_with_own_tokens(module: HloModule) -> None:
    """Replace token parameters by `after-all`, and drop tokens from the result.

    JAX uses such tokens to order the effects of several programs.
    """
    entry = module.entry
    tokens = [p for p in entry.parameters() if _is_token(p.shape)]
    if not tokens:
        return
    for p in tokens:
        entry.replace(p, entry.add("after-all", p.shape, ()))
    rest = [p for p in entry.parameters() if not _is_token(p.shape)]
    for p in tokens:
        entry.remove(p)
    for number, p in enumerate(rest):
        entry.set_payload(p, number)
    if entry.root.shape.is_tuple:
        root = entry.root
        parts = (
            root.operands
            if root.opcode.name == "tuple"
            else tuple(
                [
                    entry.add("get-tuple-element", shape, (root,), attributes_of({"index": k}))
                    for k, shape in enumerate(root.shape.tuple_shapes)
                ]
            )
        )
        parts = tuple([part for part in parts if not _is_token(part.shape)])
        entry.set_root(entry.add("tuple", tuple_shape([part.shape for part in parts]), parts))
    module.attributes.pop("entry_computation_layout", None)


@evaluates_custom_call(_TARGET)
def _call_back(i: HloInstruction, operands: Sequence[Any], evaluator: Any) -> Any:
    number = dict(_NUMBER.findall(str(i.attributes.get("backend_config") or ""))).get("number")
    callback = _callbacks.get(int(number)) if number is not None else None
    if callback is None:
        raise EvaluationError(
            f"the Python function that %{i.name} calls no longer exists",
            "trace it again: functions live as long as the xe.jit function that called them, and "
            "in its process",
        )
    # Copies: an operand's memory belongs to the program, which continues.
    made = tuple(
        callback.function(*[np.array(v) if isinstance(v, np.ndarray) else v for v in operands])
    )
    return made if i.shape.is_tuple else made[0]
