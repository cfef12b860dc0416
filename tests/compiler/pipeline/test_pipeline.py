"""Pipelines as data and text, the runner, the trace."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import (
    PassChangeReportError,
    PassContext,
    PassFailedError,
    PassPipeline,
    PipelineSyntaxError,
    make_pass,
    optimize,
    parse_pipeline,
    registered_passes,
    run_pipeline,
)
from xla_explorer.compiler.pipeline.default_pipelines import default_simplification_pipeline
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

TEXT = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  b = f32[4] broadcast(z), dimensions={}
  a = f32[4] add(x, b)
  c = f32[4] multiply(a, a)
  d = f32[4] multiply(a, a)
  dead = f32[4] exponential(x)
  ROOT r = f32[4] subtract(c, d)
}
"""


@pytest.mark.parametrize(
    "text",
    [
        "algsimp,cse,dce",
        "simplification{algsimp,cse,dce}*",
        "outer{dce,inner{cse}*,algsimp{is_layout_sensitive=true}}",
        "dce",
    ],
)
def test_pipeline_text_reads_and_prints(text: str) -> None:
    made = parse_pipeline(text)
    assert parse_pipeline(str(made)) == made


def test_pipelines_are_edited_as_data() -> None:
    made = parse_pipeline("s{algsimp,cse,dce}*")
    assert made.fixed_point and [
        p.name for p in made.without("cse").then(make_pass("dce")).passes()
    ] == [
        "algsimp",
        "dce",
        "dce",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algsimp,", "name of a pass"),
        ("algsip", "near: algsimp"),
        ("cse{nothing=1}", "no option"),
        ("s{cse", "expected , or }"),
        ("cse)", "stray text"),
    ],
)
def test_a_wrong_pipeline_shows_the_place(text: str, message: str) -> None:
    with pytest.raises(PipelineSyntaxError, match=message) as caught:
        parse_pipeline(text)
    assert "^" in str(caught.value)


def test_default_pipeline_is_data_too() -> None:
    made = default_simplification_pipeline()
    assert parse_pipeline(str(made)) == made
    assert "algsimp" in registered_passes()


def test_trace_holds_every_step() -> None:
    module = parse_hlo(TEXT)
    trace = optimize(module, "simplification{algsimp,cse,dce}*")
    assert module.instruction_count() == 8, "the module given stays as it is"
    assert [s.name for s in trace.steps if s.changed] == ["algsimp", "cse", "dce"]
    assert trace.steps[-1].path[-1].endswith("#2")
    assert [i.opcode.name for i in trace.module.entry.post_order()] == [
        "parameter",
        "multiply",
        "subtract",
    ]
    assert trace.at(0).find("a") if "a" in [i.name for i in trace.at(0).instructions()] else True
    assert trace.before(0).instruction_count() == 8
    assert len(trace.diff(0).removed) == 3
    assert trace.step("dce").instructions_after == 3
    assert trace.steps[0].rewrites == 1
    assert "-  %a = " in trace.text_diff(0)
    assert trace.text_diff(-1) == ""
    assert trace.journal is not None and trace.events_of(trace.steps[0])[0].by == "add-zero"
    frame = trace.to_frame()
    assert list(frame["pass"][:3]) == ["algsimp", "cse", "dce"] and frame["removed"][0] == 3


def test_without_a_journal_there_are_no_snapshots() -> None:
    trace = optimize(parse_hlo(TEXT), "algsimp,dce", journal="off")
    assert trace.steps[0].after is None and trace.changed
    with pytest.raises(Exception, match="no snapshots"):
        trace.at(0)


def test_everything_records_the_graph_with_who_did_it() -> None:
    trace = optimize(parse_hlo(TEXT), "algsimp,cse,dce", journal="everything")
    assert trace.journal is not None
    replaced = [e for e in trace.journal.events if e.kind == "replaced"]
    assert [(e.by, e.names[0]) for e in replaced] == [("add-zero", "a"), ("cse", "d")]
    assert {e.by for e in trace.journal.events if e.kind == "removed"} == {"add-zero", "cse", "dce"}
    assert all(c.listener is None for c in trace.module.computations.values())


@dataclasses.dataclass(frozen=True)
class Liar:
    """Changes the module and denies it, or the reverse."""

    name: ClassVar[str] = "liar"
    changes: bool = True

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rename the root, or not."""
        if self.changes:
            module.entry.set_name(module.entry.root, "other")
        return not self.changes


@dataclasses.dataclass(frozen=True)
class Broken:
    """Raises after half of its work."""

    name: ClassVar[str] = "broken"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rename the root and fail."""
        module.entry.set_name(module.entry.root, "half")
        raise RuntimeError("half way")


