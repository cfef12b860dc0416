"""The pass viewer and the remarks; each runs LLVM in a child process."""

import pytest

from xla_explorer.backends.llvm.llvm_compiler import LlvmIrError, OptimizationOptions, optimized_ir
from xla_explorer.backends.llvm.llvm_passes import (
    LlvmPassError,
    llvm_pass_trace,
    parse_pass_dump,
    vectorization_remarks,
)
from xla_explorer.backends.llvm.target_machine import describe_target

TARGET = describe_target("x86_64-linux-gnu", "x86-64-v3")


@pytest.fixture(scope="module")
def steps(ir_with_lines):
    second = "define i32 @second(i32 %x) {\n  %a = add i32 %x, 1\n  %b = sub i32 %a, 1\n  ret i32 %b\n}\n"
    return llvm_pass_trace(ir_with_lines + second, TARGET)


def test_every_step_starts_where_the_last_one_ended(steps):
    assert [step.number for step in steps] == list(range(len(steps)))
    current = {}
    for step in steps:
        if not step.function:
            current.clear()
            continue
        key = step.function, step.level
        if key in current:
            assert step.before == current[key], step
        current[key] = step.after
        assert step.changed == (step.before != step.after)


def test_the_vectoriser_and_the_code_generator_are_there(steps):
    (vectorised,) = [step for step in steps if step.name == "LoopVectorizePass" and step.changed]
    assert vectorised.function == "fusion.1" and vectorised.level == "ir"
    assert "x float>" not in vectorised.before and "<8 x float>" in vectorised.after
    machine = [step for step in steps if step.level == "machine" and step.changed]
    assert any("Instruction Selection" in step.name for step in machine)
    assert any(
        "Register Allocator" in step.name or "Register Rewriter" in step.name for step in machine
    )
    assert "VDIVPSYrr" in machine[-1].after or any("VDIVPSY" in step.after for step in machine)
    assert {step.function for step in machine} == {"fusion.1", "second"}


def test_the_subtraction_is_simplified_away(steps):
    last = [step for step in steps if step.function == "second" and step.level == "ir"][-1]
    assert "sub" not in last.after and "ret i32 %x" in last.after
    assert "left alone" in repr(steps[0]) or "changed" in repr(steps[0])


def test_selection_of_functions_and_changes(ir_with_lines):
    found = llvm_pass_trace(
        ir_with_lines, TARGET, functions=["fusion.1"], changed_only=True, machine_passes=False
    )
    assert found and all(step.changed and step.level == "ir" for step in found)


def test_the_parent_prints_nothing(steps, capfd, ir_with_lines):
    optimized_ir(ir_with_lines, TARGET)
    assert capfd.readouterr().err == ""


def test_remarks_have_source_lines(ir_with_lines):
    remarks = vectorization_remarks(ir_with_lines, TARGET)
    (passed,) = [remark for remark in remarks if remark.kind == "passed"]
    assert "vectorization width: 8" in passed.message and passed.pass_name == "loop-vectorize"
    assert passed.file.endswith("module.hlo") and passed.line in (2, 5)


def test_missed_remark(ir_with_lines):
    dependent = ir_with_lines.replace(
        "%pb = getelementptr inbounds float, ptr %b, i64 %i",
        "%k = sub i64 %i, 1\n  %pb = getelementptr inbounds float, ptr %o, i64 %k",
    )
    remarks = vectorization_remarks(dependent, TARGET, passes=["loop-vectorize"])
    assert any(remark.kind in ("missed", "analysis") for remark in remarks)
    assert not any(
        remark.kind == "passed" and remark.message.startswith("vectorized") for remark in remarks
    )


def test_broken_ir_is_the_same_error_as_in_this_process():
    with pytest.raises(LlvmIrError, match="undefined") as caught:
        llvm_pass_trace("define i32 @f() {\n  ret i32 %x\n}\n", TARGET)
    assert caught.value.line == 2 and "undefined" in str(caught.value)


def test_timeout(ir_with_lines):
    with pytest.raises(LlvmPassError, match="did not finish"):
        llvm_pass_trace(ir_with_lines, TARGET, timeout_seconds=0.01)


def test_dump_without_passes(ir_with_lines):
    assert parse_pass_dump("") == []
    options = OptimizationOptions(level=0)
    assert (
        llvm_pass_trace(ir_with_lines, TARGET, options, machine_passes=False, changed_only=True)
        == []
    )
