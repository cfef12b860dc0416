"""Programs that do not end, take all memory or call out: every tool ends with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.agents import tools as tools
from xla_explorer.agents.budget import tokens
from xla_explorer.agents.folders import Folders
from xla_explorer.agents.registry import answered
from xla_explorer.agents.workspace import Limits, Workspace

ENDLESS = """HloModule m
body { p = s32[] parameter(0) z = s32[] constant(0) ROOT r = s32[] multiply(p, z) }
cond { p = s32[] parameter(0) z = s32[] constant(1) ROOT r = pred[] compare(p, z), direction=LT }
ENTRY e { x = s32[] constant(0) ROOT r = s32[] while(x), condition=cond, body=body }"""
HUGE = "ENTRY e { x = f32[200000,200000] parameter(0) ROOT r = f32[200000,200000] exponential(x) }"
CONSTANT = "ENTRY e { x = f32[] constant(1) b = f32[300000,300000] broadcast(x), dimensions={} ROOT r = f32[300000,300000] negate(b) }"
CALL = 'ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] custom-call(x), custom_call_target="system" }'


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return Workspace(Folders([tmp_path]), Limits(seconds=3.0, megabytes=2048))


@pytest.mark.long
@pytest.mark.parametrize("text", [ENDLESS, HUGE, CONSTANT, CALL])
def test_a_program_that_cannot_run_ends(work: Workspace, text: str) -> None:
    answered(work, "open", {"text": text})
    for name, arguments in (
        ("values", {"instruction": "%r"}),
        ("same", {"other": "p1"}),
        ("bisect", {}),
    ):
        with pytest.raises(xe.XlaExplorerError) as ended:
            answered(work, name, {"program": "p1", **arguments})
        assert tokens(str(ended.value)) < 400
    assert answered(work, "overview", {"program": "p1"}).startswith("p1")
    assert xe.options.timeout is None and not xe.options.isolate


@pytest.mark.slow
@pytest.mark.jax
@pytest.mark.parametrize("text", [ENDLESS, HUGE, CONSTANT, CALL])
def test_real_xla_ends_too(work: Workspace, text: str) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    answered(work, "open", {"text": text})
    with pytest.raises(xe.XlaExplorerError):
        answered(work, "profile_xla", {"program": "p1"})


@pytest.mark.parametrize("text", ["(" * 100_000, "\0\xff" * 1000, "HloModule", "{}", '"""'])
def test_what_is_no_program(work: Workspace, text: str) -> None:
    with pytest.raises(xe.XlaExplorerError) as refused:
        answered(work, "open", {"text": text})
    assert len(str(refused.value)) < 20_000


def test_a_module_of_too_many_instructions(work: Workspace, tmp_path: Path) -> None:
    lines = "\n".join([f"y{k} = f32[] negate(x)" for k in range(20_001)])
    (tmp_path / "many.hlo").write_text(
        f"ENTRY e {{ x = f32[] parameter(0)\n{lines}\nROOT r = f32[] negate(x) }}"
    )
    with pytest.raises(xe.XlaExplorerError, match="more than 20000"):
        answered(work, "open", {"path": "many.hlo"})


def test_while_a_question_runs_another_waits_and_is_refused(work: Workspace) -> None:
    quick = Workspace(work.folders, Limits(seconds=0.2))
    with quick.lock, pytest.raises(xe.XlaExplorerError, match="still runs"):
        answered(quick, "files", {})
