"""`xe.compare.fusions`: producer and consumer pairs that two compiles of one program fused.

An edge of the program is `fused` if one kernel computes both its ends. It is `memory` if the value
is stored and loaded between two kernels, and absent if a compiler rewrote it away. Edges are
matched by the names of their ends. Both compilers keep these names when they move an instruction
into a fusion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xla_explorer.compiler.pipeline import PassTrace
from xla_explorer.explorer.display import Blocks, Report, Table
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.compilation import Compilation, compile_as
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

FUSED, MEMORY, ABSENT = "fused", "memory", "-"
_CLONE = re.compile(r"(?:\.clone|\.remat)+(?:\.\d+)?(?:\.clone(?:\.\d+)?)*\Z")
_NO_WORK = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


Refusals = Mapping[tuple[str, str], tuple[str, str]]
"""(producer, consumer) -> (code, message)."""


class FusionEdge(NamedTuple):
    """One producer and one consumer.

    Attributes
    ----------
    left, right : str
        `fused`, `memory` or `-`.
    code, reason : str
        The reason of the refusal, if it was decided; of the left side if neither fused.
    bytes : int
        The size of the value that is written and read again without fusion.
    """

    producer: str
    consumer: str
    left: str
    right: str
    code: str
    reason: str
    bytes: int


class FusionComparison(Report):
    """The fusions of two compiles.

    Attributes
    ----------
    edges : list of FusionEdge
        The edges of either result, those that differ first.
    left, right : str
        The names of the two compiles.
    """

    def __init__(self, left: str, right: str, edges: list[FusionEdge]) -> None:
        self.left, self.right, self.edges = left, right, edges

    def records(self) -> Table:
        """Return a row for each edge: producer, consumer, left, right, code, reason, bytes."""
        return Table(FusionEdge._fields, self.edges)

    @property
    def counts(self) -> dict[tuple[str, str], int]:
        """The number of edges by (left, right)."""
        return dict(Counter([(e.left, e.right) for e in self.edges]))

    def blocks(self) -> Blocks:
        """Yield the edges that one of the two fused."""
        both = self.counts.get((FUSED, FUSED), 0)
        ours = sum([n for (a, b), n in self.counts.items() if a == FUSED != b])
        theirs = sum([n for (a, b), n in self.counts.items() if b == FUSED != a])
        title = (
            f"{both} edges fused by both, {ours} by {self.left} only, {theirs} by {self.right} only"
        )
        rows = [
            (f"%{e.producer}", f"%{e.consumer}", e.left, e.right, e.bytes, e.code, e.reason)
            for e in self.edges
            if e.left != e.right
        ]
        yield Table(
            ["producer", "consumer", self.left, self.right, "bytes", "code", "reason"],
            rows,
            title,
            printed=40,
        )


@explains_arguments
def compare_fusions(
    module: ModuleLike,
    backends: tuple[str, str] = ("cpu", "xla"),
    *,
    policies: tuple[str, str] | None = None,
) -> FusionComparison:
    """Compile a module on two backends and compare their fusions.

    Parameters
    ----------
    module
        Whatever `xe.compile` takes.
    backends
        Two names; `xla` is the real one (extra `jax`).
    policies
        Two fusion policies of the backend `cpu` instead of two backends: ("time", "xla") compares
        ours with that of XLA:CPU, without XLA.

    Returns
    -------
    FusionComparison
        The edges that at least one of the two fused, and the reasons of our refusals.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> str(xe.compare.fusions(text, policies=("time", "xla"))).splitlines()[0]
    '1 edges fused by both, 0 by time only, 0 by xla only'
    """
    source = as_module(module)
    if policies is not None:
        one, other = [compile_as(Compilation, source, fusion_policy=policy) for policy in policies]
        found = compare_fusions_of(one, other)
        return FusionComparison(policies[0], policies[1], found.edges)
    left, right = [compile_as(Compilation, source, backend=backend) for backend in backends]
    return compare_fusions_of(left, right)


def compare_fusions_of(left: Compilation, right: Compilation) -> FusionComparison:
    """Compare the fusions of two sessions."""
    names = (left.backend, right.backend) if left.backend != right.backend else ("left", "right")
    refusals = [refusals_of(session.passes.record) for session in (left, right)]
    return FusionComparison(names[0], names[1], compared_edges(left.module, right.module, refusals))


def compared_edges(
    left: HloModule, right: HloModule, refusals: Sequence[Refusals]
) -> list[FusionEdge]:
    """Return the edges of both modules, those that differ first.

    refusals: the reasons of the compilers, in the same order.
    """
    ours, theirs = fusion_edges(left), fusion_edges(right)
    edges = []
    for pair in dict.fromkeys([*ours, *theirs]):
        here, there = ours.get(pair), theirs.get(pair)
        kinds = [ABSENT if found is None else found[0] for found in (here, there)]
        side = next((number for number, kind in enumerate(kinds) if kind != FUSED), None)
        code, message = refusals[side].get(pair, ("", "")) if side is not None else ("", "")
        size = max([found[1] for found in (here, there) if found is not None])
        edges.append(FusionEdge(pair[0], pair[1], kinds[0], kinds[1], code, message, size))
    edges.sort(
        key=lambda e: (e.left == e.right, not (e.right == FUSED and e.left == MEMORY), -e.bytes)
    )
    return edges


def refusals_of(trace: PassTrace) -> Refusals:
    """Return the refused fusions; the consumer is the reader of the producer in the kernel."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for event in decision_events(trace):
        if event.reason is not None and len(event.names) == 2:
            producer, consumer = event.names
            for reader in (event.facts or {}).get("read_by", (consumer,)):
                found[original_name(producer), original_name(reader)] = (
                    event.reason.code,
                    event.reason.message,
                )
    return found


