"""Checks of a product's epilogue, one `EpilogueCandidate`, for the passes of CPUs and GPUs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from xla_explorer.compiler.decisions.formatters import control_edges, described
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.foundation.measured import listed
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction

IN_MEMORY = frozenset({
    "parameter", "constant", "get-tuple-element", "dot", "convolution", "while", "conditional", "call", "reduce", "scatter", "sort",
    "fusion",
})  # fmt: skip


class EpilogueCandidate(NamedTuple):
    """A product and the chain of operations on its tiles.

    inside: the product, then the chain; members: `inside` and other operands without memory of
    their own, users first. pinned: instructions that another instruction must wait for. target: the
    CPU; None if tiles do not depend on it.
    """

    inside: tuple[HloInstruction, ...]
    members: tuple[HloInstruction, ...]
    pinned: Collection[HloInstruction]
    control: PassControl
    target: Target | None = None

    @property
    def dot(self) -> HloInstruction:
        """The product."""
        return self.inside[0]

    @property
    def end(self) -> HloInstruction:
        """The last of the chain, whose result the kernel stores."""
        return self.inside[-1]

    @property
    def others(self) -> list[HloInstruction]:
        """The other operands of the epilogue, in memory or constants in the code."""
        read = [o for i in self.inside[1:] for o in i.operands if o not in self.inside]
        return [o.operands[0] if o.opcode is fusible.BROADCAST else o for o in read]

    def facts(self) -> dict[str, Any]:
        """Return the numbers of the decision."""
        chain = self.inside[1:]
        return {
            "bytes_saved": 2 * self.dot.shape.byte_size,
            "operations": len(chain),
            "computes": [i.opcode.name for i in chain],
        }

    def name(self) -> str:
        """Return a name such as `dot_add_tanh_fusion`."""
        words = [self.dot.opcode.name, *[i.opcode.name.replace("-", "_") for i in self.inside[1:4]]]
        return "_".join(words) + "_fusion"


@value_formatter(lambda candidate: control_edges(candidate.inside, candidate.pinned))
def chain_is_free_to_move(candidate: EpilogueCandidate) -> Reason | None:
    """Require no control dependencies."""
    for i in candidate.inside:
        if i.control_predecessors or i in candidate.pinned:
            return refuse("control-dependency", f"%{i.name} has control dependencies")
    return None


@value_formatter(lambda candidate: forbidden_pairs(candidate.control))
def user_allows_it(candidate: EpilogueCandidate) -> Reason | None:
    """Require no override that keeps the product and the chain in different kernels."""
    return (
        kept_apart(candidate.control, (candidate.dot,), candidate.members)
        if candidate.control.forbid
        else None
    )


@value_formatter(
    lambda candidate: (
        f"readers of %{candidate.end.name}: {listed([u.name for u in candidate.end.users])}"
    )
)
def result_is_stored_anyway(candidate: EpilogueCandidate) -> Reason | None:
    """Require a reader of the result that is not a loop."""
    end = candidate.end
    if is_stored(end):
        return None
    return refuse(
        "result-never-stored",
        f"%{end.name} is never stored: each of its readers computes it in its own loop; "
        "return it, or force the epilogue, to store it once",
    )


@value_formatter(
    lambda candidate: (
        "; ".join([described(i) for i in candidate.others[:4]]) or "reads nothing else"
    )
)
def stores_nothing_more(candidate: EpilogueCandidate) -> Reason | None:
    """Require other operands that are in memory already, or scalar constants."""
    for i in candidate.others:
        if i.opcode.name not in IN_MEMORY and not fusible.is_small_constant(i) and not is_stored(i):
            return refuse(
                "computed-in-a-loop",
                f"%{i.name} ({i.opcode.name}) would be stored for the kernel of "
                f"%{candidate.dot.name}",
            )
    return None


def is_stored(i: HloInstruction) -> bool:
    """Return True if a reader is not a loop, so that the value is in memory in any case."""
    if i.is_root:
        return True
    for user in i.users:
        if user.opcode in fusible.BYTE_PRESERVING:
            if is_stored(user):
                return True
        elif user.opcode not in fusible.CONSUMERS:
            return True
    return False
