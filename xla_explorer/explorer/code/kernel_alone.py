"""One kernel as a program of its own: the same instruction, its operands as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, compile_as
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def module_of_kernel(i: HloInstruction, with_constants: bool = False) -> HloModule:
    """Return a module that computes one instruction from its operands; names stay.

    with_constants: operands that are constants stay constants.
    """
    module = HloModule(i.name)
    copies: dict[HloComputation, HloComputation] = {}

    def copied(c: HloComputation) -> HloComputation:
        if c not in copies:
            inner = {
                called: copied(called) for one in c.instructions.values() for called in one.called
            }
            copies[c] = c.clone(module=module, replaced=inner)
        return copies[c]

    called = tuple([copied(c) for c in i.called])
    entry = module.add_computation(f"{i.name}_alone", entry=True)
    distinct = dict.fromkeys(i.operands)
    kept = [o for o in distinct if with_constants and o.opcode.name == "constant"]
    operands = {
        o: entry.add_parameter(k, o.shape, o.name)
        for k, o in enumerate([o for o in distinct if o not in kept])
    }
    operands |= {
        o: entry.add(o.opcode, o.shape, [], o.attributes, payload=o.payload, name=o.name)
        for o in kept
    }
    root = entry.add(
        i.opcode,
        i.shape,
        [operands[o] for o in i.operands],
        i.attributes,
        called=called,
        payload=i.payload,
        name=i.name,
    )
    entry.set_root(root)
    return module


def operands_of_kernel(i: HloInstruction, module: HloModule) -> tuple[Any, ...]:
    """Return random arguments of a kernel; constants stay as they are."""
    given = random_arguments(module)
    return tuple(
        [
            o.literal.array if o.opcode.name == "constant" else x
            for o, x in zip(dict.fromkeys(i.operands), given, strict=True)
        ]
    )


def compiled_alone(
    session: Compilation, module: HloModule, schedule: str | None = None
) -> Compilation:
    """Return the kernel compiled as in the session, by default or by a schedule's directives."""
    options = {**session.options.backend_options} if session.backend == "gpu" else {}
    options.pop("schedules", None)
    if schedule is not None:
        options["schedules"] = {module.entry.root.name: schedule}
    backend = session.backend if session.backend == "gpu" else "cpu"
    return compile_as(
        Compilation,
        module,
        backend,
        passes="none",
        journal="decisions",
        threads=session.options.threads,
        verify=False,
        isolate=session.isolation,
        **options,
    )


def same_bits(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return True if arrays are equal bit by bit."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(some, others, strict=True))
