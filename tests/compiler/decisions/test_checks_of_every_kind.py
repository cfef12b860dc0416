"""Every kind of decision of the passes: each check has a name, a value and its source line."""

from __future__ import annotations

import pathlib
import re

import pytest

import xla_explorer
import xla_explorer as xe
from tests.compiler.decisions.programs import COMPILES, MANY
from xla_explorer.compiler.decisions.kinds import KINDS, KINDS_OF_CODE, RULE
from xla_explorer.compiler.pipeline.explaining import decided_again
from xla_explorer.compiler.pipeline.optimize import optimize

LOOP = """HloModule loop
body { t = (s32[], f32[64], f32[64]) parameter(0)
 i = s32[] get-tuple-element(t), index=0
 v = f32[64] get-tuple-element(t), index=1
 same = f32[64] get-tuple-element(t), index=2
 k = s32[] constant(1)
 j = s32[] add(i, k)
 si = f32[64] sine(same)
 w = f32[64] add(v, si)
 ROOT o = (s32[], f32[64], f32[64]) tuple(j, w, same) }
condition { t2 = (s32[], f32[64], f32[64]) parameter(0)
 i2 = s32[] get-tuple-element(t2), index=0
 n = s32[] constant(TIMES)
 ROOT lt = pred[] compare(i2, n), direction=LT }
ENTRY e { x = f32[64] parameter(0)
 zero = s32[] constant(0)
 start = (s32[], f32[64], f32[64]) tuple(zero, x, x)
 loop = (s32[], f32[64], f32[64]) while(start), condition=condition, body=body
 ROOT end = f32[64] get-tuple-element(loop), index=1 }
"""
BRANCHES = """HloModule branches
on { p = f32[8] parameter(0)
 ROOT n = f32[8] negate(p) }
off { q = f32[8] parameter(0)
 ROOT m = f32[8] add(q, q) }
ENTRY e { x = f32[8] parameter(0)
 c = pred[] SELECTOR
 ROOT r = f32[8] conditional(c, x, x), true_computation=on, false_computation=off }
"""
TWO_READERS = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] exponential(x)
  c = f32[64] add(b, a)
  ROOT d = f32[64] multiply(c, b)
}"""
ASYNC = """HloModule async
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[1024] parameter(0)
 start = f32[1024] all-reduce-start(x), to_apply=sum
 w = f32[1024] tanh(x)
 done = f32[1024] all-reduce-done(start)
 ROOT r = f32[1024] add(done, w) }
"""
REDUCES = """HloModule reduces
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
one { x = f32[64,64] parameter(0)
 z = f32[] constant(0)
 ROOT r = f32[64] reduce(x, z), dimensions={1}, to_apply=sum }
two { y = f32[64,64] parameter(0)
 z2 = f32[] constant(0)
 ROOT r2 = f32[64] reduce(y, z2), dimensions={1}, to_apply=sum }
ENTRY e { p = f32[64,64] parameter(0)
 q = f32[64,64] parameter(1)
 f = f32[64] fusion(p), kind=kInput, calls=one
 g = f32[64] fusion(q), kind=kInput, calls=two
 ROOT t = (f32[64], f32[64]) tuple(f, g) }
