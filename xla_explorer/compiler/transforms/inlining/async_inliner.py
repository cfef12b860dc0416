"""Inlining of asynchronous computations, for targets without streams."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_users
from xla_explorer.compiler.transforms.inlining.call_inliner import CALL, inline_call, wanted_inline
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.foundation.measured import listed
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def chain_of(done: HloInstruction) -> list[HloInstruction]:
    """Return the done, its updates, and last the start."""
    chain = [done]
    while chain[-1].opcode.name in ("async-done", "async-update"):
        chain.append(chain[-1].operands[0])
    return chain


def _work(start: HloInstruction) -> list[HloInstruction]:
    inside = start.called[0].instructions.values() if start.called else ()
    return [i for i in inside if i.opcode.name not in ("parameter", "constant", "tuple")]


@value_formatter(
    lambda done: (
        f"chain {listed([i.name for i in chain_of(done)])}, users "
        f"{[len(i.users) for i in chain_of(done)[1:]]}"
    )
)
def one_chain(done: HloInstruction) -> Reason | None:
    """Require that only the next link reads each link of the chain."""
    *_, start = chain = chain_of(done)
    if start.opcode.name != "async-start":
        return refuse(
            "no-start",
            f"%{done.name} does not end an async-start: %{start.name} is a {start.opcode.name}",
            start=start.name,
        )
    shared = next((i for i in chain[1:] if len(i.users) != 1), None)
    if shared is not None:
        return refuse(
            "several-users",
            f"%{shared.name} is read by {len(shared.users)} instructions",
            users=len(shared.users),
        )
    if done.shape != start.called[0].root.shape:
        return refuse(
            "shape-differs",
            f"%{done.name} is {done.shape.text}, what was started gives "
            f"{start.called[0].root.shape.text}",
        )
    return None


@value_formatter(
    lambda done: f"{described(chain_of(done)[-1])}; operations {len(_work(chain_of(done)[-1]))}"
)
def several_operations(done: HloInstruction) -> Reason | None:
    """Require several operations that are not collectives: a single one runs on its own stream."""
    *_, start = chain_of(done)
    if start.opcode.name != "async-start":
        return None  # `one_chain` has the reason
    work = _work(start)
    if len(work) > 1:
        return None
    return refuse(
        "runs-on-own-stream",
        f"%{start.name} starts one operation, which runs on a stream of its own",
        operations=len(work),
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class AsyncInliner:
    """Inline asynchronous computations at their done.

    async-start, updates and done become the instructions of the computation. only_several: skip
    computations of one operation, for a target with streams, where one operation overlaps with the
    program.
    """

    name: ClassVar[str] = "async-inliner"
    kinds: ClassVar[tuple[str, ...]] = ("inlining",)
    only_several: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Inline, callees first."""
        changed = False
        checks = (
            (wanted_inline, several_operations, one_chain)
            if self.only_several
            else (wanted_inline, one_chain)
        )
        for computation in module.post_order_computations():
            for done in sorted(
                [i for i in computation.instructions.values() if i.opcode.name == "async-done"],
                key=lambda i: i.id,
            ):
                if context.decide("inlining", checks, (), done) is None:
                    _inline(done)
                    changed = True
        if changed:
            DeadCodeElimination().run(module, context)
        return changed


def _inline(done: HloInstruction) -> None:
    computation = done.parent
    *_, start = chain = chain_of(done)
    call = computation.add(
        CALL,
        done.shape,
        start.operands,
        NO_ATTRIBUTES,
        called=start.called,
        name=done.name,
        metadata=start.metadata,
    )
    before = dict.fromkeys([p for i in chain for p in i.control_predecessors if p not in chain])
    computation.set_control_predecessors(call, list(before))
    # An instruction after the start may have to come before the done. So it follows the start's
    # predecessors.
    for after in control_users(computation, done):
        computation.set_control_predecessors(
            after, [call if p is done else p for p in after.control_predecessors]
        )
    computation.replace(done, call)
    for i in chain:
        computation.remove(i)
    inline_call(call)
