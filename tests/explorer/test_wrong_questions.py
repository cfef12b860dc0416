"""Wrong names, numbers and kinds in what users type: refused at once, with what there is instead."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.pipeline import PipelineSyntaxError
from xla_explorer.compiler.pipeline.trace import UnknownStepError
from xla_explorer.explorer.backend_options import UnknownOptionError
from xla_explorer.explorer.session import UnknownStageError

TEXT = """HloModule scale
ENTRY main {
  x = f32[4] parameter(0)
  d = f32[4] add(x, x)
  ROOT r = f32[4] multiply(d, x)
}"""


def _keyword(name: str, value: Any) -> dict[str, Any]:
    return {name: value}


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT)


@pytest.mark.parametrize(
    ("backend", "option", "hint"),
    [("cpu", "pases", "'passes'"), ("cpu", "donat", "'donate'"), ("gpu", "zzz", "architecture"), ("interpreter", "donate", "none")],
)
def test_a_keyword_that_nobody_reads_is_refused(backend: str, option: str, hint: str) -> None:
    with pytest.raises(UnknownOptionError, match=hint):
        xe.compile(TEXT, backend=backend, **_keyword(option, 1))


def test_a_backend_that_names_no_options_judges_them_itself() -> None:
    with pytest.raises(xe.XlaExplorerError, match="has no option 'zzz'"):
        xe.compile(TEXT, backend="aarch64", zzz=1)


@pytest.mark.parametrize("ask", ["at", "before", "diff", "text_diff"])
def test_a_step_that_did_not_run(session: xe.Session, ask: str) -> None:
    last = len(session.trace.steps) - 1
    with pytest.raises(UnknownStepError, match=rf"no step 999(.|\n)*0 to {last}"):
        getattr(session.trace, ask)(999)
    with pytest.raises(UnknownStepError, match=r"trace.step\('algsimp'\).index"):
        getattr(session.trace, ask)("algsimp")


def test_a_picture_of_a_step_that_did_not_run(session: xe.Session) -> None:
    with pytest.raises(UnknownStepError, match="no step 999"):
        session.trace.graph(999)


def test_a_pass_that_did_not_run(session: xe.Session) -> None:
    with pytest.raises(UnknownStepError, match=r"ran 0 times(.|\n)*dce"):
        session.trace.step("nope")


def test_a_stage_that_is_not_there(session: xe.Session) -> None:
    with pytest.raises(UnknownStageError, match=r"no stage 'llvm'(.|\n)*llvm-ir"):
        session.stage("llvm")


@pytest.mark.parametrize("passes", [3, None, ["algsimp", "dce"]])
def test_a_pipeline_of_the_wrong_kind(passes: object) -> None:
    with pytest.raises(PipelineSyntaxError, match="'algsimp,cse,dce'"):
        xe.optimize(xe.parse_hlo(TEXT), passes)


def test_an_unknown_pass_is_answered_in_one_line() -> None:
    with pytest.raises(PipelineSyntaxError) as caught:
        xe.optimize(xe.parse_hlo(TEXT), "zzzz")
    assert "xe.passes()" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("pairs", [[("%x", "%nope")], [("%dd", "%r")]])
@pytest.mark.parametrize("verb", ["fuse", "forbid"])
def test_overriding_what_is_not_there(session: xe.Session, verb: str, pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(xe.XlaExplorerError, match="no instruction was ever named"):
        session.override(**_keyword(verb, pairs))


@pytest.mark.parametrize("pairs", ["dr", ["dr"], [("%d",)], [("%d", "%r", "%x")], ("%d", "%r")])
def test_overriding_with_what_is_no_pair(session: xe.Session, pairs: object) -> None:
    with pytest.raises(xe.XlaExplorerError, match="producer, consumer"):
        session.override(forbid=pairs)  # type: ignore[arg-type]
