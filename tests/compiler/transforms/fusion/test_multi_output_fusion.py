"""Multi-output fusion: loops over the same indices become one."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo


def merged(
    *lines: str, journal: Journal | None = None, before: str = "", **options: object
) -> tuple[HloModule, str]:
    text = "HloModule m\n" + before + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"
    module = parse_hlo(text)
    for name in ("fusion", "fusion-wrapper", "multi-output-fusion"):
        make_pass(name, **({"min_bytes": 64, **options} if name[0] == "m" else {})).run(
            module, PassContext(journal)
        )
    return module, text


def fusions(module: HloModule) -> list[int]:
    """Return the number of results of each fusion."""
    return sorted(
        max(1, len(i.shape.tuple_shapes))
        for i in module.entry.instructions.values()
        if i.opcode.name == "fusion"
    )


def check(module: HloModule, text: str) -> None:
    generator = np.random.default_rng(0)
    arguments = [
        generator.standard_normal(s.dimensions).astype(np.float32)
        for s in module.parameter_shapes()
    ]
    for version in (module, parse_hlo(module.to_text())):
        for a, b in zip(
            flatten_value(evaluate(parse_hlo(text), *arguments)),
            flatten_value(evaluate(version, *arguments)),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)


def test_siblings_read_their_operand_once() -> None:
    module, text = merged(
        "x = f32[65536] parameter(0)",
        "a = f32[65536] tanh(x)",
        "b = f32[65536] cosine(x)",
        "ROOT t = (f32[65536], f32[65536]) tuple(a, b)",
    )
    assert fusions(module) == [2]
    check(module, text)


def test_what_only_the_cluster_reads_is_no_result() -> None:
    module, text = merged(
        "x = f32[65536] parameter(0)",
        "y = f32[65536] parameter(1)",
        "e = f32[65536] exponential(x)",
        "a = f32[65536] add(e, y)",
        "b = f32[65536] multiply(e, y)",
        "ROOT t = (f32[65536], f32[65536]) tuple(a, b)",
    )
    assert fusions(module) == [2]
    inner = [i.opcode.name for c in module.fusion_computations() for i in c.instructions.values()]
    assert inner.count("exponential") == 1
    check(module, text)


def test_no_cycle_through_something_in_between() -> None:
    journal = Journal("decisions")
    module, text = merged(
        "x = f32[64,64] parameter(0)",
        "a = f32[64,64] tanh(x)",
        "d = f32[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "b = f32[64,64] add(d, x)",
        "ROOT c = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        journal=journal,
    )
    assert fusions(module) == [1, 1]
    assert "would-create-cycle" in {e.reason.code for e in journal.events if e.reason}
    check(module, text)


def test_a_reader_at_other_indices_stays_apart() -> None:
    journal = Journal("decisions")
    module, text = merged(
        "x = f32[65536] parameter(0)",
        "e = f32[65536] exponential(x)",
        "r = f32[65536] reverse(e), dimensions={0}",
        "a = f32[65536] add(e, r)",
        "b = f32[65536] multiply(x, x)",
        "ROOT t = (f32[65536], f32[65536]) tuple(a, b)",
        journal=journal,
    )
    assert "reads-other-indices" in {
        e.reason.code for e in journal.events if e.reason and e.by == "multi-output-fusion"
    }
    check(module, text)


REDUCERS = """sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
"""
SIBLINGS = (
    "x = f32[64,256] parameter(0)", "zero = f32[] constant(0)", "low = f32[] constant(-inf)", "s = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum",
    "q = f32[64,256] multiply(x, x)", "t = f32[64] reduce(q, zero), dimensions={1}, to_apply=sum",
    "m = f32[64] reduce(x, low), dimensions={1}, to_apply=largest",
)  # fmt: skip


@pytest.mark.parametrize(("reductions", "kernels"), [(True, [3]), (False, [1, 1, 1])])
def test_reductions_of_one_array_read_it_once_where_they_merge(
    reductions: bool, kernels: list[int]
) -> None:
    module, text = merged(
        *SIBLINGS,
        "ROOT r = (f32[64], f32[64], f32[64]) tuple(s, t, m)",
        before=REDUCERS,
        reductions=reductions,
    )
    assert fusions(module) == kernels
    assert {
        i.attributes["kind"]
        for i in module.entry.instructions.values()
        if i.opcode.name == "fusion"
    } == {"kInput"}
    check(module, text)


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("o = f32[256] reduce(x, zero), dimensions={0}, to_apply=sum", "dimensions-differ"),
        ("o = f32[64,256] tanh(x)", "dimensions-differ"),
    ],
)
def test_reductions_of_other_indices_stay_apart(last: str, code: str) -> None:
    journal = Journal("decisions")
    shape = last.split()[2]
    lines = (*SIBLINGS[:4], last, f"ROOT r = (f32[64], {shape}) tuple(s, o)")
    module, text = merged(*lines, journal=journal, before=REDUCERS, reductions=True)
    assert fusions(module) == [1, 1]
    assert code in {
        e.reason.code for e in journal.events if e.reason and e.by == "multi-output-fusion"
    }
    check(module, text)


def test_a_reduction_that_needs_the_other_stays_apart() -> None:
    lines = (
        "b = f32[64,256] broadcast(s), dimensions={0}",
        "d = f32[64,256] subtract(x, b)",
        "v = f32[64] reduce(d, zero), dimensions={1}, to_apply=sum",
    )
    module, text = merged(
        *SIBLINGS[:4],
        *lines,
        "ROOT r = (f32[64], f32[64]) tuple(s, v)",
        before=REDUCERS,
        reductions=True,
    )
    assert fusions(module) == [1, 1]
    check(module, text)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_keep_their_values(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lines, names = ["v0 = f32[4,64] parameter(0)", "v1 = f32[4,64] parameter(1)"], ["v0", "v1"]
    for k in range(2, 40):
        a, b = (
            names[int(generator.integers(max(0, len(names) - 8), len(names)))] for _ in range(2)
        )
        kind = int(generator.integers(0, 5))
        if kind == 0:
            lines.append(f"v{k} = f32[4,64] reverse({a}), dimensions={{1}}")
        elif kind == 1:
            lines.append(f"v{k} = f32[4,64] exponential({a})")
            lines.append(f"w{k} = f32[4,64] tanh(v{k})")
        else:
            lines.append(f"v{k} = f32[4,64] {['add', 'subtract', 'maximum'][kind - 2]}({a}, {b})")
        names.append(f"v{k}")
    lines.append(f"ROOT t = ({', '.join(['f32[4,64]'] * 6)}) tuple({', '.join(names[-6:])})")
    module, text = merged(*lines)
    check(module, text)
