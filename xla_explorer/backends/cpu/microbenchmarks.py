"""LLVM IR of the loops that measure a machine.

Triads (a = b + s * c) measure bandwidth, independent multiply-adds in registers the arithmetic
peak.
"""

from __future__ import annotations

from typing import Final

from xla_explorer.backends.llvm.target_machine import TargetDescription

# Enough independent sums to fill two pipes of latency 4 to 5; few enough for 16 registers.
ACCUMULATORS: Final = 12


def microbenchmark_ir(host: TargetDescription) -> str:
    """Return the module with `triad`, `multiply_add_f32` and `multiply_add_f64` for a machine."""
    return _TRIAD + "".join(
        multiply_add_ir(name, element, max(1, host.vector_register_bits // bits), host.has_fma)
        for name, element, bits in (
            ("multiply_add_f32", "float", 32),
            ("multiply_add_f64", "double", 64),
        )
    )


def _triad_step(kind: str, factor: str, align: int, how: str = "") -> str:
    """Return a = b + 3 * c for the element or the vector at %i. how: suffix of the store."""
    return f"""  %pa = getelementptr inbounds float, ptr %a, i64 %i
  %pb = getelementptr inbounds float, ptr %b, i64 %i
  %pc = getelementptr inbounds float, ptr %c, i64 %i
  %x = load {kind}, ptr %pb, align {align}
  %y = load {kind}, ptr %pc, align {align}
  %t = fmul contract {kind} %y, {factor}
  %s = fadd contract {kind} %t, %x
  store {kind} %s, ptr %pa, align {align}{how}
"""


_TRIAD: Final = (
    """
define void @triad(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
"""
    + _triad_step("float", "3.0", 4)
    + """  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
"""
)


# A triad with whole cache lines and non-temporal stores, which prefetches a page (4 KB) of each
# operand before it is read. It is the fastest of some forty loops in C with intrinsics (prefetch
# distances, unrolling, tiles in cache, other block sizes). Without the prefetch the two streams
# have 0.7 to 0.95 of its bandwidth, depending on the addresses. %n is a multiple of 1024.
STREAMING_TRIAD: Final = (
    """
define void @streaming_triad(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) nounwind {
entry:
  br label %page
page:
  %start = phi i64 [0, %entry], [%following, %page.end]
  %following = add nuw nsw i64 %start, 1024
  br label %prefetch.b
prefetch.b:
  %j = phi i64 [%start, %page], [%j.next, %prefetch.b]
  %b.line = getelementptr inbounds float, ptr %b, i64 %j
  call void @llvm.prefetch.p0(ptr %b.line, i32 0, i32 3, i32 1)
  %j.next = add nuw nsw i64 %j, 16
  %j.more = icmp slt i64 %j.next, %following
  br i1 %j.more, label %prefetch.b, label %prefetch.c
prefetch.c:
  %k = phi i64 [%start, %prefetch.b], [%k.next, %prefetch.c]
  %c.line = getelementptr inbounds float, ptr %c, i64 %k
  call void @llvm.prefetch.p0(ptr %c.line, i32 0, i32 3, i32 1)
  %k.next = add nuw nsw i64 %k, 16
  %k.more = icmp slt i64 %k.next, %following
  br i1 %k.more, label %prefetch.c, label %loop
loop:
  %i = phi i64 [%start, %prefetch.c], [%next, %loop]
"""
    + _triad_step("<16 x float>", "splat (float 3.0)", 64, ", !nontemporal !0")
    + """  %next = add nuw nsw i64 %i, 16
  %more = icmp slt i64 %next, %following
  br i1 %more, label %loop, label %page.end
page.end:
  %pages = icmp slt i64 %following, %n
  br i1 %pages, label %page, label %exit
exit:
  call void @llvm.x86.sse.sfence()
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.x86.sse.sfence()
!0 = !{i32 1}
"""
)


def multiply_add_ir(name: str, element: str, lanes: int, has_fma: bool) -> str:
    """Return a loop of independent multiply-adds in registers.

    The sum of all is returned so that none is removed.
    """
    vector = f"<{lanes} x {element}>"
    suffix = f"v{lanes}f{32 if element == 'float' else 64}"
    intrinsic = f"@llvm.fma.{suffix}"
    # Factors come from a volatile load: a constant loop would be computed at compile time.
    lines = [
        f"define double @{name}(i64 %n) nounwind {{",
        "entry:",
        f"  %slot = alloca {vector}, align 64",
        f"  store volatile {vector} zeroinitializer, ptr %slot, align 64",
        f"  %f = load volatile {vector}, ptr %slot, align 64",
        f"  %g = load volatile {vector}, ptr %slot, align 64",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [0, %entry], [%next, %loop]",
    ]
    lines += [f"  %a{k} = phi {vector} [%g, %entry], [%b{k}, %loop]" for k in range(ACCUMULATORS)]
    for k in range(ACCUMULATORS):
        if has_fma:
            lines.append(
                f"  %b{k} = call {vector} {intrinsic}({vector} %a{k}, {vector} %f, {vector} %g)"
            )
        else:
            lines += [f"  %m{k} = fmul {vector} %a{k}, %f", f"  %b{k} = fadd {vector} %m{k}, %g"]
    lines += [
        "  %next = add nuw nsw i64 %i, 1",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %exit",
        "exit:",
    ]
    total = "%b0"
    for k in range(1, ACCUMULATORS):
        lines.append(f"  %s{k} = fadd {vector} {total}, %b{k}")
        total = f"%s{k}"
    lines += [
        f"  %one = extractelement {vector} {total}, i32 0",
        f"  %r = fpext {element} %one to double"
        if element == "float"
        else "  %r = fadd double %one, 0.0",
        "  ret double %r",
        "}",
    ]
    if has_fma:
        lines.append(f"declare {vector} {intrinsic}({vector}, {vector}, {vector})")
    return "\n".join(lines) + "\n"
