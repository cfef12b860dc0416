"""XLA's own decisions, replayed: our pass with XLA's policy runs on the module that XLA's pass was given, and is held to what XLA made."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.explorer.comparisons.fusion_comparison import (
    ABSENT,
    FUSED,
    MEMORY,
    FusionEdge,
    compared_edges,
    original_name,
    refusals_of,
)
from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.sessions.passes import RecordedPass
from xla_explorer.hlo.module import HloModule

_CONTROL_FLOW = frozenset({"while", "conditional", "call"})  # no kernels: nothing is fused with them
_FUSION = "cpu-instruction-fusion{policy=xla}"


class ReplayedFusion(Report):
    """What XLA fused, what it did not, and why.

    Attributes
    ----------
    edges
        A FusionEdge for each producer and consumer: `left` is what our pass did by XLA's policy, `right` what XLA did, `code` and `message`
        why the policy refused, `bytes` what crosses memory where it did.
    agreed
        The share of edges for which both did the same.
    step
        The number of XLA's pass.
    """

    def __init__(self, edges: list[FusionEdge], step: int) -> None:
        self.edges, self.step = edges, step
        known = [edge for edge in edges if ABSENT not in (edge.left, edge.right)]
        self.agreed = sum(edge.left == edge.right for edge in known) / len(known) if known else 1.0

    def refused(self) -> list[FusionEdge]:
        """The edges that XLA left in memory, by bytes; those with the policy's reason where it agrees."""
        return sorted([edge for edge in self.edges if edge.right == MEMORY], key=lambda edge: -edge.bytes)

    def headline(self) -> str:
        """How many were fused, and how well the replay agrees."""
        fused = sum(edge.right == FUSED for edge in self.edges)
        return f"XLA fused {fused} of {len(self.edges)} edges (pass {self.step}); our replay of its policy agrees in {self.agreed:.1%}"

    def blocks(self) -> Blocks:
        """What XLA did not fuse."""
        rows = [(f"%{e.producer}", f"%{e.consumer}", e.bytes, _because(e)) for e in self.refused()]
        yield Table(["producer", "consumer", "bytes", "why not"], rows, "in memory between two kernels", printed=20)

    def records(self) -> Table:
        """A row an edge."""
        return Table(["producer", "consumer", "policy", "xla", "code", "message", "bytes"], self.edges)


def _because(edge: FusionEdge) -> str:
    if edge.left == FUSED:
        return "unknown: XLA's policy, as we replay it, fuses them"
    return edge.message or "unknown: the policy was not asked"


def replay_fusion(session: Compilation) -> ReplayedFusion:
    """Say of each producer and consumer whether XLA fused them, and why not: by our policy `xla`, on the module that XLA's pass was given.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump with every pass.

    Returns
    -------
    ReplayedFusion
        Each edge with what both did, and the reason of each refusal.

    Raises
    ------
    NotThereError
        XLA's dump has no pass `fusion`: it changed nothing, or the dump has not every pass.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile(xe.example("attention"), backend="xla")  # doctest: +SKIP
    >>> xe.xla.replay_fusion(session).agreed  # doctest: +SKIP
    1.0
    """
    step = next(_fusions(session), None)
    if step is None or step.before is None:
        hint = "dump with --xla_dump_hlo_pass_re=.*; a pass that changed nothing is left out"
        raise NotThereError("XLA's fusion pass is not in the dump", hint)
    trace = optimize(step.before.clone(), _FUSION)
    edges = compared_edges(trace.module, step.module, [refusals_of(trace), {}])
    earlier = _earlier_fusions(step.before, _makers(session, step))
    control = {original_name(i.name) for i in step.module.instructions() if i.opcode.name in _CONTROL_FLOW}
    kept = [edge for edge in edges if edge.producer not in control and edge.consumer not in control]
    return ReplayedFusion([_with_reason(edge, earlier) for edge in kept], step.number)


def _makers(session: Compilation, until: RecordedPass) -> dict[str, str]:
    """Name of a fusion -> the pass that made it, of those before XLA's pass `fusion`."""
    found: dict[str, str] = {}
    for step in session.passes[1 : until.number]:
        for record in step.snapshot.records():
            if record.opcode.name == "fusion":
                found.setdefault(record.name, step.name)
    return found


def _earlier_fusions(module: HloModule, makers: dict[str, str]) -> dict[str, str]:
    """Name of an instruction inside a fusion that was there before -> why nothing is fused with it."""
    found: dict[str, str] = {}
    for fusion in module.instructions():
        if fusion.opcode.name == "fusion":
            maker = makers.get(fusion.name, "an earlier pass")
            why = f"is computed by %{fusion.name}, which {maker} made before: the pass fuses nothing into it"
            found.update({original_name(i.name): f"%{i.name} {why}" for i in fusion.called[0].instructions.values()})
    return found


def _with_reason(edge: FusionEdge, earlier: dict[str, str]) -> FusionEdge:
    """The edge, with a reason where the policy was not asked because one end stood in a fusion already."""
    if edge.message or edge.right != MEMORY or edge.left == FUSED:
        return edge
    why = earlier.get(edge.producer) or earlier.get(edge.consumer)
    return edge._replace(code="fused-before", message=why) if why else edge


def _fusions(session: Compilation) -> Iterator[RecordedPass]:
    return (step for step in session.passes if step.name == "fusion")
