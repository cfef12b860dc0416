"""Programs of JAX beside Shardy's own dumps: rule, sharding, origin and edges of every operation.

The corpus is `spmd` beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.compiler.spmd.propagation.axis_lists import Axis
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowOperation, Port
from xla_explorer.compiler.spmd.propagation.report import sharding_report
from xla_explorer.compiler.spmd.propagation.steps import PropagationStep, axis_text
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.hlo.attributes.mesh import Mesh

DATA = SHARED / "spmd" / "programs"
RECORDS = sorted(path.name.removesuffix(".json.gz") for path in DATA.glob("*.shardy.json.gz"))
_HEAD = re.compile(r'\s*(%\S+?)(:\d+)? = "?([\w.]+)"?(.*)')
_NO_RULE = ("stablehlo.while", "sdy.manual_computation", "stablehlo.case")
_FOLDED = [
    "broadcast_in_dim",
    "reshape",
    "slice",
    "add",
    "multiply",
    "convert",
    "subtract",
    "compare",
    "select",
    "divide",
    "and",
    "or",
    "shift_right_logical",
    "shift_left",
    "remainder",
    "negate",
    "xor",
]
_STEP = re.compile(r"step-(\d+) = \[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_EDGE = re.compile(r'"(\w+)"(?::\((\d+)\)(\d+))? = (\S+) -> \[([^\]]*)\]')


def flat_lines(text: str) -> Iterator[str]:
    """Lines of a dump; operations with a combiner region are one line without it."""
    held, depth, in_reducer = "", 0, False
    for line in text.splitlines():
        opens = bool(re.search(r"\(\{\s*$", line))
        if held:
            depth += opens - bool(re.match(r"\s*\}\)", line))
            if depth == 0:
                yield held + line.strip()
                held = ""
        elif opens and "case" not in line:
            held, depth = line, 1
        elif in_reducer:
            in_reducer = not re.match(r"\s*\}", line)
        elif re.match(r"\s*reducer\(", line):
            in_reducer = True
        else:
            yield line


def closed_text(text: str, start: int) -> str:
    depth = 0
    for k in range(start, len(text)):
        depth += text[k] in "[{<("
        depth -= text[k] in "]}>)" and text[k - 1 : k + 1] != "->"
        if depth == 0:
            return text[start : k + 1]
    raise ValueError(text)


def attribute(line: str, name: str) -> str:
    found = re.search(re.escape(name) + r"[^\[{<]*([\[{<])", line)
    return closed_text(line, found.start(1)) if found else ""


def dumped_operations(text: str) -> Iterator[dict[str, Any]]:
    """Operations that are no constant expressions; Shardy merges equal constants at the end."""
    is_constant: dict[str, bool] = {}
    for line in flat_lines(text):
        head = _HEAD.match(line)
        if head is None:
            continue
        name, _, opcode, rest = head.groups()
        operands = re.findall(r"%[\w#]+", rest.split(" : ")[0].split("{sdy")[0])
        short = opcode.partition(".")[2]
        folds = (short in _FOLDED or opcode == "sdy.reshard") and opcode not in _NO_RULE
        constant = short in ("constant", "iota") or (
            folds and bool(operands) and all(is_constant.get(one, False) for one in operands)
        )
        is_constant[name] = constant
        types = re.findall(r"tensor<([^>]*)>", line)
        is_scalar = bool(types) and "x" not in types[-1]
        expands = short == "broadcast_in_dim" and "x" not in types[0]
        if opcode in _NO_RULE or short in ("constant", "iota"):
            continue
        if not (constant and not is_scalar) and not expands:
            yield parsed(line, opcode)


def parsed(line: str, opcode: str) -> dict[str, Any]:
    sharding = attribute(line, "sdy.sharding = #sdy.sharding_per_value<")
    if opcode == "sdy.reshard":
        sharding = attribute(line, "sdy.reshard")
    edges = set()
    for step, body in _STEP.findall(attribute(line, "sdy.propagation_edges = #sdy.propagation_ed")):
        for axis, before, size, source, targets in _EDGE.findall(body):
            whole = axis + (f":({before}){size}" if before else "")
            edges |= {(int(step), whole, source, target) for target in targets.split(", ")}
    return {
        "opcode": opcode,
        "rule": attribute(line, "sdy.sharding_rule = #sdy.op_sharding_rule")[1:-1],
        "sharding": re.findall(r"<@mesh, \[.*?\]>", sharding),
        "origins": set(re.findall(r'"?([\w:()]+)"? = "([^"]+)"', attribute(line, "sdy.sharding_origins"))),
        "edges": edges,
    }  # fmt: skip


def axes_only(sharding: str) -> str:
    return sharding.partition(", replicated")[0].rstrip(">")


@pytest.mark.parametrize(
    "record", RECORDS or [pytest.param("none", marks=pytest.mark.skip("needs ../shared/spmd"))]
)
def test_every_operation_is_as_shardy_has_it(record: str) -> None:
    texts = json.loads(gzip.decompress((DATA / f"{record}.json.gz").read_bytes()))
    dump = next(text for key, text in texts["shardy"].items() if key.startswith("02"))
    report = sharding_report(xe.parse_hlo(texts["hlo_before"]))
    copies = {value for use in report.graph.copied for value in use.copies.values()}
    ours = [
        one
        for one in report.graph.operations
        if one.kind not in ("edge", "region")
        and one.instruction.opcode.name not in ("constant", "parameter")
        and not (one.results and one.results[0].value in copies)
    ]
    theirs = list(dumped_operations(dump))
    assert len(ours) == len(theirs)
    steps = defaultdict(list)
    for step in report.steps:
        steps[step.instruction, step.kind].append(step)
    for operation, dumped in zip(ours, theirs, strict=True):
        compare(
            operation, dumped, steps[operation.instruction.name, operation.kind], report.graph.mesh
        )


def compare(
    operation: FlowOperation,
    dumped: dict[str, Any],
    steps: list[PropagationStep],
    mesh: Mesh,
) -> None:
    sizes = dict(mesh.axes)
    where = (operation.instruction.name, dumped["opcode"])
    assert str(operation.rule or "") == dumped["rule"], where
    shown = [shown_sharding(port, mesh) for port in operation.results]
    empty = all(not re.search(r'"', one) for one in shown)
    if not (empty and not any('"' in one for one in dumped["sharding"])):
        assert shown == list(map(axes_only, dumped["sharding"])), where
    origins = {
        (axis_text(Axis(*axis), sizes), "self" if origin == operation.name else origin)
        for port in operation.results
        for axis, origin in port.value.origins.items()
    }
    assert origins == dumped["origins"], where
    assert {(one.step, one.axis, one.source, one.target) for one in steps} == dumped["edges"], where


def shown_sharding(port: Port, mesh: Mesh) -> str:
    sharding = port.value.sharding or ValueSharding.open_everywhere(len(port.value.sizes))
    return axes_only(str(sharding.named(mesh)))
