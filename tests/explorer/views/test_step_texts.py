"""A step's text reuses the lines of the step before and equals a fresh print of the module."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import xla_explorer as xe
from tests.support.dag import dag_text
from xla_explorer.explorer.sessions.step_texts import StepTexts
from xla_explorer.hlo.module import HloModule, ModuleSnapshot
from xla_explorer.hlo.shape import parse_shape

WHILE = """
HloModule m, entry_computation_layout={(f32[4]{0}, s32[])->f32[4]{0}}
cond { s = (f32[4], s32[]) parameter(0) n = s32[] get-tuple-element(s), index=1 ten = s32[] constant(10) ROOT c = pred[] compare(n, ten), direction=LT }
body {
  s = (f32[4], s32[]) parameter(0) x = f32[4] get-tuple-element(s), index=0 n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1) m = s32[] add(n, one) y = f32[4] tanh(x) ROOT r = (f32[4], s32[]) tuple(y, m)
}
ENTRY main {
  x = f32[4] parameter(0) n = s32[] parameter(1) t = (f32[4], s32[]) tuple(x, n)
  early = f32[4] negate(x)
  w = (f32[4], s32[]) while(t), condition=cond, body=body, control-predecessors={early} ROOT r = f32[4] get-tuple-element(w), index=0
}
"""
ASYNC = """
HloModule m
ENTRY main { x = f32[4] parameter(0) s = ((f32[4]), f32[4], s32[]) negate-start(x) ROOT d = f32[4] negate-done(s) }
"""
TABLE = (
    "HloModule m\nENTRY main { c = f32[40,40] constant({"
    + ", ".join(["{" + ", ".join(["1.5"] * 40) + "}"] * 40)
    + "}) ROOT r = f32[40,40] negate(c) }"
)


def _whole(snapshot: ModuleSnapshot) -> str:
    return HloModule.from_snapshot(snapshot).to_text()


@pytest.mark.parametrize(
    "text",
    [WHILE, ASYNC, TABLE, dag_text(300)],
    ids=["while", "asynchronous", "long-constant", "dag"],
)
def test_the_text_of_each_step_is_the_printers(text: str) -> None:
    texts, passes = StepTexts(), xe.optimize(text).passes
    for step in (*passes, *passes[::-1]):
        lines = texts.lines(step.snapshot)
        assert "\n".join([line for line, _ in lines]) == _whole(step.snapshot)
        printed = [key for _, key in lines if key is not None]
        assert len(printed) == len(set(printed)) and set(printed) <= {
            r.id for r in step.snapshot.records()
        }


def test_what_a_step_did_not_change_stays_the_same_line() -> None:
    texts, kept = StepTexts(), []
    before: list[tuple[str, int | None]] = []
    for step in xe.optimize(dag_text(300)).passes:
        after = texts.lines(step.snapshot)
        kept.append(len(set(map(id, before)) & set(map(id, after))))
        before = after
    assert max(kept) > 200, "no two texts share their lines"


def _set_called(module: HloModule) -> None:
    loop = module.find("w")
    loop.parent.set_called(loop, (loop.called[0], loop.called[1].clone("body_too")))


CHANGES: dict[str, Callable[[HloModule], None]] = {
    "name of an operand": lambda m: m.entry.set_name(m.find("t"), "both"),
    "name inside of a loop": lambda m: m.find("one").parent.set_name(m.find("one"), "first"),
    "name of a control predecessor": lambda m: m.entry.set_name(m.find("early"), "sooner"),
    "root": lambda m: m.entry.set_root(m.find("early")),
    "computation that is called": _set_called,
    "schedule": lambda m: m.entry.set_schedule(m.entry.post_order()),
    "another schedule": lambda m: m.entry.set_schedule(
        [*m.entry.post_order()[1::-1], *m.entry.post_order()[2:]]
    ),
    "shape": lambda m: m.entry.set_shape(m.find("early"), parse_shape("f32[4]{0:T(128)}")),
    "what is gone": lambda m: m.entry.remove(m.entry.add("negate", operands=[m.find("x")])),
    "header": lambda m: m.attributes.update(frontend_attributes="{a=b}"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_one_change_of_a_module_changes_what_names_it(change: str) -> None:
    texts, module = StepTexts(), xe.parse_hlo(WHILE)
    if change == "another schedule":
        module.entry.set_schedule(module.entry.post_order())
    assert "\n".join([line for line, _ in texts.lines(module.snapshot())]) == module.to_text()
    CHANGES[change](module)
    assert "\n".join([line for line, _ in texts.lines(module.snapshot())]) == module.to_text()
