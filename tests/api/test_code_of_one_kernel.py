"""Parts of what a session shows: the LLVM IR of one kernel, a picture as an object of graphviz."""

from __future__ import annotations

import graphviz
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

TEXT = """HloModule m

ENTRY e {
  x = f32[64,64] parameter(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,64] tanh(x)
  ROOT r = (f32[64,64], f32[64,64]) tuple(d, t)
}
"""


@pytest.mark.parametrize("optimized", [False, True])
def test_the_llvm_ir_of_one_kernel(optimized: bool) -> None:
    session = xe.compile(TEXT, threads=1)
    step = next(s for s in program_steps(session) if getattr(s, "function", ""))
    whole, alone = (
        str(session.llvm_ir(optimized)),
        str(session.llvm_ir(optimized, kernel=step.name)),
    )
    assert (
        alone.startswith("define ")
        and f"@{step.function}(" in alone.replace('"', "")
        and alone.rstrip().endswith("}")
    )
    assert len(alone) < len(whole)
    with pytest.raises(xe.XlaExplorerError, match=r"no kernel is called nothing"):
        session.llvm_ir(optimized, kernel="nothing")


def test_a_picture_is_a_digraph_of_graphviz() -> None:
    drawn = xe.graph(TEXT).to_graphviz()
    assert isinstance(drawn, graphviz.Digraph)
    assert "tanh" in drawn.source and drawn.source.count("->") == xe.graph(TEXT).to_dot().count(
        "->"
    )
    assert drawn.source.count("{") == drawn.source.count("}")