@pytest.mark.parametrize("changes", [True, False])
def test_a_pass_that_lies_is_named(changes: bool) -> None:
    with pytest.raises(PassFailedError, match="liar") as caught:
        optimize(parse_hlo(TEXT), PassPipeline("p", (make_pass("dce"), Liar(changes))))
    assert isinstance(caught.value.__cause__, PassChangeReportError)
    assert len(caught.value.trace.steps) == 2


def test_a_failing_pass_leaves_its_trace() -> None:
    trace = optimize(
        parse_hlo(TEXT),
        PassPipeline("p", (make_pass("dce"), Broken(), make_pass("cse"))),
        keep_errors=True,
    )
    assert [s.name for s in trace.steps] == ["dce", "broken"] and isinstance(
        trace.error, RuntimeError
    )
    assert trace.at(1).entry.root.name == "half" and trace.at(0).entry.root.name == "r"
    assert trace.journal is not None and [s.error for s in trace.journal.spans if s.error]


def test_verifier_runs_after_what_changed() -> None:
    seen: list[int] = []
    trace = run_pipeline(
        parse_hlo(TEXT),
        parse_pipeline("algsimp,tuple-simplifier,cse"),
        PassContext(Journal("passes")),
        verifier=lambda m: seen.append(m.instruction_count()),
    )
    assert len(seen) == 2 and trace.error is None


def test_schedules_stay_valid() -> None:
    module = parse_hlo(TEXT.replace("HloModule m", "HloModule m, is_scheduled=true"))
    trace = optimize(module, "default", verify=True)
    assert trace.module.entry.schedule is not None
    assert set(trace.module.entry.schedule) == set(trace.module.entry.instructions.values())


def test_steps_are_inserted_moved_and_replaced() -> None:
    made = parse_pipeline("outer{dce,inner{algsimp,cse}*,dce}")
    assert str(made.before("inner", "cse,dce")) == "outer{dce,cse,dce,inner{algsimp,cse}*,dce}"
    assert str(made.after("algsimp", make_pass("dce"))) == "outer{dce,inner{algsimp,dce,cse}*,dce}"
    assert str(made.move("cse", before="algsimp")) == "outer{dce,inner{cse,algsimp}*,dce}"
    assert (
        str(made.move("dce", after="inner", occurrence=0)) == "outer{inner{algsimp,cse}*,dce,dce}"
    )
    assert (
        str(made.replace("algsimp", "algsimp{is_layout_sensitive=true}"))
        == "outer{dce,inner{algsimp{is_layout_sensitive=true},cse}*,dce}"
    )
    assert str(made) == "outer{dce,inner{algsimp,cse}*,dce}"
    assert [step.name for step in made.walk()] == ["dce", "inner", "algsimp", "cse", "dce"]


def test_edits_that_make_no_sense_say_so() -> None:
    made = parse_pipeline("outer{dce,inner{algsimp,cse}*}")
    with pytest.raises(LookupError, match="near: algsimp"):
        made.without("algsim")
    with pytest.raises(ValueError, match="exactly one"):
        made.move("cse", before="dce", after="cse")
    with pytest.raises(LookupError, match="occurrence must be below 1, got 1"):
        made.move("cse", before="dce", occurrence=1)
    with pytest.raises(ValueError, match="next to itself"):
        made.move("cse", before="cse")
    with pytest.raises(PipelineSyntaxError):
        made.before("dce", "cse,")


def test_a_name_means_passes_before_pipelines() -> None:
    made = parse_pipeline("outer{cse{dce,cse},dce}")
    assert str(made.after("cse", "algsimp")) == "outer{cse{dce,cse,algsimp},dce}"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("cse,dce,after(cse)=algsimp", "p{cse,algsimp,dce}"),
        (
            "cse,dce,before(cse)=algsimp{is_layout_sensitive=true}",
            "p{algsimp{is_layout_sensitive=true},cse,dce}",
        ),
        ("q{cse,dce}*, before(dce) = inner{algsimp,dce}*", "q{cse,inner{algsimp,dce}*,dce}*"),
        ("cse,dce,without(cse)", "p{dce}"),
        ("dce,after(dce)=cse,after(cse)=algsimp,dce", "p{dce,cse,algsimp,dce}"),
    ],
)
def test_a_text_places_passes_and_prints_as_what_came_of_it(text: str, printed: str) -> None:
    made = parse_pipeline(text, "p")
    assert str(made) == printed and parse_pipeline(str(made)) == made


