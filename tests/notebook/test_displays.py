"""Public objects display themselves: short repr, plain text, HTML; results in every form."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell

import xla_explorer as xe
from xla_explorer.course.checking.result import CheckResult, Failure
from xla_explorer.explorer.display import Code, Report, Table
from xla_explorer.notebook.displays import FORMS
from xla_explorer.notebook.jax_cell import JaxPrograms

TEXT = """HloModule shown
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  e = f32[64] exponential(x)
  ROOT b = f32[64] add(e, y)
}"""
# Public names that are functions, errors or plain data of Python's own; all others must be in
# `objects`.
NOT_SHOWN = {"options"}
LONGEST_REPR = 5_000
RESULTS = [
    "passes", "pass", "graph", "buffers", "peak", "explanation", "why not", "provenance", "applicable", "timing", "bisection", "comparison",
    "overrides", "code beside code", "annotated", "options", "doctor", "structural difference", "fusions", "programs", "signatures", "search",
    "object file", "emulation", "counted PTX", "stepped kernel", "check", "JAX programs",
]  # fmt: skip
# Shown by code of their own: texts and pictures are blocks, a session is a page, the widget a
# model; modules of the lower rooms are in FORMS.
OWN_FORM = {"CodeText", "Svg", "Session", "Sliders", "Trace", "ExplorerWidget"}


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "xla_explorer")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    module = xe.parse_hlo(TEXT)
    s = xe.compile(module)
    x = np.ones(64, np.float32)
    root = s.module.entry.root
    return {
        "HloModule": module, "computation": module.entry, "instruction": root, "shape": root.shape, "literal type": xe.f32,
        "Session": s, "trace": xe.optimize(s.source), "passes": s.passes, "pass": s.passes[1], "pass trace": s.passes.record, "step": s.passes.record.steps[0], "stage": s.stage("hlo"),
        "binary stage": s.stage("object"), "graph": xe.graph(s), "buffers": s.buffers(), "decisions": s.decisions(), "kernels": s.kernels(),
        "explanation": s.explain(root), "why not": s.why_not("fusion", "%e", "%b"), "provenance": s.passes.provenance(),
        "applicable": s.passes.applicable(root), "rules": s.passes.hot_rules(), "timing": s.time(x, x, repeats=2), "profile": s.profile(x, x, repeats=2),
        "bisection": s.bisect(x, x), "comparison": s.override().compare(repeats=1), "code beside code": s.side_by_side("llvm-ir-optimized"),
        "annotated": s.annotate(measure=False), "code": s.llvm_ir(), "options": xe.options, "doctor": xe.doctor(), "pass catalogue": xe.passes(),
        "PassPipeline": s.passes.pipeline, "Journal": s.passes.journal, "event": s.passes.journal.events[0], "Reason": xe.Reason("a-b", "c", {"n": 1}),
        "structural difference": xe.compare.structure(module, s.module), "diff": xe.compare.text(module, s.module), "Isolation": xe.Isolation(),
        "table": xe.compare(module, backends=["cpu"]), "signature": s.signature, "PrintOptions": xe.hlo.PrintOptions.default,
        "Host": s.executable.host, **_more(module, s, x),
    }  # fmt: skip


def _more(module: Any, s: Any, x: Any) -> dict[str, Any]:
    emulation = xe.compile(module, backend="gpu").emulation(x, x)
    return {
        "peak": s.buffers().at_peak(), "overrides": s.override(forbid=[("fusion", "e", "b")]).overrides(), "emulation": emulation,
        "counted PTX": emulation.ptx, "stepped kernel": emulation.stepper(), "object file": xe.aot(module),
        "fusions": xe.compare.fusions(module, policies=("time", "xla")), "signatures": xe.compare.signatures((x,), (x[:3],)),
        "programs": xe.compare.programs(module, ("cpu", "interpreter"), repeats=1, rounds=1), "JAX programs": JaxPrograms([s]),
        "search": xe.search_fusion(module, x, x, trials=1, repeats=1),
        "check": CheckResult("a", "failed", 2, Failure("wrong-value", "it differs by 1", "2", "3", module)),
    }  # fmt: skip


def test_every_object_has_a_short_repr_and_plain_text(shell: Any, objects: dict[str, Any]) -> None:
    for name, thing in objects.items():
        assert len(repr(thing)) < LONGEST_REPR and " object at 0x" not in repr(thing), name
        data, _ = shell.display_formatter.format(thing)
        assert data.get("text/plain"), name
        if "text/html" in data:
            assert len(data["text/html"]) < 300_000 and "<script" not in data["text/html"], name


def test_results_of_the_explorer_carry_html(shell: Any, objects: dict[str, Any]) -> None:
    plain = {
        "shape",
        "literal type",
        "pass trace",
        "step",
        "binary stage",
        "event",
        "Isolation",
        "signature",
        "PrintOptions",
        "graph",
        "Host",
    }
    for name, thing in objects.items():
        if name not in plain:
            assert "text/html" in shell.display_formatter.format(thing)[0], name


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_every_form(name: str, objects: dict[str, Any]) -> None:
    result = objects[name]
    assert isinstance(result, Report)
    frame = result.to_frame()
    assert (
        isinstance(frame, pandas.DataFrame)
        and len(frame.columns)
        and all(isinstance(column, str) for column in frame.columns)
    )
    data = json.dumps(result.to_json(), allow_nan=False)
    assert len(data) > 2 and " object at 0x" not in data
    text, markdown, html = str(result), result.to_markdown(), result.to_html()
    assert text and markdown and html and " object at 0x" not in text + markdown + html
    assert repr(result).strip("<>").split("\n")[0] in text


@pytest.mark.parametrize("name", ["decisions", "rules", "profile", "table", "pass catalogue"])
def test_a_table_has_every_form(name: str, objects: dict[str, Any]) -> None:
    table = objects[name]
    head, rule, *rows = table.to_markdown().split("\n")
    assert len(rows) == len(table) and rule.count("|") == head.count("|") == len(table.columns) + 1
    assert len(table.to_frame()) == len(table) and len(
        json.loads(table.to_json(orient="records"))
    ) == len(table)


def test_markdown_holds_no_markup_of_values() -> None:
    made = Table(["a|b"], [["*x*|<b>\n`y`"], [1.5], [None]]).to_markdown().split("\n")
    assert made == [r"| a\|b |", "|---|", r"| \*x\*\|&lt;b&gt;<br>\`y\` |", "| 1.5 |", "| – |"]
    assert Code("t", "a\n```\nb").to_markdown().split("\n")[2:] == [
        "````text",
        "a",
        "```",
        "b",
        "````",
    ]


@pytest.mark.long
def test_every_result_is_a_report(objects: dict[str, Any]) -> None:
    assert {name for name, thing in objects.items() if isinstance(thing, Report)} == set(RESULTS)
    package = Path(xe.__file__).parent
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for room in ("explorer", "notebook", "course")
        for path in (package / room).rglob("*.py")
    ]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    own = {
        c.name
        for c in classes
        if any(
            isinstance(part, ast.FunctionDef) and part.name == "_repr_mimebundle_"
            for part in c.body
        )
    }
    assert own == OWN_FORM | {"Report"}


def test_public_classes_are_covered(objects: dict[str, Any]) -> None:
    shown = {kind.__name__ for thing in objects.values() for kind in type(thing).__mro__}
    left = {"HloBuilder"}  # a tool, not a result
    for name in xe._PUBLIC:
        thing = getattr(xe, name)
        if isinstance(thing, type) and not issubclass(thing, BaseException) and name not in left:
            assert thing.__name__ in shown, f"{name} is public and not in this test"


def test_forms_name_classes_that_there_are() -> None:
    import importlib

    for module, name in FORMS:
        assert getattr(importlib.import_module(module), name).__module__ == module


def test_a_module_shows_its_text_coloured(shell: Any, objects: dict[str, Any]) -> None:
    data, _ = shell.display_formatter.format(objects["HloModule"])
    assert (
        data["text/plain"].startswith("<HloModule shown")
        and "exponential</span>" in data["text/html"]
    )