"""
SHARED_CALLEES = (
    "HloModule deep\n"
    + "".join(
        f"c{k} {{ p{k} = f32[] parameter(0)\n "
        + (
            f"a{k} = f32[] call(p{k}), to_apply=c{k - 1}\n b{k} = f32[] call(a{k}), to_apply=c{k - 1}\n ROOT r{k} = f32[] negate(b{k})"
            if k
            else "ROOT r0 = f32[] negate(p0)"
        )
        + " }\n"
        for k in range(30)
    )
    + "ENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=c29 }\n"
)
MADE = {  # kind -> a module and the passes that decide it there
    "horizontal-input-fusion": (REDUCES, "horizontal-input-fusion"),
    "reshape-is-bitcast": (
        "HloModule m\nENTRY e { x = f32[8,4] parameter(0)\n ROOT r = f32[32] reshape(x) }",
        "reshape-decomposer",
    ),
    "call-site-copies": (SHARED_CALLEES, "flatten-call-graph"),
    "sharding-propagation": (
        "HloModule m, num_partitions=2\nENTRY e { x = f32[8] parameter(0), sharding={devices=[2]<=[2]}\n"
        " y = f32[8] negate(x)\n ROOT z = f32[8] add(x, y), sharding={replicated} }",
        "shardy-xla",
    ),
    "dot-merger": (
        "HloModule m\nENTRY e { a = f32[8,8] parameter(0)\n b = f32[8,8] parameter(1)\n c = f32[8,8] parameter(2)\n"
        " d = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        " f = f32[8,8] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n ROOT s = f32[8,8] add(d, f) }",
        "dot-merger",
    ),
    "slice-hoister": (
        "HloModule m\nENTRY e { x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n a = f32[8] add(x, y)\n ROOT s = f32[4] slice(a), slice={[0:4]} }",
        "slice-hoister",
    ),
    "reorder-convert-reduce-add": (
        "HloModule m\nsum { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT s = bf16[] add(a, b) }\n"
        "ENTRY e { x = bf16[8] parameter(0)\n y = f32[8] parameter(1)\n r = bf16[8] all-reduce(x), to_apply=sum\n"
        " c = f32[8] convert(r)\n ROOT z = f32[8] add(c, y) }",
        "reorder-convert-reduce-add",
    ),
    "loop-hoisting": (LOOP.replace("TIMES", "5"), "while-loop-invariant-code-motion"),
    "loop-removal": (LOOP.replace("TIMES", "1"), "simplify-while-loops"),
    "while_loop_unroller": (LOOP.replace("TIMES", "5"), "while_loop_unroller"),
    "small-while-loop-hoisting": (LOOP.replace("TIMES", "5"), "small-while-loop-hoisting"),
    "conditional-to-select": (BRANCHES.replace("SELECTOR", "parameter(1)"), "simplify-conditional"),
    "branch-removal": (BRANCHES.replace("SELECTOR", "constant(true)"), "simplify-conditional"),
    "latency-hiding": (ASYNC, "latency-hiding-scheduler"),
    "execution-order": (TWO_READERS, "memory-scheduler"),
    "stream-assignment": (ASYNC, "latency-hiding-scheduler,stream-assignment"),
}
REPLAYED = {"dot-library"}  # decided by real XLA only: tests/explorer/xla
IN_THE_COMPILES = {  # decided by the compiles of `programs.py`; `test_why_not.py` reads their checks
    "fusion", "multi-output-fusion", "horizontal-loop-fusion", "dot-epilogue-fusion", "normalization-fusion", "fusion-wrapper", "layout", "share-buffer",
    "inlining", "constant-folding", "transpose-folding", "double-buffer-loop-unrolling", "library-call",
}  # fmt: skip


def test_every_kind_of_a_pass_is_made() -> None:
    assert set(KINDS) - KINDS_OF_CODE - {RULE} - REPLAYED == set(MADE) | IN_THE_COMPILES


def test_the_compiles_decide_the_other_kinds() -> None:
    journals = [xe.compile(MANY, **options).passes.journal for options in COMPILES.values()]
    assert {
        e.by for journal in journals if journal is not None for e in journal.events if e.is_decision
    } >= IN_THE_COMPILES


@pytest.mark.parametrize("kind", MADE)
def test_each_check_has_a_name_a_value_and_a_place(kind: str) -> None:
    text, passes = MADE[kind]
    trace = optimize(xe.parse_hlo(text), passes)
    found = [d for step in trace.steps for d in decided_again(trace, step) if d.kind == kind]
    assert found
    for decision in found:
        assert decision.checklist and decision.refused == any(
            check.ok is False for check in decision.checklist
        ), decision
        for check in decision.checklist:
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.name) and check.name not in (
                "lambda",
                "check",
            ), check
            assert check.ok is None or check.value, check
            file, line = check.place.rsplit(":", 1)
            (path, *_) = pathlib.Path(xla_explorer.__file__).parent.glob(f"**/{file}")
            assert int(line) <= len(path.read_text().splitlines())
