"""Wrong names, numbers and kinds in users' calls: refused at once, with the valid ones."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.pipeline import PipelineSyntaxError
from xla_explorer.compiler.pipeline.trace import UnknownStepError
from xla_explorer.explorer.sessions.compilation import UnknownStageError
from xla_explorer.explorer.sessions.loading import LoadError
from xla_explorer.foundation.keywords import UnknownOptionError
from xla_explorer.hlo.module import UnknownInstructionError
from xla_explorer.hlo.shape import ShapeError

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
    return xe.compile(TEXT, threads=2)


@pytest.mark.parametrize(
    ("backend", "option", "hint"),
    [
        ("cpu", "pases", "'passes'"),
        ("cpu", "donat", "'donate'"),
        ("gpu", "zzz", "architecture"),
        ("interpreter", "donate", "none"),
    ],
)
def test_a_keyword_that_nobody_reads_is_refused(backend: str, option: str, hint: str) -> None:
    with pytest.raises(UnknownOptionError, match=hint):
        xe.compile(TEXT, backend=backend, **_keyword(option, 1))


def test_a_backend_that_names_no_options_judges_them_itself() -> None:
    with pytest.raises(xe.XlaExplorerError, match="has no option 'zzz'"):
        xe.compile(TEXT, backend="aarch64", zzz=1)


def test_a_pass_that_did_not_run(session: xe.Session) -> None:
    with pytest.raises(UnknownStepError, match=r"ran not at all(.|\n)*dce"):
        session.passes.named("nope")


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


@pytest.mark.parametrize("pairs", [[("fusion", "%x", "%nope")], [("fusion", "%dd", "%r")]])
@pytest.mark.parametrize("verb", ["force", "forbid"])
def test_overriding_what_is_not_there(
    session: xe.Session, verb: str, pairs: list[tuple[str, ...]]
) -> None:
    with pytest.raises(xe.XlaExplorerError, match="no instruction was ever named"):
        session.override(**_keyword(verb, pairs))


@pytest.mark.parametrize(
    "overrides",
    ["dr", ["dr"], [("%d", "%r")], [("%d", "%r", "%x")], ("%d", "%r")],
)
def test_an_override_that_names_no_kind(session: xe.Session, overrides: object) -> None:
    with pytest.raises(xe.XlaExplorerError, match=r"an override must be \(kind, \*subjects\)"):
        session.override(forbid=overrides)  # type: ignore[arg-type]


def test_an_instruction_that_is_not_in_the_picture() -> None:
    with pytest.raises(UnknownInstructionError, match="named %nope"):
        xe.graph(xe.parse_hlo(TEXT), around="nope")


@pytest.mark.parametrize("name", ["folder/model.hlo", "model.HLO.gz", "model.mlir", "dump.txt"])
def test_the_name_of_a_file_where_a_text_is_wanted(name: str) -> None:
    with pytest.raises(
        LoadError, match=r"cannot read (.|\n)*give the path of a file"
    ):  # it was taken for one
        xe.compile(name)


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.gz"
    whole = bytearray(gzip.compress(TEXT.encode()))
    whole[12:40] = b"\xff" * 28
    path.write_bytes(whole)
    with pytest.raises(LoadError, match="cannot read"):
        xe.load(path)


def test_two_modules_in_one_text() -> None:
    with pytest.raises(xe.errors.HloParseError, match="a second module begins") as caught:
        xe.parse_hlo(TEXT + "\n" + TEXT)
    assert (caught.value.lineno, caught.value.offset) == (7, 1)


@pytest.mark.parametrize("given", [7, None])
@pytest.mark.parametrize("function", [xe.evaluate, xe.verify])
def test_what_takes_a_module_says_so(function: Any, given: object) -> None:
    with pytest.raises(TypeError, match="expected an HLO module, HLO text, a path"):
        function(given)


@pytest.mark.parametrize("options", [{}, {"backend": "interpreter"}])
def test_a_function_and_its_arrays_must_be_lowered_first(options: dict[str, str]) -> None:
    with pytest.raises(xe.errors.NotAModuleError) as caught:
        xe.compile(lambda x: x, np.ones(2, np.float32), **options)
    assert "xe.compile(xe.from_jax(function, *arrays))" in caught.value.hint


def test_arrays_in_the_place_of_a_backend() -> None:
    with pytest.raises(xe.errors.UnknownBackendError, match="no backend is named array") as caught:
        xe.compile(TEXT, np.ones(2, np.float32))
    assert "xe.compile(module)(*arrays)" in caught.value.hint


@pytest.mark.parametrize("size", ["a", -1, 2.5, None, (2, -3)])
def test_a_shape_of_no_sizes(size: Any) -> None:
    with pytest.raises(ShapeError, match="integers from 0 on"):
        xe.f32[size]


def test_backends_to_compare_as_one_text() -> None:
    assert list(
        dict.fromkeys(xe.compare(TEXT, backends="cpu,interpreter", repeats=1)["backend"])
    ) == [
        "cpu",
        "interpreter",
    ]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([1.0, 2.0, 3.0, 4.0], r"np.asarray\(argument, 'float32'\)"),
        ("abcd", "numbers"),
        (None, "numbers"),
    ],
)
def test_what_is_no_array_of_the_right_type(session: xe.Session, given: object, hint: str) -> None:
    with pytest.raises(xe.XlaExplorerError, match=hint):
        session(given)


def test_an_override_keeps_how_it_was_compiled() -> None:
    first = xe.compile(TEXT, backend="aarch64", cache=False, check_passes=True, cpu="neoverse-v1")
    assert first.override().options.backend_options == {"cpu": "neoverse-v1"}
    assert (first.override().options.cache, first.override().options.verify) == (False, True)


def test_a_backend_that_is_no_name() -> None:
    with pytest.raises(xe.XlaExplorerError, match="no backend is named None"):
        xe.compile(TEXT, backend=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "hint"), [("fussion", "near: fusion"), ("zzz", "kinds: .*fusion.*parallel")]
)
def test_a_kind_of_decision_that_there_is_not(session: xe.Session, kind: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"no kind of decision '{kind}'(.|\\n)*{hint}"):
        session.why_not(kind, "%d", "%r")


def test_a_question_about_nothing(session: xe.Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match="needs the instructions"):
        session.why_not("fusion")


def test_an_unknown_name_without_near_ones_shows_what_names_are_like(session: xe.Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match=f"look like %{session.module.entry.root.name}"):
        session.explain("zzzzzzzz")


@pytest.mark.parametrize("ask", ["loops", "schedule", "explain"])
@pytest.mark.parametrize("given", [np.ones(4), 1.5, ["x"]], ids=["array", "float", "list"])
def test_an_instruction_that_is_given_by_something_else(
    session: xe.Session, ask: str, given: object
) -> None:
    with pytest.raises(xe.XlaExplorerError, match="named by its name, its id or itself"):
        getattr(session, ask)(given)


def test_passes_of_another_compiler_cannot_change_places(session: xe.Session) -> None:
    for ask in (session.passes.commute, session.passes.search_order):
        with pytest.raises(xe.XlaExplorerError, match="the pass nothing cannot run here"):
            ask("algsimp", "nothing")


def test_an_instruction_that_was_not_there_yet() -> None:
    session = xe.compile(TEXT)
    made = session.module.entry.root
    with pytest.raises(xe.XlaExplorerError, match="is not in the module after pass 0"):
        session.passes.applicable(made, 0)


@pytest.mark.parametrize("names", ["cpu", ["cpu", "interpreter"], ("cpu",)])
def test_names_of_backends_are_no_arguments(names: object) -> None:
    with pytest.raises(xe.XlaExplorerError, match="got names of backends"):
        xe.compare(TEXT, names)
