"""Hand-written PTX kernels with a code generator's idioms, and a way to emulate them."""

from __future__ import annotations

import numpy as np

from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)

HEAD = ".version 8.3\n.target sm_80\n.address_size 64\n"

# A block sums a row: a strided loop, a shuffle tree, partial sums through shared memory.
ROW_SUM = (
    HEAD
    + """
.visible .entry row_sum(.param .u64 x, .param .u64 out, .param .u32 n)
.maxntid 256
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 partial[32];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r3, [n];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.s32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r5, %r1;
LOOP:
  setp.ge.s32 %p1, %r5, %r3;
  @%p1 bra DONE;
  ld.global.f32 %f2, [%rd4];
  add.f32 %f1, %f1, %f2;
  add.s32 %r5, %r5, 256;
  add.s64 %rd4, %rd4, 1024;
  bra LOOP;
DONE:
  shfl.sync.down.b32 %f3, %f1, 16, 31, 0xffffffff;
  add.f32 %f4, %f1, %f3;
  shfl.sync.down.b32 %f5, %f4, 8, 31, 0xffffffff;
  add.f32 %f6, %f4, %f5;
  shfl.sync.down.b32 %f7, %f6, 4, 31, 0xffffffff;
  add.f32 %f8, %f6, %f7;
  shfl.sync.down.b32 %f9, %f8, 2, 31, 0xffffffff;
  add.f32 %f10, %f8, %f9;
  shfl.sync.down.b32 %f11, %f10, 1, 31, 0xffffffff;
  add.f32 %f12, %f10, %f11;
  and.b32 %r6, %r1, 31;
  setp.ne.s32 %p2, %r6, 0;
  @%p2 bra MEET;
  shr.u32 %r7, %r1, 5;
  shl.b32 %r8, %r7, 2;
  mov.u32 %r9, partial;
  add.s32 %r10, %r9, %r8;
  st.shared.f32 [%r10], %f12;
MEET:
  bar.sync 0;
  setp.ne.s32 %p3, %r1, 0;
  @%p3 bra END;
  ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [partial];
  ld.shared.v4.f32 {%f5, %f6, %f7, %f8}, [partial+16];
  add.f32 %f1, %f1, %f2;
  add.f32 %f3, %f3, %f4;
  add.f32 %f5, %f5, %f6;
  add.f32 %f7, %f7, %f8;
  add.f32 %f1, %f1, %f3;
  add.f32 %f5, %f5, %f7;
  add.f32 %f1, %f1, %f5;
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f1;
END:
  ret;
}
"""
).replace(".align 4 .b8 partial", ".align 16 .b8 partial")

# A block of 32 x 8 threads transposes a 32 x 32 tile; PITCH floats a row of the tile.
TRANSPOSE = (
    HEAD
    + """
.visible .entry transpose(.param .u64 x, .param .u64 out, .param .u32 n)
.maxntid 256
{
  .reg .b32 %r<32>;
  .reg .pred %p<2>;
  .reg .f32 %f<2>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[4224];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %tid.y;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r20, tile;
  mov.u32 %r6, 0;
READ:
  add.s32 %r7, %r3, %r6;
  mad.lo.s32 %r8, %r5, 32, %r7;
  mad.lo.s32 %r9, %r4, 32, %r2;
  mad.lo.s32 %r10, %r8, %r1, %r9;
  mul.wide.s32 %rd3, %r10, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  mad.lo.s32 %r11, %r7, PITCH, %r2;
  shl.b32 %r12, %r11, 2;
  add.s32 %r13, %r20, %r12;
  st.shared.f32 [%r13], %f1;
  add.s32 %r6, %r6, 8;
  setp.lt.s32 %p1, %r6, 32;
  @%p1 bra READ;
  bar.sync 0;
  mov.u32 %r6, 0;
WRITE:
  add.s32 %r7, %r3, %r6;
  mad.lo.s32 %r8, %r4, 32, %r7;
  mad.lo.s32 %r9, %r5, 32, %r2;
  mad.lo.s32 %r10, %r8, %r1, %r9;
  mul.wide.s32 %rd3, %r10, 4;
  add.s64 %rd4, %rd2, %rd3;
  mad.lo.s32 %r11, %r2, PITCH, %r7;
  shl.b32 %r12, %r11, 2;
  add.s32 %r13, %r20, %r12;
  ld.shared.f32 %f1, [%r13];
  st.global.f32 [%rd4], %f1;
  add.s32 %r6, %r6, 8;
  setp.lt.s32 %p1, %r6, 32;
  @%p1 bra WRITE;
  ret;
}
"""
)

