"""Another compiler's result beside our decisions: a dump's module is compiled again.

Each decided pair is compared with XLA's result.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.session_source import no_decisions

BEFORE = """HloModule jit_f
ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  e = f32[64,64] exponential(x), metadata={op_name="jit(f)/exp"}
  d = f32[64,64] dot(e, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot"}
  n = f32[64,64] negate(d), metadata={op_name="jit(f)/neg"}
  ROOT t = f32[64,64] tanh(n), metadata={op_name="jit(f)/tanh"}
}
"""
# Names and ids differ: only op_name identifies an instruction.
AFTER = """HloModule jit_f, is_scheduled=true
fused_1 {
  p = f32[64,64] parameter(0)
  m.3 = f32[64,64] negate(p), metadata={op_name="jit(f)/neg"}
  ROOT u.9 = f32[64,64] tanh(m.3), metadata={op_name="jit(f)/tanh"}
}
ENTRY main {
  x.1 = f32[64,64] parameter(0)
  w.1 = f32[64,64] parameter(1)
  q.2 = f32[64,64] exponential(x.1), metadata={op_name="jit(f)/exp"}
  r.5 = f32[64,64] dot(q.2, w.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot"}
  ROOT fusion = f32[64,64] fusion(r.5), kind=kLoop, calls=fused_1
}
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(BEFORE)
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(AFTER)
    return tmp_path


def test_a_dump_compiled_again_has_decisions_and_says_what_xla_did(dump: Path) -> None:
    session = xe.load(dump).compile(threads=1)
    assert len(session.decisions("fusion")) > 0 and session.beside is not None
    lineage = session.passes.lineage
    said = {
        pair: session.beside.says(lineage, *[session.passes.find(name) for name in pair])
        for pair in (("n", "t"), ("d", "n"), ("x", "e"))
    }
    assert said["n", "t"] == "computes both in one kernel" and said["d", "n"] == "uses two kernels"
    assert said["x", "e"].startswith("unknown")
    rows = [
        row
        for row in session._explorer_source_().decisions()
        if row.kind == "fusion" and len(row.names) == 2
    ]
    assert rows and all("XLA" in row.facts for row in rows)
    assert session.override(forbid=[("fusion", "n", "t")]).beside is session.beside


def test_a_dump_without_a_result_is_compiled_all_the_same(dump: Path) -> None:
    (dump / "module_0001.jit_f.cpu_after_optimizations.txt").unlink()
    session = xe.load(dump).compile(threads=1)
    assert session.beside is None and session(*[np.ones((64, 64), np.float32)] * 2).shape == (
        64,
        64,
    )


def test_the_dump_itself_says_where_decisions_are(dump: Path) -> None:
    note = no_decisions(xe.load(dump).session())
    assert "XLA dumps no decisions" in note and ".compile()" in note
