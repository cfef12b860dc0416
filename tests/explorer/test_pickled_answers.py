"""Sessions and all that they answer pickle: what comes back shows the same, and a session runs."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.code.llvm.llvm_views import Llvm
from xla_explorer.explorer.trace import Passes

TEXT = """HloModule m
ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[4,6] parameter(1)
  d = f32[8,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[8,6] tanh(d)
  ROOT r = f32[8,6] add(t, d)
}
"""
FORBID = [("fusion", "d", "t")]
ARRAYS = xe.random_arguments(TEXT)

SESSION = {
    "annotate": "s.annotate(repeats=1, measure=True)",
    "requested": "s.requested",
    "assembly": "s.assembly()",
    "backend": "s.backend",
    "base": "s.override(forbid=FORBID).base",
    "beside": "s.beside",
    "bisect": "s.bisect(*ARRAYS)",
    "certificate": "s.certificate()",
    "buffers": "s.buffers()",
    "compare": "s.override(forbid=FORBID).compare(repeats=1)",
    "decisions": "s.decisions()",
    "devices": "s.devices",
    "emulation": "s.emulation(*ARRAYS)",
    "error": "s.error",
    "explain": "s.explain(), s.explain('t')",
    "failed_phase": "s.failed_phase",
    "gpu": "s.gpu()",
    "gpu_sessions": "s.gpu_sessions",
    "isolation": "s.isolation",
    "kernels": "s.kernels()",
    "last_emulation": "s.last_emulation",
    "last_profile": "s.last_profile",
    "llvm": "s.llvm",
    "llvm_ir": "s.llvm_ir()",
    "loops": "s.loops(), s.loops('d')",
    "lowering": "s.lowering('d'), s.lowering('d', 0)",
    "module": "s.module, s.module.entry.root",
    "options": "s.options",
    "override": "s.override(forbid=FORBID)",
    "overrides": "s.override(forbid=FORBID).overrides()",
    "passes": "s.passes, s.passes[-1]",
    "place": "s.place(*ARRAYS)",
    "profile": "s.profile(repeats=1), s.profile(repeats=1).by_line()",
    "ptx": "s.ptx()",
    "run_flat": "s.run_flat(list(ARRAYS))",
    "schedule": "s.schedule('d')",
    "seconds": "s.seconds",
    "side_by_side": "s.side_by_side()",
    "signature": "s.signature.result",
    "source": "s.source",
    "stage": "[s.stage(name).data for name in s.stages()], s.stage('assembly')",
    "stages": "dict(s.stages())",
    "time": "s.time(repeats=1)",
    "timeline": "s.timeline()",
    "to_html": "s.to_html()",
    "why_not": "s.why_not('fusion', 'd', 't')",
    "written": "s.written",
}
PASSES = {
    "applicable": "p.applicable('t')",
    "changed": "p.changed",
    "commute": "p.commute('algsimp', 'cse')",
    "costs": "p.costs()",
    "count": "p.count(p[0])",
    "effective": "p.effective()",
    "error": "p.error",
    "errors": "p.errors(*ARRAYS)",
    "find": "p.find('t')",
    "flame": "p.flame()",
    "fusion_edges": "p.fusion_edges(3)",
    "history": "p.history('t')",
    "hot_rules": "p.hot_rules()",
    "isolation": "p.isolation",
    "journal": "p.journal.events",
    "last": "p.last",
    "module": "p.module",
    "named": "p.named('fusion')",
    "opcodes": "p.opcodes()",
    "own_edges": "p.own_edges",
    "pipeline": "p.pipeline",
    "provenance": "p.provenance()",
    "rule_times": "p.rule_times()",
    "search": "p.search('t')",
    "search_order": "p.search_order()",
    "seconds": "p.seconds",
    "to_frame": "p.to_frame(), p[-1].decisions()",
    "value": "p.value('t', *ARRAYS)",
}
LLVM = {
    "control_flow": "s.llvm.control_flow('d')",
    "flame": "s.llvm.flame()",
    "inner_loops": "s.llvm.inner_loops('d')",
    "passes": "s.llvm.passes('d')",
    "remarks": "s.llvm.remarks()",
    "times": "s.llvm.times()",
}
TOP = {
    "compare": "xe.compare(TEXT, *ARRAYS, backends='cpu,interpreter', repeats=1)",
    "fusions": "xe.compare.fusions(TEXT)",
    "graph": "xe.graph(s)",
    "optimize": "xe.optimize(TEXT)",
    "options": "xe.options",
    "structure": "xe.compare.structure(TEXT, TEXT)",
    "signatures": "xe.compare.signatures((ARRAYS[0],), (ARRAYS[1],))",
    "text": "xe.compare.text(TEXT, TEXT)",
}
NO_ANSWERS = {
    *("executable", "result"),  # native code: the session that has it pickles
    *("save", "explore", "source_lines"),
    *("blocks", "callers", "draw_edges", "drawn", "headline", "index", "lineage", "record"),
    *(
        "json_data",
        "records",
        "text_of",
        "to_html",
        "to_json",
        "to_markdown",
        "to_terminal",
        "to_text",
        "try_rule",
        "warm",
    ),
}


def shown(value: Any) -> Any:
    """Return what a user sees of an answer."""
    if isinstance(value, dict):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [shown(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    bundle = getattr(value, "_repr_mimebundle_", None)
    return repr(value) if bundle is None else bundle()


@pytest.fixture(scope="module")
def session() -> xe.Session:
    made = xe.compile(TEXT)
    made.profile(*ARRAYS, repeats=1)
    return made


@pytest.mark.codegen
@pytest.mark.usefixtures("runs_here")
@pytest.mark.filterwarnings("ignore:GPU programs run on the built-in PTX emulator")
@pytest.mark.parametrize(
    "question", [*SESSION.values(), *PASSES.values(), *LLVM.values(), *TOP.values()]
)
def test_answers_pickle(session: xe.Session, question: str) -> None:
    names = {"s": session, "p": session.passes, "xe": xe}
    answer = eval(question, {**globals(), **names})
    again = pickle.loads(pickle.dumps(answer))
    assert shown(again) == shown(answer)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [(xe.Session, SESSION), (Passes, {**PASSES}), (Llvm, LLVM)],
    ids=["Session", "Passes", "Llvm"],
)
def test_every_question_is_asked(kind: type, asked: dict[str, str]) -> None:
    questions = {name for name in dir(kind) if not name.startswith("_")}
    assert questions - asked.keys() - NO_ANSWERS == set()


@pytest.mark.codegen
@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize(
    "options",
    [
        {"backend": "cpu"},
        {"backend": "cpu", "isolate": True},
        {"backend": "cpu", "journal": "off"},
        {"backend": "gpu"},
        {"backend": "interpreter"},
        {"backend": "amdgpu"},
    ],
    ids=lambda o: " ".join([str(value) for value in o.values()]),
)
@pytest.mark.filterwarnings("ignore:GPU programs run on the built-in PTX emulator")
def test_a_session_is_whole_in_another_process(options: dict[str, Any]) -> None:
    session = xe.compile(TEXT, **options)
    again = pickle.loads(pickle.dumps(session))
    assert shown(again) == shown(session)
    assert {name: stage.data for name, stage in again.stages().items()} == {
        name: stage.data for name, stage in session.stages().items()
    }
    assert again.kernels().equals(session.kernels())
    if options["backend"] != "amdgpu":
        np.testing.assert_array_equal(again(*ARRAYS), session(*ARRAYS))


@pytest.mark.jax
@pytest.mark.long
def test_a_session_of_real_xla_pickles() -> None:
    pytest.importorskip("jax")
    session = xe.compile(TEXT, backend="xla")
    again = pickle.loads(pickle.dumps(session))
    assert again.decisions().equals(session.decisions())
    np.testing.assert_array_equal(again(*ARRAYS), session(*ARRAYS))


def test_failed_and_recorded_sessions_pickle(tmp_path: Path) -> None:
    bad = TEXT.replace("tanh(d)", "custom-call(d), custom_call_target='nowhere'").replace("'", '"')
    failed = xe.compile(bad, backend="gpu", keep_errors=True)
    again = pickle.loads(pickle.dumps(failed))
    assert repr(again) == repr(failed) and str(again.error) == str(failed.error)
    (tmp_path / "module_0001.m.before_optimizations.txt").write_text(TEXT)
    (tmp_path / "module_0001.m.cpu_after_optimizations.txt").write_text(TEXT)
    dumped = xe.load(tmp_path)
    session = getattr(dumped, "session", dumped)
    session = session() if callable(session) and not isinstance(session, xe.Session) else session
    assert shown(pickle.loads(pickle.dumps(session))) == shown(session)


@pytest.mark.parametrize("travel", [lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy])
def test_deep_modules_travel(travel: Any) -> None:
    steps = "".join([f"v{k + 1} = f32[] negate(v{k})\n" for k in range(5000)])
    module = xe.parse_hlo(
        f"ENTRY e {{ v0 = f32[] parameter(0)\n{steps} ROOT r = f32[] sine(v5000) }}"
    )
    again = travel(module)
    assert again.to_text() == module.to_text() and again is not module
    root = travel(module.entry.root)
    assert root.name == "r" and root.parent.root is root
    assert travel(module.entry).name == module.entry.name
