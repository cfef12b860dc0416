"""Wrong answers to the exercises of notebook 10."""

from __future__ import annotations

from tests.explorer.course.mistakes import mistake, solution, variant

WARP, BLOCK = solution("nb10.warp", "warp_sum"), solution("nb10.block", "block_sum")
mistake("nb10.warp", "wrong-sum")(WARP.replace("%f1, 16, 31", "%f1, 8, 31"))
mistake("nb10.warp", "fault")(WARP.replace("@%p1 bra done;", ""))
mistake("nb10.warp", "fault")(WARP.replace("%r1, 4;", "%r1, 8;"))
mistake("nb10.warp", "form")(WARP.replace("shfl.sync.down.b32 %f2, %f1,", "mov.f32 %f2, %f1; //"))
mistake("nb10.warp", "cannot-be-read")(WARP.replace("ret;\n}", "ret;"))
mistake("nb10.block", "fault")(BLOCK.replace("bar.sync 0;", "bar.warp.sync 0xffffffff;"))
mistake("nb10.block", "fault")(
    BLOCK.replace("setp.ge.u32 %p1, %r3, %r2;", "setp.gt.u32 %p1, %r3, %r2;")
)
mistake("nb10.block", "wrong-sum")(
    BLOCK.replace("add.u32 %r3, %r3, 256;", "add.u32 %r3, %r3, 512;")
)
mistake("nb10.block", "form")(WARP)


mistake("nb10.warp", "no-text")(32)
mistake("nb10.warp", "no-text")(lambda: WARP)
mistake("nb10.warp", "wrong-sum")(
    WARP.replace(
        "  shfl.sync.down.b32 %f2, %f1, 1, 31, 0xffffffff;\n  add.f32 %f1, %f1, %f2;\n", ""
    )
)  # four steps
mistake("nb10.warp", "wrong-sum")(WARP.replace("%f1, 16, 31", "%f1, 32, 31"))  # from 32 on
mistake("nb10.warp", "wrong-sum")(
    WARP.replace("setp.ne.u32 %p1, %r1, 0;", "setp.ne.u32 %p1, %r1, 31;")
)  # the last lane stores
mistake("nb10.warp", "fault")(
    WARP.replace("setp.ne.u32 %p1, %r1, 0;", "setp.eq.u32 %p1, %r1, 32;")
)  # all store
mistake("nb10.warp", "wrong-sum")(WARP.replace("add.f32 %f1, %f1, %f2", "max.f32 %f1, %f1, %f2"))
mistake("nb10.warp", "wrong-sum")(
    WARP.replace("shfl.sync.down", "shfl.sync.up")
)  # the last lane has the sum then
mistake("nb10.warp", "fault")(
    WARP.replace("ld.global.f32 %f1, [%rd1];", "ld.global.f32 %f1, [%rd1+4];")
)  # one too far
mistake("nb10.warp", "fault")(WARP.replace("0xffffffff", "0x0000ffff"))  # half of the lanes
mistake("nb10.warp", "wrong-sum")(
    WARP.replace("add.u64 %rd1, %rd1, %rd3;", "")
)  # all lanes load element 0
mistake("nb10.warp", "cannot-run")(WARP.replace(".reg .f32 %f<4>;", ""))  # not declared
mistake("nb10.warp", "cannot-run")(
    WARP.replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x")
)  # no semicolon
mistake("nb10.block", "too-slow")(BLOCK.replace("add.u32 %r3, %r3, 256;", ""))  # an endless loop
mistake("nb10.block", "wrong-sum")(BLOCK.replace("  bra next;", ""))  # the first 256 elements
mistake("nb10.warp", "cannot-run")(WARP.replace("bra done", "bra end"))  # a label that is not there
mistake("nb10.warp", "cannot-run")(
    WARP.replace("%f1, 16, 31, 0xffffffff", "%f1, 16")
)  # too few operands
mistake("nb10.block", "fault")(
    BLOCK.replace("mul.lo.u32 %r7, %r5, 4;", "mul.lo.u32 %r7, %r5, 8;")
)  # beyond the shared array
mistake("nb10.block", "fault")(
    BLOCK.replace("setp.ge.u32 %p1, %r1, 8;", "setp.ge.u32 %p1, %r1, 32;")
)  # reads 32 sums of 8
mistake("nb10.block", "fault")(
    BLOCK.replace("  @%p2 bra written;", "")
)  # every lane stores its warp's sum
mistake("nb10.block", "fault")(
    BLOCK.replace("and.b32 %r4, %r1, 31;", "and.b32 %r4, %r1, 15;")
)  # two lanes of a warp store
mistake("nb10.block", "unwritten-register")(
    BLOCK.replace("mov.f32 %f1, 0f00000000;", "", 1)
)  # 0 on the emulator, anything on a device
mistake("nb10.block", "form")(BLOCK.replace("bar.sync 0;", ""))
variant("nb10.warp")(WARP.replace("shfl.sync.down", "shfl.sync.bfly"))
variant("nb10.block")(BLOCK.replace("setp.ge.u32 %p3, %r1, 32;", "setp.gt.u32 %p3, %r1, 31;"))
