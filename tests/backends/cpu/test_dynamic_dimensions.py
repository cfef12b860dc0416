"""Arrays whose size is known only at run time: the module runs on the evaluator, and says so."""

import numpy as np

import xla_explorer as xe

TEXT = """HloModule m
add { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
ENTRY e { x = s32[5] parameter(0)
 n = s32[] parameter(1)
 d = s32[<=5] set-dimension-size(x, n), dimensions={0}
 z = s32[] constant(0)
 ROOT r = s32[] reduce(d, z), dimensions={0}, to_apply=add }"""


def test_the_whole_module_runs_on_the_evaluator_and_the_reason_is_told():
    session = xe.compile(TEXT, cache=False)
    assert session(np.arange(5, dtype=np.int32), np.int32(3)) == 3
    rows = session.decisions(kind="native-code").to_dict("records")
    assert {row["code"] for row in rows} == {"dynamic-dimension"} and "s32[<=5]" in rows[0]["message"]
    assert all(step.runs_on == "evaluator" for step in session.executable.steps)
