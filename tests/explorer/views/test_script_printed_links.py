"""Operands and users, as the script reads them in a module's text, are the module's."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.explorer.views.asset_script import AssetScript
from tests.support.dag import dag_text
from xla_explorer.explorer.page.json_data import text_lines

ALL_LINKS = """
const allLinks = text => text.filter(line => line[1] !== null).map(([, id]) => {
  const { operands, users } = printedLinks(text, id);
  return [id, operands.map(one => [one.id, one.name]), users.map(one => [one.id, one.name])];
});
"""

CALLS = """HloModule calls

same_names.1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

same_names.2 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(b, a)
}

ENTRY e {
  a = (f32[2,2], (s32[], f32[2])) parameter(0)
  b = f32[2,2] get-tuple-element(a), index=0
  table = f32[2,2] constant({ { 1, 2 }, { 3, 4 } })
  zero = f32[] constant(0)
  twice = f32[2,2] multiply(b, b)
  scaled = f32[2,2] multiply(twice, table), control-predecessors={zero}, metadata={op_name="of(%b)"}
  c = f32[2] reduce(scaled, zero), dimensions={0}, to_apply=same_names.1
  d = f32[2] reduce(scaled, zero), dimensions={1}, to_apply=same_names.2
  ROOT r = (f32[2], f32[2]) tuple(c, d)
}
"""


@pytest.fixture(scope="module")
def script() -> AssetScript:
    return AssetScript(ALL_LINKS)


@pytest.mark.parametrize(
    "given", [CALLS, dag_text(60, 3), xe.example("attention")], ids=["calls", "dag", "attention"]
)
def test_links_of_every_instruction_at_every_step(
    script: AssetScript, given: str | xe.HloModule
) -> None:
    for step in xe.compile(given, threads=1).passes:
        if step.number and not step.changed:
            continue
        shown = {
            key: (operands, users)
            for key, operands, users in script.call("allLinks", text_lines(step.lines))
        }
        for i in step.module.instructions():
            operands, users = shown[i.id]
            assert [tuple(one) for one in operands] == [
                (o.id, o.name) for o in dict.fromkeys(i.operands)
            ]
            assert sorted(key for key, _ in users) == sorted({u.id for u in i.users})