def original_name(name: str) -> str:
    """Return the name without the suffixes that compilers append to copies."""
    return _CLONE.sub("", name.lstrip("%"))


def fusion_edges(module: HloModule) -> dict[tuple[str, str], tuple[str, int]]:
    """Return (producer, consumer) -> (`fused` or `memory`, bytes) for a module's kernels."""
    found: dict[tuple[str, str], tuple[str, int]] = {}
    bodies = module.fusion_computations()
    applied = {
        c
        for i in module.instructions()
        if i.opcode.name not in ("fusion", "while", "conditional", "call")
        for c in i.called
    }
    for computation in module.computations.values():
        if computation in bodies or computation in applied:
            continue
        for i in computation.post_order():
            if i.opcode.name == "fusion":
                _inside(i, found)
                for number, operand in enumerate(i.operands):
                    for consumer in _readers(i, number):
                        _add(found, _computed(operand), consumer, MEMORY)
            elif i.opcode.name not in _NO_WORK:
                for operand in i.operands:
                    _add(found, _computed(operand), i, MEMORY)
    return found


def _inside(fusion: HloInstruction, found: dict[tuple[str, str], tuple[str, int]]) -> None:
    for i in fusion.called[0].post_order():
        if i.opcode.name == "fusion":
            _inside(i, found)
        for operand in i.operands:
            if i.opcode.name not in _NO_WORK:
                _add(found, operand, i, FUSED)


def _computed(operand: HloInstruction) -> HloInstruction:
    """Return the instruction that computes the value: the root of a fusion, or its element."""
    index = None
    while operand.opcode.name in ("get-tuple-element", "bitcast"):
        if operand.opcode.name == "get-tuple-element":
            index = operand.attributes.value("index")
        operand = operand.operands[0]
    while operand.opcode.name == "fusion":
        root = operand.called[0].root
        if root.opcode.name == "tuple" and index is not None and index < len(root.operands):
            root = root.operands[index]
        operand = root
    return operand


def _readers(fusion: HloInstruction, number: int) -> list[HloInstruction]:
    parameter = fusion.called[0].parameters()[number]
    return [
        reader
        for user in parameter.users
        for reader in (
            _readers(user, list(user.operands).index(parameter))
            if user.opcode.name == "fusion"
            else [user]
        )
    ]


def _add(
    found: dict[tuple[str, str], tuple[str, int]],
    producer: HloInstruction,
    consumer: HloInstruction,
    kind: str,
) -> None:
    if producer.opcode.name in _NO_WORK or consumer.opcode.name in _NO_WORK:
        return
    pair = original_name(producer.name), original_name(consumer.name)
    if (
        pair not in found or kind == MEMORY
    ):  # fused in one copy and stored by another: it does cross memory
        found[pair] = (kind, producer.shape.byte_size)
