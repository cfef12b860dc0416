"""XLA's fusions replayed by our policy: values left in memory have reasons; agreement.

Input is XLA's own snapshots; agreement is counted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import NotThereError

# As XLA dumps it: `e` is expensive and read twice, so XLA computes it once; `d` is in a kernel that
# an earlier pass made.
SOURCE = """HloModule jit_f
ENTRY main {
  x = f32[512,512] parameter(0)
  e = f32[512,512] exponential(x)
  s = f32[512,512] add(e, x)
  c = f32[512,512] multiply(s, s)
  ROOT r = f32[512,512] subtract(c, x)
}"""
BEFORE = """HloModule jit_f
library { a = f32[512,512] parameter(0)  ROOT d = f32[512,512] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
ENTRY main {
  x = f32[512,512] parameter(0)
  ynn_fusion = f32[512,512] fusion(x), kind=kCustom, calls=library
  s = f32[512,512] add(ynn_fusion, x)
  c = f32[512,512] multiply(s, s)
  ROOT r = f32[512,512] subtract(c, x)
}"""
AFTER = """HloModule jit_f
library { a = f32[512,512] parameter(0)  ROOT d = f32[512,512] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
fused { p = f32[512,512] parameter(0)  q = f32[512,512] parameter(1)
  s = f32[512,512] add(p, q)
  c = f32[512,512] multiply(s, s)
  ROOT r = f32[512,512] subtract(c, q) }
ENTRY main {
  x = f32[512,512] parameter(0)
  ynn_fusion = f32[512,512] fusion(x), kind=kCustom, calls=library
  ROOT multiply_subtract_fusion = f32[512,512] fusion(ynn_fusion, x), kind=kLoop, calls=fused
}"""
PARTLY = (
    AFTER.replace("  c = f32", "  ROOT c = f32")
    .replace("ROOT r = f32[512,512] subtract(c, q) }", "}")
    .replace(
        "ROOT multiply_subtract_fusion = f32[512,512] fusion(ynn_fusion, x), kind=kLoop, calls=fused",
        "f = f32[512,512] fusion(ynn_fusion, x), kind=kLoop, calls=fused\n  ROOT r = f32[512,512] subtract(f, x)",
    )
)
TWO_READERS = """HloModule jit_f
ENTRY main {
  x = f32[64] parameter(0)
  s = f32[64] add(x, x)
  a = f32[64] negate(s)
  b = f32[64] abs(s)
  ROOT r = (f32[64], f32[64]) tuple(a, b)
}"""
COPIED = """HloModule jit_f
f0 { p = f32[64] parameter(0)  add.7 = f32[64] add(p, p)  ROOT n = f32[64] negate(add.7) }
f1 { p = f32[64] parameter(0)  s = f32[64] add(p, p)  ROOT o = f32[64] abs(s) }
ENTRY main {
  x = f32[64] parameter(0)
  add_negate_fusion = f32[64] fusion(x), kind=kLoop, calls=f0
  add_abs_fusion = f32[64] fusion(x), kind=kLoop, calls=f1
  ROOT r = (f32[64], f32[64]) tuple(add_negate_fusion, add_abs_fusion)
}"""


def _dump(folder: Path, **passes: str) -> xe.Session:
    (folder / "module_0000.jit_f.before_optimizations.txt").write_text(SOURCE)
    for number, (name, text) in enumerate(passes.items()):
        (
            folder
            / f"module_0000.jit_f.{number:04d}.pipeline.after_{name.replace('_', '-')}.before_next.txt"
        ).write_text(text)
    return xe.load(folder).session()


def test_an_edge_into_an_earlier_kernel_names_the_pass_that_made_it(tmp_path: Path) -> None:
    found = xe.xla.replay_fusion(_dump(tmp_path, dot_library_rewriter=BEFORE, fusion=AFTER))
    assert found.agreed == 1 and found.step == 2
    (edge,) = found.refused()
    assert (edge.producer, edge.consumer, edge.bytes, edge.code) == (
        "ynn_fusion",
        "s",
        512 * 512 * 4,
        "fused-before",
    )
    assert "%ynn_fusion was made before by dot-library-rewriter" in edge.reason
    assert "XLA fused 2 of 3 edges" in repr(found) and "dot-library-rewriter" in found.to_markdown()


def test_where_xla_did_otherwise_the_reason_is_unknown(tmp_path: Path) -> None:
    found = xe.xla.replay_fusion(_dump(tmp_path, dot_library_rewriter=BEFORE, fusion=PARTLY))
    assert found.agreed == pytest.approx(2 / 3)
    assert "unknown: our replay of XLA's policy gives fused" in str(found)
    different, *_ = found.decisions()
    assert (different.verdict, different.code, different.facts["agrees"]) == (
        "refused",
        "xla-decides-otherwise",
        False,
    )


def test_what_xla_copies_and_renames_is_known_by_what_it_computes(tmp_path: Path) -> None:
    """`s` goes into both readers, once under another name: an edge is fused when every copy is."""
    found = xe.xla.replay(_dump(tmp_path, pipeline_start=TWO_READERS, fusion=COPIED))
    assert {(row.subject, row.consumer, row.ours, row.xla) for row in found.rows} == {
        ("s", reader, "fused", "fused") for reader in "ab"
    }
    assert found.agreement == 1 and found.to_frame().columns[4] == "agrees"


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no replay 'speed': choose from fusion"):
        xe.xla.replay(_dump(tmp_path, algsimp=BEFORE), "speed")


def test_a_dump_without_the_pass_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotThereError, match="xla_dump_hlo_pass_re"):
        xe.xla.replay_fusion(_dump(tmp_path, algsimp=BEFORE))


@pytest.mark.long
@pytest.mark.jax
@pytest.mark.parametrize(("name", "least"), [("attention", 0.99), ("mlp_train", 0.99)])
def test_the_replay_agrees_with_real_xla(name: str, least: float) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    found = xe.xla.replay_fusion(xe.compile(xe.example(name), backend="xla"))
    assert found.agreed >= least and any(edge.reason for edge in found.refused())


LAID_OUT = """HloModule jit_f, entry_computation_layout={(f32[8,4]{1,0})->f32[4,8]{1,0}}
ENTRY main {
  x = f32[8,4]{1,0} parameter(0)
  t = f32[4,8]{0,1} transpose(x), dimensions={1,0}
  c = f32[4,8]{1,0} copy(t)
  ROOT r = f32[4,8]{1,0} sort(c), dimensions={1}, to_apply=less
}"""
LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT l = pred[] compare(a, b), direction=LT }\n"


def _with_less(text: str) -> str:
    return text.replace("ENTRY", LESS + "ENTRY")


def test_layouts_and_copies_are_replayed(tmp_path: Path) -> None:
    given = (
        _with_less(LAID_OUT)
        .replace("  c = f32[4,8]{1,0} copy(t)\n", "")
        .replace("sort(c)", "sort(t)")
    )
    given = given.replace("{0,1} transpose", "{1,0} transpose")
    found = xe.xla.replay(
        _dump(tmp_path, pipeline_start=given, layout_assignment=_with_less(LAID_OUT)), "layout"
    )
    assert {(row.subject, row.consumer, row.ours, row.xla) for row in found.rows} == {
        ("x", "", "{1,0}", "{1,0}"), ("t", "", "{0,1}", "{0,1}"), ("r", "", "{1,0}", "{1,0}"), ("t", "r", "copied", "copied")}  # fmt: skip
    assert [one.code for one in found.decisions() if one.refused] == ["layout-differs"]


@pytest.mark.long
def test_what_xla_decided_are_the_decisions_of_its_session(tmp_path: Path) -> None:
    session = _dump(tmp_path, dot_library_rewriter=BEFORE, fusion=AFTER)
    frame = session.decisions("fusion")
    assert sorted(frame["verdict"]) == ["accepted", "accepted", "refused"] and set(
        frame["code"]
    ) == {"", "fused-before"}
    assert all(
        facts["decided"] == "by XLA's policy, replayed" and facts["agrees"]
        for facts in frame["facts"]
    )
    answer = session.why_not("fusion", "%ynn_fusion", "%s")
    assert answer.code == "fused-before" and "made before by dot-library-rewriter" in str(answer)
