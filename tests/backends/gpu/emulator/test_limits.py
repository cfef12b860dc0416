"""A kernel that does not end is stopped, with its name and its line."""

from __future__ import annotations

import time

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    EmulatorLimitError,
    GlobalMemory,
    LaunchOptions,
    WarpStepper,
    parse_ptx,
)
from xla_explorer.backends.gpu.emulator.ptx_text import PtxSyntaxError
from xla_explorer.course.ptx_run import run_ptx

ENDLESS = """.version 7.8
.target sm_80
.address_size 64
.visible .entry endless(.param .u64 out) {
  .reg .u32 %r<4>;
  .reg .pred %p;
  mov.u32 %r1, 0;
  mov.u32 %r2, %tid.x;
LOOP:
  setp.lt.u32 %p, %r1, 5;
  BODY
  @%p bra LOOP;
  ret;
}
"""
LONG_LOOP = """HloModule m
body {
  p = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[64] get-tuple-element(p), index=1
  y = f32[64] add(x, x)
  ROOT t = (s32[], f32[64]) tuple(j, y)
}
test {
  p = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(100000000)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  z = s32[] parameter(0)
  x = f32[64] parameter(1)
  t = (s32[], f32[64]) tuple(z, x)
  ROOT w = (s32[], f32[64]) while(t), condition=test, body=body
}
"""
BODIES = {
    "all lanes": "add.u32 %r3, %r1, 1;",
    "some lanes": "setp.lt.u32 %p, %r2, 7;",
    "with a barrier": "bar.sync 0;",
}


def kernel(body: str) -> EmulatedKernel:
    module = parse_ptx(ENDLESS.replace("BODY", body))
    return EmulatedKernel(module, module.kernels["endless"], GlobalMemory())


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_budget_names_kernel_and_line(body: str) -> None:
    with pytest.raises(
        EmulatorLimitError,
        match=r"kernel endless has executed 10,000 instructions.*PTX line 1[0-2]",
    ) as caught:
        kernel(body).launch(1, 64, [0], LaunchOptions(instructions=10_000))
    assert caught.value.kernel == "endless" and 10 <= caught.value.line <= 12
    assert "emulated_instructions" in caught.value.hint


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_timeout_of_the_options_holds(body: str) -> None:
    started = time.process_time()
    with (
        xe.options.set(timeout=0.2),
        pytest.raises(
            EmulatorLimitError, match=r"endless was still running on the emulator after 0\.2 s"
        ),
    ):
        kernel(body).launch(1, 64, [0])
    assert time.process_time() - started < 10


def test_the_option_is_the_default_budget() -> None:
    with (
        xe.options.set(emulated_instructions=500),
        pytest.raises(EmulatorLimitError, match="executed 500 "),
    ):
        kernel(BODIES["all lanes"]).launch(1, 32, [0])
    for wrong in (0, -1, "many", None):
        with pytest.raises(xe.XlaExplorerError, match="instructions above zero"):
            xe.options.emulated_instructions = wrong


def test_stepping_ends_too() -> None:
    stepper = WarpStepper(kernel(BODIES["all lanes"]), 1, 32, [0])
    with xe.options.set(emulated_instructions=300), pytest.raises(EmulatorLimitError):
        stepper.run_to_line(13, 0)


def test_a_student_need_not_wait() -> None:
    with pytest.raises(EmulatorLimitError, match="kernel endless"):
        run_ptx(
            ENDLESS.replace("BODY", BODIES["all lanes"]).replace(
                ".param .u64 out", ".param .u64 a, .param .u64 out"
            ),
            np.zeros(4),
            outputs=4,
        )


def test_a_program_has_one_deadline() -> None:
    """Not each of its launches."""
    session = xe.compile(LONG_LOOP, backend="gpu")
    if not session.executable.executor.facts.emulated:
        pytest.skip("a device runs it")
    with xe.options.set(timeout=0.5), pytest.raises(EmulatorLimitError, match="still running"):
        session(0, np.zeros(64, np.float32))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mov.u32 %r1, 0;", "mov.u32 %r1, 0"),  # no semicolon: two instructions are read as one
        ("mov.u32 %r1, 0;", "mov.u32 %r1;"),
        ("bra LOOP", "bra POOL"),
        ("setp.lt.u32 %p, %r1, 5;", "setp.lt.u32 %p, %r1;"),
    ],
)
def test_an_instruction_that_cannot_be_read_is_named_with_its_line(old: str, new: str) -> None:
    text = ENDLESS.replace("BODY", "").replace(old, new)
    module = parse_ptx(text)
    with pytest.raises(PtxSyntaxError, match=r"PTX line \d+: cannot read"):
        EmulatedKernel(module, module.kernels["endless"], GlobalMemory())