@pytest.mark.parametrize(
    ("text", "message"),
    [("cse,after(cze)=dce", r"has no step 'cze'; near: cse(.|\n)*\^"), ("cse,after(cse)", "expected = and what to put after cse"),
     ("before(cse)=dce", "has no step 'cse'"), ("cse,after(cse)=dze", "unknown pass 'dze'")],
)  # fmt: skip
def test_a_text_that_places_a_pass_nowhere_says_where(text: str, message: str) -> None:
    with pytest.raises(PipelineSyntaxError, match=message):
        parse_pipeline(text)


def test_a_pass_is_placed_in_the_default_pipeline_of_each_backend() -> None:
    import xla_explorer as xe

    for backend, anchor in (
        ("cpu", "fusion"),
        ("gpu", "priority-fusion"),
        ("interpreter", "call-inliner"),
    ):
        session = xe.compile(
            parse_hlo(TEXT),
            backend,
            f"default,after({anchor})=reshape-decomposer,before({anchor})=tuple-simplifier",
        )
        names = [p.name for p in session.passes]
        at = names.index(anchor)
        assert names[at - 1 : at + 2] == ["tuple-simplifier", anchor, "reshape-decomposer"]
        assert parse_pipeline(str(session.passes.pipeline)) == session.passes.pipeline


CELL = """
import dataclasses
from typing import ClassVar
import xla_explorer as xe

@xe.register_pass()
@dataclasses.dataclass(frozen=True)
class Typed:
    name: ClassVar[str] = "typed-in-a-cell"
    def run(self, module, context):
        print("run {number}")
        return False
"""


def test_a_cell_that_declares_a_pass_may_be_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    import xla_explorer as xe
    from xla_explorer.compiler.pipeline import pass_interface

    for number in (1, 2):
        exec(CELL.replace("{number}", str(number)), {"__name__": "__main__"})
    xe.optimize(parse_hlo(TEXT), "typed-in-a-cell")
    assert capsys.readouterr().out == "run 2\n"
    with pytest.raises(pass_interface.PassRegistrationError, match="registered twice"):
        exec(CELL.replace("typed-in-a-cell", "dce"), {"__name__": "__main__"})
    with pytest.raises(pass_interface.PassRegistrationError, match="in a notebook"):
        exec(CELL, {"__name__": "json"})


def test_default_may_stand_beside_other_passes() -> None:
    import xla_explorer as xe

    alone, more = (
        xe.optimize(parse_hlo(TEXT), "default"),
        xe.optimize(parse_hlo(TEXT), "default,dce"),
    )
    assert [s.name for s in more.steps] == [*[s.name for s in alone.steps], "dce"]
    session = xe.compile(parse_hlo(TEXT), passes="dce,default,cse")
    names = [step.name for step in session.passes.pipeline.passes()]
    usual = [step.name for step in xe.compile(parse_hlo(TEXT)).passes.pipeline.passes()]
    assert (
        names[0] == "dce" and names[1 : 1 + len(usual)] == usual and names[1 + len(usual)] == "cse"
    )
    with pytest.raises(PipelineSyntaxError, match="unknown pass 'defaul'"):
        xe.compile(parse_hlo(TEXT), passes="defaul,cse")


def test_the_table_of_passes_has_the_columns_that_its_help_names() -> None:
    import xla_explorer as xe

    listed = (xe.passes.__doc__ or "").split("Columns: ")[1]
    assert all(column in listed for column in xe.passes().columns)


def test_a_name_of_a_pass_and_of_a_pipeline_means_the_pass() -> None:
    pipeline = parse_pipeline("fusion{fusion,dce},cse")
    assert str(pipeline.replace("fusion", "algsimp")) == str(
        parse_pipeline("fusion{algsimp,dce},cse")
    )
    assert [
        step.name for step in parse_pipeline("fusion{dce},cse").replace("fusion", "algsimp").steps
    ] == ["algsimp", "cse"]


def test_a_pass_that_did_not_run_is_answered_with_near_names() -> None:
    passes = xe.compile("ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] negate(x) }").passes
    with pytest.raises(XlaExplorerError, match="'fusio' ran not at all") as refused:
        passes.named("fusio")
    assert (refused.value.hint or "").startswith("near: ") and "fusion" in (
        refused.value.hint or ""
    )


def test_a_pass_that_is_no_dataclass_is_refused_where_it_is_registered() -> None:
    from xla_explorer.compiler.pipeline import pass_interface

    class Plain:
        name = "plain-class-in-a-test"

        def run(self, module: HloModule, context: PassContext) -> bool:
            return False

    with pytest.raises(pass_interface.PassRegistrationError, match="must be a dataclass"):
        pass_interface.register_pass()(Plain)
    assert "plain-class-in-a-test" not in pass_interface.registered_passes()
