"""Wrong answers to the exercises of notebook 09."""

from __future__ import annotations

import re

from tests.explorer.course.mistakes import mistake, solution, variant

EMIT, SUM = solution("nb09.emit", "emit"), solution("nb09.sum", "sum_ir")
mistake("nb09.emit", "wrong-value", 3)(
    lambda c: EMIT(c).replace("@llvm.maximum.f32", "@llvm.maxnum.f32")
)
mistake("nb09.emit", "not-written")(
    lambda c: (
        EMIT(c)
        .replace("%next, %n", "%i, %n")
        .replace("icmp slt i64 %i", "icmp slt i64 %more0")
        .replace("%more = icmp", "%more0 = add i64 %i, 2\n  %more = icmp")
    )
)
mistake("nb09.emit", "wrong-value", 3)(
    lambda c: EMIT(c).replace("fsub float %v0, %v1", "fsub float %v1, %v0")
)
mistake("nb09.emit", "outside")(
    lambda c: EMIT(c).replace("icmp slt i64 %next, %n", "icmp sle i64 %next, %n")
)
mistake("nb09.emit", "outside")(
    lambda c: EMIT(c).replace("br i1 %none, label %done, label %loop", "br label %loop")
)
mistake("nb09.emit", "outside")(lambda c: EMIT(c).replace("ptr %out, i64 %i", "ptr %out, i64 %n"))
mistake("nb09.emit", "not-written")(lambda c: EMIT(c).replace("ptr %place\n", "ptr null\n"))
mistake("nb09.emit", "cannot-run")(lambda c: EMIT(c).replace("fneg", "fnegate"))
mistake("nb09.emit", "crashed")(
    lambda c: EMIT(c).replace(
        "getelementptr float, ptr %x", "getelementptr <1000000000 x float>, ptr %x"
    )
)
mistake("nb09.emit", "promises-too-much")(
    lambda c: re.sub(r"= (fmul|fadd) float", r"= \1 contract float", EMIT(c))
)
mistake("nb09.sum", "not-vectorised")(SUM.replace(" reassoc", ""))
mistake("nb09.sum", "promises-too-much")(SUM.replace("reassoc", "fast"))
mistake("nb09.sum", "wrong-sum")(
    SUM.replace(
        "phi float [ 0.0, %entry ], [ %longer, %loop ]\n  %address",
        "phi float [ 1.0, %entry ], [ %longer, %loop ]\n  %address",
    )
)
mistake("nb09.sum", "cannot-run")(SUM.replace("phi i64", "phi i32"))
mistake("nb09.sum", "wrong-sum")(SUM.replace("add i64 %i, 1", "add i64 %i, 2"))
mistake("nb09.sum", "no-text")(3)

LANES, ONES = solution("nb09.lanes", "lanes_ir"), ", ".join(["float 1.0"] * 8)
mistake("nb09.lanes", "alignment")(LANES.replace(", align 4", ""))
mistake("nb09.lanes", "alignment")(LANES.replace(", align 4", ", align 32"))
mistake("nb09.lanes", "no-text")(b"")
mistake("nb09.lanes", "no-vectors")(
    LANES.replace("<8 x float>", "<4 x float>").replace(ONES, ", ".join(["float 1.0"] * 4))
)
mistake("nb09.lanes", "no-vectors")(LANES.replace("load <8 x float>", "load float"))
mistake("nb09.lanes", "outside")(
    LANES.replace("%left = icmp slt i64 %whole, %n", "%left = icmp sle i64 %whole, %n")
)
mistake("nb09.lanes", "outside")(LANES.replace("and i64 %n, -8", "add i64 %n, 0"))
mistake("nb09.lanes", "outside")(LANES.replace("icmp sgt i64 %whole, 0", "icmp sge i64 %whole, 0"))
mistake("nb09.lanes", "outside")(
    LANES.replace("icmp slt i64 %next, %whole", "icmp sle i64 %next, %whole")
)
mistake("nb09.lanes", "cannot-run")(
    LANES.replace("br i1 %left, label %tail, label %done", "br label %done")
)
mistake("nb09.lanes", "not-written")(
    LANES.replace("phi i64 [ %whole, %between ]", "phi i64 [ %last, %between ]").replace(
        "  %left =", "  %last = sub i64 %n, 1\n  %left ="
    )
)
mistake("nb09.lanes", "not-written")(LANES.replace("add i64 %i, 8", "add i64 %i, 16"))
mistake("nb09.lanes", "wrong-value")(LANES.replace("fmul <8", "fadd <8"))
mistake("nb09.lanes", "wrong-value")(
    LANES.replace("fadd float %square1, 1.0", "fadd float %square1, 2.0")
)
mistake("nb09.lanes", "cannot-run")(
    LANES.replace("phi i64 [ 0, %entry ]", "phi i64 [ 0, %between ]")
)

