"""XLA's fusions, of XLA:CPU's `fusion` and XLA:GPU's `priority-fusion`, producer by consumer."""

from __future__ import annotations

from collections.abc import Mapping

from xla_explorer.backends.xla.dumped_compile import FUSION_POLICIES
from xla_explorer.compiler.pipeline import optimize
from xla_explorer.explorer.comparisons.fusion_comparison import (
    FUSED,
    MEMORY,
    FusionEdge,
    original_name,
    refusals_of,
)
from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.explorer.xla.replay.correspondence import Correspondence, fused_edges
from xla_explorer.explorer.xla.replay.report import Replay, ReplayRow
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.frontends.xla_dump import FusionVerdict
from xla_explorer.hlo.instruction import HloInstruction

_NO_WORK = frozenset({"parameter", "constant", "tuple", "get-tuple-element"})
_CONTROL_FLOW = frozenset(
    {"while", "conditional", "call"}
)  # no kernels: nothing is fused with them


class ReplayedFusion(Replay):
    """The fusions that XLA made and refused, with reasons."""

    @property
    def edges(self) -> list[FusionEdge]:
        """The rows as edges: `left` is our policy, `right` is XLA."""
        return [
            FusionEdge(r.subject, r.consumer, r.ours, r.xla, r.code, r.reason, r.bytes)
            for r in self.rows
        ]

    @property
    def agreed(self) -> float:
        """The same as `agreement`."""
        return self.agreement

    def refused(self) -> list[FusionEdge]:
        """Return the edges that XLA left in memory, by bytes.

        Those on which the policy agrees have its reason.
        """
        return sorted(
            [edge for edge in self.edges if edge.right == MEMORY], key=lambda edge: -edge.bytes
        )

    def headline(self) -> str:
        """Return the number of fused edges, and the agreement."""
        fused = sum([row.xla == FUSED for row in self.rows])
        return (
            f"XLA fused {fused} of {len(self.rows)} edges (pass {self.step}); our replay of its "
            f"policy agrees in {self.agreement:.1%}"
        )

    def blocks(self) -> Blocks:
        """Yield the edges that XLA did not fuse."""
        rows = [
            (f"%{r.subject}", f"%{r.consumer}", r.bytes, r.why)
            for r in sorted(self.rows, key=lambda r: -r.bytes)
            if r.xla == MEMORY
        ]
        yield Table(
            ["producer", "consumer", "bytes", "reason"],
            rows,
            "in memory between two kernels",
            printed=20,
        )


def replayed_fusion(
    step: RecordedPass, makers: dict[str, str], verdicts: Mapping[str, FusionVerdict] | None = None
) -> ReplayedFusion:
    """Return the decisions of one of XLA's fusion passes.

    makers: fusion made before the pass -> the pass that made it. verdicts: instruction -> XLA's
    verdict on it as a producer.
    """
    before = step.before
    trace = optimize(before.clone(), FUSION_POLICIES[step.name])
    theirs, ours = [
        dict(_edges(Correspondence(before, after))) for after in (step.module, trace.module)
    ]
    refusals = refusals_of(trace)
    rows = []
    for pair, fused in theirs.items():
        producer, consumer = pair
        here, there = [FUSED if is_fused else MEMORY for is_fused in (ours.get(pair, False), fused)]
        code, message = "", "one kernel computes both" if here == there == FUSED else ""
        if here == MEMORY:
            refusal = refusals.get(
                (original_name(producer.name), original_name(consumer.name)), ("", "")
            )
            made = _made_before(producer, consumer, makers)
            code, message = (made.code, made.message) if made is not None else refusal
        verdict = (verdicts or {}).get(producer.name) if there == MEMORY else None
        words = verdict.sentence if verdict is not None else ""
        rows.append(ReplayRow(producer.name, consumer.name, here, there, here == there, code, message, producer.shape.byte_size,
                              (producer.id, consumer.id), words))  # fmt: skip
    return ReplayedFusion("fusion", rows, step.name, step.number, "edges")


def _edges(found: Correspondence) -> list[tuple[tuple[HloInstruction, HloInstruction], bool]]:
    none = _NO_WORK | _CONTROL_FLOW
    return [
        ((p, c), fused)
        for p, c, fused in fused_edges(found)
        if p.opcode.name not in none and c.opcode.name not in none
    ]


def _made_before(
    producer: HloInstruction, consumer: HloInstruction, makers: dict[str, str]
) -> Reason | None:
    """Return the reason if one end is an earlier fusion: nothing is fused with it."""
    for end in (producer, consumer):
        if end.opcode.name == "fusion":
            maker = makers.get(end.name, "an earlier pass")
            return refuse(
                "fused-before",
                f"%{end.name} was made before by {maker}: the replay fuses nothing with it",
                maker=maker,
            )
    return None
