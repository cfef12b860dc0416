"""The matrix opcode x facet.

A hole that is not declared here with its reason fails: it is the checklist for adding an opcode.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.dispatch import KERNEL_ROWS, has_own_writer
from xla_explorer.compiler.codegen.elemental.registry import elemental_opcodes
from xla_explorer.compiler.spmd.rules import opcodes_with_rules
from xla_explorer.hlo.analysis.indexing import mapped_opcodes
from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.builder.opcode_methods import method_name
from xla_explorer.hlo.evaluator import supported_opcodes
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.verifier import constraints_of

STATED = "the result shape is what is asked for: operands and attributes do not determine it, so it is always stated"
RENAMES = "only names memory that is there already: there is nothing to emit"
HOST = "the host program does it: native control flow, a call of a kernel, or a copy"
ONE_DEVICE = "collectives and transfers run on the evaluator in this version: one device"
LATER = "no native kernel in this version: the cpu backend records opcode-not-emitted and the evaluator runs it"
NAMED = "it names arrays, groups them or asks for their size"
CALLS = "its elements are those of a computation that it calls: ask there"
BY_VALUE = "which elements it reads depends on what they are, or on all of them"
PLACES_ELEMENTS = "it says where elements go, not where they come from"
OF_DEVICES = "its elements come from other devices, the host or a copy that is under way"
RANDOM = "its elements come from a state, not from an array"
STATISTICS = "it is expanded into reductions and elementwise operations, which have maps"
BY_SIZES = "the map depends on sizes known at run time"
DYNAMIC = "dynamic sizes have no native code in this version: the evaluator runs it"

OVER_DEVICES = (
    "all-gather", "all-gather-start", "all-gather-done", "all-reduce", "all-reduce-start", "all-reduce-done", "reduce-scatter",
    "all-to-all", "ragged-all-to-all", "collective-permute", "collective-permute-start", "collective-permute-done",
    "collective-broadcast", "collective-reduce", "replica-id", "partition-id", "infeed", "outfeed", "send", "send-done", "recv",
    "recv-done", "async-start", "async-update", "async-done", "copy-start", "copy-done",
)  # fmt: skip
HOLES: dict[str, dict[str, tuple[str, ...]]] = {
    "shape rule": {
        STATED: (
            "parameter",
            "constant",
            "convert",
            "stochastic-convert",
            "iota",
            "broadcast",
            "reshape",
            "dynamic-reshape",
            "bitcast",
            "bitcast-convert",
            "infeed",
            "recv",
            "rng",
            "rng-bit-generator",
            "rng-get-and-update-state",
            "custom-call",
        ),
        "the shape depends on the number of replicas, which the module does not say": (
            "all-gather",
            "all-gather-start",
            "reduce-scatter",
        ),
        "the shape holds contexts that the backend chooses": (
            "collective-permute-start",
            "async-start",
        ),
        "the result type may be any float type: it is stated": ("scaled-dot",),
    },
    "constraints": {},
    "builder": {},
    "evaluator": {},
    "index map": {
        NAMED: ("parameter", "tuple", "get-tuple-element", "after-all", "get-dimension-size"),
        CALLS: ("call", "fusion", "while", "conditional", "custom-call"),
        BY_VALUE: ("sort", "topk", "fft", "cholesky", "triangular-solve", "scan"),
        PLACES_ELEMENTS: ("scatter", "select-and-scatter"),
        OF_DEVICES: OVER_DEVICES,
        RANDOM: ("rng", "rng-bit-generator", "rng-get-and-update-state"),
        STATISTICS: ("batch-norm-training", "batch-norm-inference", "batch-norm-grad"),
        BY_SIZES: ("dynamic-reshape", "set-dimension-size", "ragged-dot"),
        "blocks of the operands share scales: it is expanded into a dot, which has a map": (
            "scaled-dot",
        ),
    },
    "emitter": {
        RENAMES: ("parameter", "constant", "tuple", "get-tuple-element", "after-all"),
        HOST: ("while", "conditional", "call", "fusion"),
        ONE_DEVICE: OVER_DEVICES,
        DYNAMIC: ("dynamic-reshape", "set-dimension-size", "ragged-dot"),
        LATER: (
            "atan",
            "stochastic-convert",
            "scaled-dot",
            "cholesky",
            "triangular-solve",
            "scan",
            "batch-norm-training",
            "batch-norm-inference",
            "batch-norm-grad",
            "rng",
        ),
    },
    "sharding rule": {
        "sharding propagation passes through it by name: values, data-flow edges, inlined calls": (
            "parameter",
            "tuple",
            "get-tuple-element",
            "while",
            "conditional",
            "call",
            "opt-barrier",
        ),
        "it has no operand whose sharding it could pass on": (
            "constant",
            "iota",
            "rng",
            "replica-id",
            "partition-id",
            "infeed",
            "recv",
            "recv-done",
            "rng-get-and-update-state",
            "after-all",
        ),
        "it is expanded into operations with rules, or made by passes after the partitioner": (
            "batch-norm-training",
            "batch-norm-grad",
            "fusion",
            "copy-start",
            "copy-done",
            "async-start",
            "async-update",
            "async-done",
            "all-gather-start",
            "all-gather-done",
            "all-reduce-start",
            "all-reduce-done",
            "collective-permute-start",
            "collective-permute-done",
            "scaled-dot",
            "ragged-dot",
        ),
        "XLA passes no sharding through it": (
            "add-dependency",
            "dynamic-reshape",
            "get-dimension-size",
            "set-dimension-size",
            "map",
            "scan",
            "ragged-all-to-all",
            "collective-reduce",
            "outfeed",
            "send",
            "send-done",
        ),
    },
}
# Others may fill these at any time; they are neither required nor forbidden.
MAY_BE_EMITTED = frozenset({"topk", "copy"})


def _have() -> dict[str, set[str]]:
    rows = OPCODES
    return {
        "shape rule": {name for name, row in rows.items() if row.shape_rule is not None},
        "constraints": {name for name, row in rows.items() if constraints_of(row)},
        "builder": {name for name in rows if hasattr(HloBuilder, method_name(name))},
        "evaluator": set(supported_opcodes()),
        "index map": set(mapped_opcodes()),
        "emitter": set(elemental_opcodes()) | set(filter(has_own_writer, KERNEL_ROWS)),
        "sharding rule": set(opcodes_with_rules()),
    }


def matrix() -> str:
    """Return the matrix as text: `x` present, `.` a declared hole, `?` an undeclared one."""
    have, declared = _have(), _declared()
    lines = ["opcode".ljust(28) + "  ".join(have)]
    for name in OPCODES:
        marks = [
            "x" if name in have[facet] else "." if name in declared[facet] else "?"
            for facet in have
        ]
        lines.append(
            name.ljust(28)
            + "  ".join([mark.ljust(len(facet)) for mark, facet in zip(marks, have, strict=True)])
        )
    return "\n".join(lines)


def _declared() -> dict[str, set[str]]:
    return {
        facet: {name for names in reasons.values() for name in names}
        for facet, reasons in HOLES.items()
    }


def test_every_hole_is_declared_with_its_reason() -> None:
    have, declared = _have(), _declared()
    undeclared = [
        f"{name} has no {facet}"
        for facet, there in have.items()
        for name in OPCODES
        if name not in there and name not in declared[facet] and name not in MAY_BE_EMITTED
    ]
    assert not undeclared, "\n".join([*undeclared, "", matrix()])


def test_no_declared_hole_is_filled() -> None:
    have, declared = _have(), _declared()
    stale = [
        f"{name} has its {facet} now: take it off the list of holes"
        for facet in have
        for name in declared[facet] & have[facet]
    ]
    assert not stale, "\n".join(sorted(stale))


def test_declared_names_are_opcodes() -> None:
    for facet, names in _declared().items():
        assert names <= set(OPCODES), (facet, names - set(OPCODES))


def test_rows_say_what_they_are() -> None:
    for name, row in OPCODES.items():
        assert row.name == name and row.summary.strip() and row.source.strip(), name