mistake("nb09.emit", "wrong-value")(
    lambda c: EMIT(c).replace("fneg float", "fsub float 0.0,")
)  # -x is not 0 - x for 0
mistake("nb09.emit", "wrong-value")(
    lambda c: EMIT(c).replace("fdiv float %v0, %v1", "fdiv float %v1, %v0")
)
mistake("nb09.emit", "wrong-value")(lambda c: EMIT(c).replace("fmul float", "fadd float"))
mistake("nb09.emit", "wrong-value")(
    lambda c: EMIT(c).replace("ptr %x1, i64 %i", "ptr %x0, i64 %i")
)  # one parameter for all
mistake("nb09.emit", "wrong-value")(
    lambda c: EMIT(c).replace("@llvm.maximum.f32", "@llvm.minimum.f32")
)
mistake("nb09.emit", "not-written")(
    lambda c: EMIT(c).replace("ptr %out, i64 %i", "ptr %out, i64 0")
)  # always the first place
variant("nb09.emit")(
    lambda c: EMIT(c).replace("declare float @llvm.maximum.f32(float, float)", "")
)  # LLVM knows its own functions
mistake("nb09.emit", "cannot-run")(lambda c: EMIT(c).replace("define void", "define float"))
mistake("nb09.emit", "cannot-run")(lambda c: EMIT(c).replace("load float", "load double"))
mistake("nb09.emit", "cannot-run")(lambda c: EMIT(c).replace(", i64 %n)", ")"))
mistake("nb09.emit", "cannot-run")(
    lambda c: (
        EMIT(c)
        .replace("%next, %loop ]", "%i, %loop ]")
        .replace("%next = add i64 %i, 1", "%next = add i64 %next, 1")
    )
)
mistake("nb09.emit", "promises-too-much")(
    lambda c: re.sub(r"= (fmul|fadd|fsub|fdiv) float", r"= \1 fast float", EMIT(c))
)
mistake("nb09.emit", "promises-too-much")(
    lambda c: re.sub(r"= (fmul|fadd|fsub|fdiv) float", r"= \1 nnan float", EMIT(c))
)

mistake("nb09.sum", "wrong-sum")(
    SUM.replace("%result = phi float [ 0.0,", "%result = phi float [ 1.0,")
)  # n = 0
mistake("nb09.sum", "wrong-sum")(
    SUM.replace("[ %longer, %loop ]\n  store", "[ %total, %loop ]\n  store")
)  # the last one is missing
mistake("nb09.sum", "wrong-sum")(
    SUM.replace("fadd reassoc float %total, %x", "fadd reassoc float %x, %x")
)
mistake("nb09.sum", "wrong-sum")(
    SUM.replace("fadd reassoc float %total, %x", "fmul reassoc float %total, %x")
)
mistake("nb09.sum", "wrong-sum")(
    SUM.replace("fadd reassoc float %total, %x", "fsub reassoc float %total, %x")
)
mistake("nb09.sum", "wrong-sum")(SUM.replace("ptr %x0, i64 %i", "ptr %x0, i64 0"))
mistake("nb09.sum", "cannot-run")(
    SUM.replace("%result = phi float [ 0.0, %entry ], [ %longer, %loop ]\n  ", "").replace(
        "%result,", "%longer,"
    )
)
mistake("nb09.sum", "cannot-run")(
    SUM.replace("@sum(ptr %x0, ptr %out, i64 %n)", "@sum(ptr %x0, i64 %n)")
)
mistake("nb09.sum", "cannot-run")(SUM.replace("fadd", "add"))
mistake("nb09.sum", "promises-too-much")(SUM.replace("reassoc", "reassoc nnan"))
mistake("nb09.sum", "promises-too-much")(SUM.replace("reassoc", "reassoc ninf nsz"))
mistake("nb09.sum", "not-vectorised")(SUM.replace(" reassoc", " contract"))
mistake("nb09.sum", "cannot-run")("sum(x0)")
mistake("nb09.sum", "no-text")(lambda n: SUM)
