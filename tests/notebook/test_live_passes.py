"""Rules and pipelines edited interactively: a tried rule, a pipeline as a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ipywidgets")
pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import xla_explorer as xe
from xla_explorer.notebook.pipeline_builder import PipelineBuilder, edited_at, places

TEXT = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  a = f32[64] negate(x)
  n = f32[64] negate(a)
  s = f32[64] subtract(n, y)
  d = f32[64] subtract(y, a)
  m = f32[64] multiply(s, d)
  dead = f32[64] tanh(x)
  ROOT r = f32[64] negate(m)
}
"""
RULE = """import xla_explorer as xe
from xla_explorer.plugin import Exactness, any_, operator
negate = operator("negate")

@xe.rule(
    negate(negate(any_("x"))), exactness=Exactness.BITWISE,
    before="x = f32[4] parameter(0)\\n n = f32[4] negate(x)\\n ROOT r = f32[4] negate(n)", after="ROOT x = f32[4] parameter(0)",
)
def my_double_negate(x):
    \"\"\"-(-x) is x.\"\"\"
    return x
"""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, "interpreter", "dce,inner{algsimp,cse}*", threads=1)


@pytest.fixture
def shell(session: xe.Session) -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xla_explorer")
    shell.user_ns["s"] = session
    yield shell
    InteractiveShell.clear_instance()


def test_a_rule_of_a_cell_is_tried_at_once(shell: InteractiveShell, session: xe.Session) -> None:
    with capture_output() as captured:
        assert shell.run_cell("%%hlo_rule s\n" + RULE).success
    (shown,) = captured.outputs
    assert "rewritten 1, refused 0, nearly 2" in shown.data["text/plain"]
    trial = session.passes.try_rule(shell.user_ns["my_double_negate"])
    (match,) = trial.of("rewrites")
    assert (
        match.instruction == "%n"
        and match.becomes.startswith("%x = ")
        and match.fits == match.nodes == 3
    )
    assert {(m.instruction, m.fits, m.reason) for m in trial.of("near")} == {
        ("%a", 1, "%x is parameter, the pattern wants negate"), ("%r", 1, "%m is multiply, the pattern wants negate"),
    }  # fmt: skip
    assert (
        list(trial.to_frame()["outcome"]) == ["rewrites", "near", "near"]
        and "%x = " in trial.to_html()
    )
    with capture_output() as captured:
        result = shell.run_cell("%%hlo_rule s\nx = 1")
    assert "declares no rule" in str(result.error_in_exec)


def test_only_passes_that_would_change_something_are_found(session: xe.Session) -> None:
    found = session.passes.effective(0).set_index("pass")
    assert (
        found.loc["dce", "instructions"] == -1
        and found.loc["algsimp", "instructions"] < 0
        and not found["error"].any()
    )
    assert "cse" not in found.index and "dce" not in session.passes.effective(-1)["pass"].tolist()


def test_two_names_exchange_their_places(session: xe.Session) -> None:
    swapped = session.passes.pipeline.swap("dce", "cse")
    assert [step.name for step in swapped.walk()] == ["cse", "inner", "algsimp", "dce"]
    assert str(swapped.swap("dce", "cse")) == str(session.passes.pipeline)
    with pytest.raises(LookupError, match="no step 'fusion'"):
        swapped.swap("fusion", "cse")


def test_pairs_of_passes_that_commute(session: xe.Session) -> None:
    found = session.passes.commute("dce", "algsimp", "cse").set_index(["first", "second"])
    assert len(found) == 3 and not found["error"].any()
    assert (
        found.loc[("dce", "cse"), "same"]
        and found.loc[("dce", "cse"), "instructions"]
        == found.loc[("dce", "cse"), "instructions_swapped"]
    )
    assert list(session.passes.commute()["first"]), "those that changed something, without names"


EQUAL = """HloModule m
ENTRY e {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  a = s32[] multiply(x, y)
  b = s32[] multiply(x, y)
  ROOT r = s32[] subtract(a, b)
}
"""


def test_orders_of_passes_are_searched() -> None:
    passes = xe.optimize(EQUAL, "algsimp,cse,dce").passes
    found = passes.search_order("algsimp", "cse", "dce", by="instructions", trials=6).set_index(
        "order"
    )
    assert (
        found["instructions"].is_monotonic_increasing
        and found.loc["algsimp,cse,dce", "instructions"] == 4
    )
    assert found["instructions"].iloc[0] == 3 and found.index[0].split(",")[0] == "cse", (
        "merged first, they are subtracted from themselves"
    )
    assert xe.optimize(EQUAL, found.index[0]).module.instruction_count() == 3
    with pytest.raises(xe.XlaExplorerError, match="cannot be compared by"):
        passes.search_order(by="beauty")


def test_a_pipeline_is_edited_as_a_list(session: xe.Session) -> None:
    builder, seen = PipelineBuilder(session), []
    builder.observe(lambda change: seen.append(change["new"]), "text")
    labels = [label.split() for label, _ in builder.list.options]
    assert (
        [label[0] for label in labels] == ["dce", "inner", "algsimp", "cse"]
        and labels[0][1:] == ["-1"]
        and labels[3][1:] == []
    )
    builder.list.value = (1, 1)
    builder.move(-1)
    assert [step.name for _, step in places(builder.pipeline)] == [
        "dce",
        "inner",
        "cse",
        "algsimp",
    ] and builder.list.value == (1, 0)
    assert seen[-1] == builder.text == str(builder.pipeline)
    builder.list.value = (0,)
    builder.offer()
    assert {"algsimp"} <= {name for _, name in builder.new.options} - {"dce"}
    builder.new.value = "algsimp"
    builder.add()
    assert [step.name for _, step in places(builder.pipeline)][:2] == [
        "dce",
        "algsimp",
    ] and builder.list.value == (1,)
    builder.remove()
    builder.other.value = "dce"
    builder.list.value = (1, 0)
    builder.swap()
    assert [step.name for _, step in places(builder.pipeline)] == ["cse", "inner", "dce", "algsimp"]
    builder.compile()
    assert builder.comparison is not None and "<table" in builder.shown.value
    builder.text = "algsimp"
    assert [step.name for _, step in places(builder.pipeline)] == [
        "algsimp"
    ] and "every one verified" in builder.verdict.value


def test_options_are_those_of_the_form() -> None:
    builder = PipelineBuilder(xe.compile(TEXT, "interpreter", "inner{dce,fusion}", threads=1))
    builder.list.value = next(
        path
        for path, step in places(builder.pipeline)
        if step.name == "fusion" and not hasattr(step, "steps")
    )
    assert builder.form is not None
    builder.form.controls["max_operands"].value = 3
    builder.set_options()
    step: Any = dict(places(builder.pipeline))[builder.list.value]
    assert step.name == "fusion" and step.max_operands == 3 and "max_operands=3" in builder.text
    without = edited_at(
        builder.pipeline, builder.list.value, lambda steps, k: steps[:k] + steps[k + 1 :]
    )
    assert len(list(without.passes())) == len(list(builder.pipeline.passes())) - 1
