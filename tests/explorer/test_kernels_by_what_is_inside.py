"""Questions about a kernel by an instruction inside; code without an instruction has no kernel."""

from __future__ import annotations

import pytest

import xla_explorer as xe


@pytest.fixture(scope="module")
def attention() -> xe.Session:
    return xe.compile(xe.example("attention"), threads=1)


def test_loops_and_control_flow_agree_on_the_kernel_of_what_is_inside(
    attention: xe.Session,
) -> None:
    fusions = [i for i in attention.module.entry.instructions.values() if i.opcode.name == "fusion"]
    assert fusions
    for fusion in fusions:
        inside = list(fusion.called[0].instructions.values())[-1]
        assert str(attention.loops(f"%{inside.name}")).startswith(f"kernel @{fusion.name}(")
        assert attention.llvm.control_flow(f"%{inside.name}").kernel == fusion.name


def test_no_line_of_code_belongs_to_a_parameter_of_a_reducer(attention: xe.Session) -> None:
    frame = attention.annotate().relation()
    of_reducers = {
        f"%{i.name}"
        for computation in attention.module.computations.values()
        for caller in computation.instructions.values()
        if caller.opcode.name == "reduce"
        for i in caller.called[0].instructions.values()
        if i.opcode.name == "parameter"
    }
    coded = frame[frame["stage"] != ""]
    assert of_reducers and not coded["instruction"].isin(of_reducers).any() and len(coded) > 100
