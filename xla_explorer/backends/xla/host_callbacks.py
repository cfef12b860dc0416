"""Removal of calls of the user's Python functions from a program for real XLA.

XLA's child process does not have the functions, and dies at such a call.
"""

from __future__ import annotations

import numpy as np

from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_TARGETS = frozenset(
    {
        "xla_explorer_host_callback",
        "xla_ffi_python_cpu_callback",
        "xla_ffi_partitioned_python_cpu_callback",
    }
)


class HostCallbackWarning(UserWarning):
    """A Python function of the program is not called on real XLA."""


def without_host_callbacks(module: HloModule) -> tuple[HloModule, tuple[str, ...]]:
    """Return the module without calls of host functions, and the names of calls that became zeros.

    A module without such calls is returned as it is, else a copy: a call without results is
    removed, one with results becomes zeros of their shapes, or an operand of the same shape: the
    operand's own computation then still runs. Only calls that surely run are named;
    one in a branch of a conditional may never run, such as a check of errors. A warning names each
    call.
    """
    if not any(is_host_callback(i) for i in module.instructions()):
        return module, ()
    copy = module.clone()
    zeroed, surely = [], _run_in_any_case(copy)
    for computation in list(copy.computations.values()):
        for i in [i for i in computation.instructions.values() if is_host_callback(i)]:
            has_results = any(leaf.is_array for _, leaf in i.shape.leaves())
            where = _place(module, i)
            instead = (
                "its results are zeros or its operands there" if has_results else "it is left out"
            )
            warn(
                f"{where} calls a Python function, which real XLA's process does not have: "
                f"{instead}",
                HostCallbackWarning,
            )
            if has_results and computation in surely:
                zeroed.append(i.name)
            computation.replace(i, _stand_in(computation, i.shape, i))
            computation.remove(i)
    return copy, tuple(zeroed)


def _run_in_any_case(module: HloModule) -> set[HloComputation]:
    """Return the computations that are reached from the entry without a branch of a conditional."""
    found, waiting = {module.entry}, [module.entry]
    while waiting:
        for i in waiting.pop().instructions.values():
            for called in i.called if i.opcode.name != "conditional" else ():
                if called not in found:
                    found.add(called)
                    waiting.append(called)
    return found


def _place(module: HloModule, i: HloInstruction) -> str:
    """Return the user's line that an instruction comes from, or its name."""
    said = i.op_metadata
    stack = (
        module.frames.stack(said.stack_frame_id)
        if module.frames is not None and said.stack_frame_id
        else []
    )
    file, line = next(
        ((file, line) for file, _, line in stack if file), (said.source_file, said.source_line)
    )
    return f"{file}:{line}" if file and line else f"%{i.name}"


def is_host_callback(i: HloInstruction) -> bool:
    """Return True for a call of a Python function of the user's process."""
    return custom_call_target(i) in _TARGETS


def _stand_in(computation: HloComputation, shape: Shape, call: HloInstruction) -> HloInstruction:
    """Make a value of a shape: an operand, or zeros; a token follows those that the call took."""
    if shape.is_tuple:
        return computation.add(
            "tuple", shape, [_stand_in(computation, part, call) for part in shape.tuple_shapes]
        )
    if shape.is_array:
        for operand in call.operands:
            if operand.shape == shape:
                return operand
        zero = computation.add_constant(
            literal_from_array(np.zeros((), shape.element_type.dtype), shape.with_dimensions(()))
        )
        return (
            zero
            if shape.is_scalar
            else computation.add("broadcast", shape, (zero,), attributes_of({"dimensions": ()}))
        )
    return computation.add(
        "after-all", shape, [o for o in call.operands if not (o.shape.is_array or o.shape.is_tuple)]
    )
