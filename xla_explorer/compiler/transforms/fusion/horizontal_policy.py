"""Checks of small kernels that share a launch, one `KernelPair`, of loops or of reductions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, Protocol

from xla_explorer.compiler.decisions.formatters import control_edges
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target.launch_time import KernelEstimate
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.forbidden_pairs import forbidden_pairs, kept_apart
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, estimate_facts
from xla_explorer.compiler.transforms.fusion.merging import LoopCluster, is_read_only_by_elements
from xla_explorer.foundation.measured import at_most, equal, number
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.contracted_order import ContractedOrder
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import TUPLE


class HorizontalLimits(Protocol):
    """The options of the pass that its checks read."""

    @property
    def max_arrays(self) -> int:
        """Most arrays of a kernel."""
        ...

    @property
    def max_emitted(self) -> int:
        """Most instructions of a thread."""
        ...

    @property
    def max_elements(self) -> int:
        """Most elements of a kernel that shares a launch."""
        ...


class KernelPair(NamedTuple):
    """Two kernels, the first of a cluster, the second still alone.

    order: of the computation with its clusters contracted. pinned: instructions that another
    instruction must wait for.
    """

    first: HloInstruction
    second: HloInstruction
    mine: LoopCluster
    theirs: LoopCluster
    order: ContractedOrder
    pinned: Collection[HloInstruction]
    cost: GpuCostModel
    limits: HorizontalLimits
    control: PassControl

    @property
    def arrays(self) -> int:
        """The number of arrays that one kernel would read and write."""
        both = (*self.mine.members, *self.theirs.members)
        return len(self.mine.reads | self.theirs.reads) + sum([len(roots(m)) for m in both])

    @property
    def emitted(self) -> int:
        """The approximate number of LLVM instructions of one thread."""
        return self.mine.emitted + self.theirs.emitted

    def estimates(self) -> tuple[KernelEstimate, list[KernelEstimate]]:
        """Return the estimates of one kernel for both, and of both apart."""
        a, b = self.mine.members, self.theirs.members
        return self.cost.fusions([*a, *b]), [self.cost.fusions(a), self.cost.fusions(b)]

    def facts(self) -> dict[str, Any]:
        """Return the numbers of the decision."""
        together, apart = self.estimates()
        kernels = len(self.mine.members) + len(self.theirs.members)
        return {
            **estimate_facts("fused", [together]),
            **estimate_facts("unfused", apart),
            "kernels": kernels,
        }


def roots(fusion: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return the results of a fusion."""
    root = fusion.called[0].root
    return root.operands if root.opcode is TUPLE else (root,)


def elements_of_work(fusion: HloInstruction) -> int:
    """Return the elements of the largest result; for a reduction, of its operand."""
    return max(
        [
            (r.operands[0] if r.opcode is fusible.REDUCE else r).shape.element_count
            for r in roots(fusion)
        ]
    )


def why_no_loop(i: HloInstruction) -> Reason | None:
    """Return why a kernel is not a loop fusion without in-place updates, or None."""
    found = roots(i)
    if (
        i.attributes.get("kind") != "kLoop"
        or not is_read_only_by_elements(i)
        or any(
            r.opcode is fusible.DYNAMIC_UPDATE_SLICE
            or r.opcode not in fusible.PRODUCERS
            or not r.shape.is_array
            for r in found
        )
    ):
        return refuse(
            "not-a-loop",
            f"%{i.name} ({found[0].opcode.name} at its root) does not share its launch",
        )
    return None


def why_no_reduce(i: HloInstruction) -> Reason | None:
    """Return why a kernel is not a reduction of arrays, or None."""
    if not is_read_only_by_elements(i) or any(
        r.opcode is not fusible.REDUCE or not r.shape.is_array for r in roots(i)
    ):
        return refuse(
            "not-a-reduce",
            f"%{i.name} ({roots(i)[0].opcode.name} at its root) is not a reduction of an array",
        )
    return None


def _kinds(pair: KernelPair) -> str:
    both = (pair.first, pair.second)
    return ", ".join(
        [
            f"%{i.name} is {i.attributes.get('kind')} with {roots(i)[0].opcode.name} at its root"
            for i in both
        ]
    )


def _reduced(pair: KernelPair) -> str:
    a, b = [roots(i)[0] for i in (pair.first, pair.second)]
    arrays = equal(
        "arrays", list(a.operands[0].shape.dimensions), list(b.operands[0].shape.dimensions)
    )
    return (
        f"{arrays}, "
        f"{equal('reduced dimensions', list(a.attribute('dimensions')), list(b.attribute('dimensions')))}"
    )


def _times(pair: KernelPair) -> str:
    together, apart = pair.estimates()
    return (
        f"one kernel {together.nanoseconds / 1e3:.4g} us, apart "
        f"{sum([k.nanoseconds for k in apart]) / 1e3:.4g} us"
    )


def _sizes(pair: KernelPair) -> str:
    return at_most(
        "elements",
        max(elements_of_work(pair.first), elements_of_work(pair.second)),
        pair.limits.max_elements,
    )