# out[k] = 2 x[k STRIDE] for k < n.
DOUBLE = (
    HEAD
    + """
.visible .entry double(.param .u64 x, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<8>;
  .loc 1 7 0
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra END;
  mul.wide.s32 %rd3, %r5, 4;
  mul.lo.s64 %rd4, %rd3, STRIDE;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd3;
  .loc 1 9 0
  ld.global.f32 %f1, [%rd5];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd6], %f2;
END:
  ret;
}
"""
)

# Steps of the Collatz sequence from each start: a loop that every lane leaves at another time.
COLLATZ = (
    HEAD
    + """
.visible .entry collatz(.param .u64 x, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, 0;
LOOP:
  setp.eq.s32 %p1, %r2, 1;
  @%p1 bra DONE;
  and.b32 %r4, %r2, 1;
  setp.eq.s32 %p2, %r4, 0;
  @%p2 bra EVEN;
  mad.lo.s32 %r2, %r2, 3, 1;
  bra NEXT;
EVEN:
  shr.u32 %r2, %r2, 1;
NEXT:
  add.s32 %r3, %r3, 1;
  bra LOOP;
DONE:
  st.global.u32 [%rd5], %r3;
  ret;
}
"""
)


def launch(text, grid, block, arguments, options=None, name=None):
    """Run a kernel of a text.

    arguments: arrays (copied to the device and back), `Unwritten` ones, and numbers.
    """
    module = parse_ptx(text)
    device = GlobalMemory()
    kernel = EmulatedKernel(
        module, module.kernels[name] if name else next(iter(module.kernels.values())), device
    )
    given, arrays = [], []
    for number, value in enumerate(arguments):
        unwritten = isinstance(value, Unwritten)
        array = value.array if unwritten else value
        if not isinstance(array, np.ndarray):
            given.append(array)
            continue
        address = device.allocate(array.nbytes, f"argument {number}")
        if not unwritten:
            device.write(address, np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        given.append(address)
        arrays.append((array, address))
    result = kernel.launch(
        grid, block, given, options or LaunchOptions(counters=True, global_races=True)
    )
    for array, address in arrays:
        array.reshape(-1).view(np.uint8)[:] = device.read(address, array.nbytes)
    return result, kernel


class Unwritten:
    """An argument with unwritten bytes."""

    def __init__(self, array):
        self.array = array


def one_instruction(body, registers, inputs, result_bits, count):
    """Return a kernel that computes one thing per thread.

    inputs: PTX types, loaded into %a0, %a1 ...; body stores into %d.
    """
    parameters = ", ".join([f".param .u64 p{k}" for k in range(len(inputs) + 1)])
    lines = [
        f".visible .entry one({parameters})",
        "{",
        ".reg .b32 %t<2>;",
        ".reg .b64 %q<40>;",
        ".reg .pred %p<4>;",
        *registers,
    ]
    lines.append("mov.u32 %t1, %tid.x;")
    for k, kind in enumerate(inputs):
        bits = int("".join(c for c in kind if c.isdigit()) if kind != "pred" else 8)
        lines += [f".reg .b{max(bits, 16)} %a{k};", f"ld.param.u64 %q{3 * k + 1}, [p{k}];"]
        lines += [
            f"mul.wide.u32 %q{3 * k + 2}, %t1, {bits // 8};",
            f"add.s64 %q{3 * k + 3}, %q{3 * k + 1}, %q{3 * k + 2};",
        ]
        lines.append(f"ld.global.b{bits} %a{k}, [%q{3 * k + 3}];")
    k = len(inputs)
    lines += [
        f".reg .b{max(result_bits, 16)} %d;",
        body,
        f"ld.param.u64 %q37, [p{k}];",
        f"mul.wide.u32 %q38, %t1, {result_bits // 8};",
    ]
    lines += ["add.s64 %q39, %q37, %q38;", f"st.global.b{result_bits} [%q39], %d;", "ret;", "}"]
    return HEAD + "\n".join(lines)
