"""Warp by warp through a kernel: what runs, what the registers hold, where warps wait."""

import numpy as np
import pytest

from tests.backends.gpu.emulator.ptx_kernels import COLLATZ, ROW_SUM
from xla_explorer.backends.gpu.emulator import EmulatedKernel, GlobalMemory, WarpStepper, parse_ptx
from xla_explorer.foundation.diagnostic import XlaExplorerError


def prepared(text, arrays, scalars):
    device = GlobalMemory()
    module = parse_ptx(text)
    addresses = []
    for array in arrays:
        addresses.append(device.allocate(array.nbytes))
        device.write(addresses[-1], array.reshape(-1).view(np.uint8))
    return (
        device,
        EmulatedKernel(module, next(iter(module.kernels.values())), device),
        [*addresses, *scalars],
    )


def test_a_divergent_loop():
    starts = np.arange(1, 33, dtype=np.uint32)
    device, kernel, arguments = prepared(COLLATZ, [starts, np.zeros(32, np.uint32)], [])
    stepper = WarpStepper(kernel, 1, 32, arguments)
    assert stepper.next(0).opcode == "ld.param.u64" and stepper.step().opcode == "ld.param.u64"
    with pytest.raises(KeyError):
        stepper.register(0, "%nothing")
    line = next(i.line for i in kernel.code.kernel.instructions if i.opcode == "setp.eq.s32")
    reached = stepper.run_to_line(line, 0)
    assert reached is not None and reached.opcode == "setp.eq.s32"
    assert stepper.register(0, "%r2").tolist() == starts.tolist() and stepper.active(0).all()
    active = []
    while stepper.runnable:
        active.append(int(stepper.active(0).sum()))
        stepper.step(0)
    assert min(active) == 1 and stepper.findings == []
    frame = stepper.to_frame(0)
    assert (
        len(frame) == 32
        and frame["%r3"].tolist() == device.read(arguments[1], 128).view(np.uint32).tolist()
    )
    assert stepper.step() is None


def test_warps_wait_for_each_other_at_a_barrier():
    x = np.ones((1, 256), np.float32)
    device, kernel, arguments = prepared(ROW_SUM, [x, np.zeros(1, np.float32)], [256])
    stepper = WarpStepper(kernel, 1, 256, arguments)
    while 0 in stepper.runnable:
        stepper.step(0)
    assert stepper.runnable == list(range(1, 8))
    with pytest.raises(XlaExplorerError, match="warp 0 waits"):
        stepper.step(0)
    shared = stepper.batch.spaces["shared"].octets.view(np.float32)
    assert shared[0] == 32 and shared[1] == 0
    while stepper.step() is not None:
        pass
    assert device.read(arguments[1], 4).view(np.float32)[0] == 256 and stepper.findings == []


APART = """.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
.maxntid 64
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra SIDE;
  bar.sync 1, 64;
  bra END;
SIDE:
  bar.sync 2, 64;
END:
  ret;
}
"""


def test_warps_that_wait_in_vain_are_findings():
    _, kernel, arguments = prepared(APART, [np.zeros(1, np.float32)], [])
    stepper = WarpStepper(kernel, 1, 64, arguments)
    while stepper.step() is not None:
        assert stepper.findings == []
    assert [finding.kind for finding in stepper.findings] == [
        "barrier that is never complete"
    ] * 2 and stepper.step() is None
    assert [stepper.waits_for(warp) for warp in (0, 1)] == [
        "at barrier 2, PTX line 15",
        "at barrier 1, PTX line 12",
    ]