@value_formatter(_kinds)
def both_are_loops(pair: KernelPair) -> Reason | None:
    """Require two loop fusions without in-place updates."""
    return why_no_loop(pair.first) or why_no_loop(pair.second)


@value_formatter(_kinds)
def both_are_reduces(pair: KernelPair) -> Reason | None:
    """Require two reductions of one array."""
    return why_no_reduce(pair.first) or why_no_reduce(pair.second)


@value_formatter(_reduced)
def dimensions_agree(pair: KernelPair) -> Reason | None:
    """Require reductions of the same dimensions of arrays of the same dimensions."""
    a, b = roots(pair.first)[0], roots(pair.second)[0]
    if a.operands[0].shape.dimensions != b.operands[0].shape.dimensions or a.attribute(
        "dimensions"
    ) != b.attribute("dimensions"):
        message = (
            f"%{pair.first.name} reduces {a.operands[0].shape}, %{pair.second.name} "
            f"{b.operands[0].shape}"
        )
        return refuse("dimensions-differ", message)
    return None


@value_formatter(lambda pair: control_edges((pair.first, pair.second), pair.pinned))
def both_are_free_to_move(pair: KernelPair) -> Reason | None:
    """Require no control dependencies."""
    for i in (pair.first, pair.second):
        if i.control_predecessors or i in pair.pinned:
            return refuse("control-dependency", f"%{i.name} has control dependencies")
    return None


@value_formatter(
    lambda pair: (
        f"kernels of the cluster {len(pair.mine.members)}, operands of %{pair.second.name} "
        f"{len(pair.second.operands)}"
    )
)
def neither_reads_the_other(pair: KernelPair) -> Reason | None:
    """Require that neither reads the other's result; a path through others would be a cycle."""
    for a in pair.mine.members:
        if pair.second in a.operands or a in pair.second.operands:
            return refuse(
                "depends-on-the-other",
                f"%{a.name} and %{pair.second.name} run one after the other",
                other=a.name,
            )
    return None


@value_formatter(lambda pair: at_most("arrays", pair.arrays, pair.limits.max_arrays))
def arrays_within_limit(pair: KernelPair) -> Reason | None:
    """Require a limited number of arrays."""
    count, limit = pair.arrays, pair.limits.max_arrays
    if count > limit:
        return refuse(
            "too-many-arrays",
            f"together they would touch {count} arrays (limit {limit})",
            arrays=count,
        )
    return None


@value_formatter(
    lambda pair: at_most("instructions a thread", pair.emitted, pair.limits.max_emitted)
)
def code_within_limit(pair: KernelPair) -> Reason | None:
    """Require short code of a thread."""
    size, limit = pair.emitted, pair.limits.max_emitted
    if size > limit:
        return refuse(
            "fused-computation-too-large",
            f"together about {size} instructions a thread (limit {limit})",
            instructions=size,
        )
    return None


@value_formatter(lambda pair: pair.order.between(pair.first, pair.second))
def creates_no_cycle(pair: KernelPair) -> Reason | None:
    """Require no path from one to the other through other instructions."""
    return pair.order.why_not_join(pair.first, pair.second)


@value_formatter(lambda pair: forbidden_pairs(pair.control))
def user_allows_it(pair: KernelPair) -> Reason | None:
    """Require no override that keeps instructions of both in different kernels."""
    return kept_apart(pair.control, pair.mine.members, pair.theirs.members)


@value_formatter(_sizes)
def small_enough_to_share(pair: KernelPair) -> Reason | None:
    """Require two small kernels."""
    limit = pair.limits.max_elements
    for i in (pair.first, pair.second):
        count = elements_of_work(i)
        if count > limit:
            message = (
                f"%{i.name} has {number(count)} elements (kernels of up to {number(limit)} share "
                "a launch)"
            )
            return refuse("too-large-to-share", message, elements=count, limit=limit)
    return None


@value_formatter(_times)
def faster_when_fused(pair: KernelPair) -> Reason | None:
    """Require a lower estimate for one launch."""
    together, apart = pair.estimates()
    saved = sum([k.nanoseconds for k in apart]) - together.nanoseconds
    if saved <= 0:
        return refuse(
            "slower-when-fused",
            f"%{pair.first.name} and %{pair.second.name} take {-saved / 1e3:.3g} us more in one "
            "kernel",
            **estimate_facts("fused", [together]),
            **estimate_facts("unfused", apart),
        )
    return None


_ANY_KIND: tuple[Predicate, ...] = (
    both_are_free_to_move,
    neither_reads_the_other,
    arrays_within_limit,
    code_within_limit,
    creates_no_cycle,
    user_allows_it,
)
OF_LOOPS: tuple[Predicate, ...] = (both_are_loops, *_ANY_KIND)
OF_REDUCES: tuple[Predicate, ...] = (both_are_reduces, dimensions_agree, *_ANY_KIND)
PROFITABILITY: tuple[Predicate, ...] = (small_enough_to_share, faster_when_fused)
