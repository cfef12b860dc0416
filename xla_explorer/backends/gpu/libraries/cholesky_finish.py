"""The PTX kernel after a factorisation by cuSOLVER.

It writes zeros to the other triangle, and NaN everywhere if the factorisation failed. It has one
thread for each word of 4 bytes. `ptx` writes the text, which has no HLO.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.architecture import GpuArchitecture

NAME = "finish_cholesky"
BLOCK = 256
# Words of a NaN element, by HLO type: those of f64 are low, high. Only the real part of a complex
# one is NaN.
_NAN_WORDS = {
    "f32": (0x7FC00000,),
    "f64": (0, 0x7FF80000),
    "c64": (0x7FC00000, 0),
    "c128": (0, 0x7FF80000, 0, 0),
}


def words_of(kind: str) -> int:
    """Return the words of one element."""
    return len(_NAN_WORDS[kind])


def blocks_of(kind: str, n: int, batch: int) -> int:
    """Return the blocks of the launch."""
    return -(-n * n * batch * words_of(kind) // BLOCK)


def ptx(architecture: GpuArchitecture, kind: str, n: int, batch: int, lower: bool) -> str:
    """Return the module; its arguments are the addresses of the factors and of their statuses."""
    words, total = words_of(kind), n * n * batch * words_of(kind)
    version = f"{architecture.ptx_version // 10}.{architecture.ptx_version % 10}"
    marked, place = max(
        (word, place) for place, word in enumerate(_NAN_WORDS[kind])
    )  # the only nonzero word
    other = "gt" if lower else "lt"  # column against row: the triangle without values
    return f"""
.version {version}
.target {architecture.name}
.address_size 64

.visible .entry {NAME}(
	.param .u64 .ptr .global .align 16 {NAME}_param_0,
	.param .u64 .ptr .global .align 16 {NAME}_param_1
)
.maxntid {BLOCK}
{{
	.reg .pred %p<5>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;

	ld.param.b64 %rd1, [{NAME}_param_0];
	ld.param.b64 %rd2, [{NAME}_param_1];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.s32 %r3, %r1, {BLOCK}, %r2;
	setp.ge.u32 %p1, %r3, {total};
	@%p1 bra $L_end;
	div.u32 %r4, %r3, {words};
	rem.u32 %r5, %r3, {words};
	div.u32 %r6, %r4, {n * n};
	rem.u32 %r7, %r4, {n * n};
	div.u32 %r8, %r7, {n};
	rem.u32 %r9, %r7, {n};
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.b32 %r10, [%rd4];
	mul.wide.u32 %rd5, %r3, 4;
	add.s64 %rd6, %rd1, %rd5;
	setp.ne.s32 %p2, %r10, 0;
	@%p2 bra $L_failed;
	setp.{other}.u32 %p3, %r9, %r8;
	@!%p3 bra $L_end;
	mov.b32 %r11, 0;
	st.global.b32 [%rd6], %r11;
	bra.uni $L_end;
$L_failed:
	setp.eq.s32 %p4, %r5, {place};
	selp.b32 %r13, {marked}, 0, %p4;
	st.global.b32 [%rd6], %r13;
$L_end:
	ret;
}}
"""
