"""XLA:CPU's library kernels: their first operations, reasons of refusals, and contents."""

from __future__ import annotations

import pytest

from tests.support.fusion_texts import entry
from xla_explorer.compiler.decisions.xla_library_reasons import LIBRARY
from xla_explorer.compiler.xla_library.plan import LibraryPlan
from xla_explorer.hlo.text.parser import parse_hlo

BIG = "f32[64,256]"


def _dot(
    left: str,
    right: str,
    result: str,
    attributes: str = "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
) -> str:
    return entry(
        f"x = {left} parameter(0)",
        f"y = {right} parameter(1)",
        f"ROOT d = {result} dot(x, y), {attributes}",
    )


def _images(
    labels: str, image: str, kernel: str, result: str, window: str = "size=3x3 pad=1_1x1_1"
) -> str:
    return entry(f"x = {image} parameter(0)", f"k = {kernel} parameter(1)",
                 f"ROOT d = {result} convolution(x, k), window={{{window}}}, dim_labels={labels}")  # fmt: skip


REFUSED = {
    "library-matrix-vector": _dot("f32[512,512]", "f32[512,1]", "f32[512,1]"),
    "library-dot-small": _dot("f32[4,4]", "f32[4,4]", "f32[4,4]"),
    "library-left-transposed": _dot("f32[512,128]", "f32[512,64]", "f32[128,64]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    "library-type": _dot("f16[64,64]", "f16[64,64]", "f16[64,64]"),
    "library-layout": _dot("f32[64,64]{0,1}", "f32[64,64]", "f32[64,64]"),
    "library-array-small": entry("x = f32[8,8] parameter(0)", "z = f32[] constant(0)",
                                 "ROOT d = f32[8] reduce(x, z), dimensions={1}, to_apply=sum"),
    "library-window": entry(f"x = {BIG} parameter(0)", "z = f32[] constant(0)",
                            "ROOT d = f32[63,255] reduce-window(x, z), window={size=2x2}, to_apply=sum"),
    "library-dimensions": entry(f"x = {BIG} parameter(0)", "z = f32[] constant(0)",
                                f"ROOT d = {BIG} reduce(x, z), dimensions={{}}, to_apply=sum"),
    "library-convolution-form": _images("bf01_oi01->bf01", "f32[2,32,8,8]", "f32[32,32,3,3]", "f32[2,32,8,8]"),
    "library-convolution-narrow": _images("b01f_01io->b01f", "f32[2,8,8,16]", "f32[3,3,16,16]", "f32[2,8,8,16]"),
    "library-convolution-grows": _images("b01f_01io->b01f", "f32[2,8,8,32]", "f32[3,3,32,32]", "f32[2,10,10,32]", "size=3x3 pad=2_2x2_2"),
    "library-convolution-dilated": _images("b01f_01io->b01f", "f32[2,8,8,32]", "f32[3,3,32,32]", "f32[2,8,8,32]",
                                           "size=3x3 pad=1_1x1_1 rhs_reversal=1x1"),
}  # fmt: skip


def plan(text: str) -> LibraryPlan:
    return LibraryPlan(parse_hlo(text).entry)


@pytest.mark.parametrize("code", REFUSED)
def test_xla_computes_it_itself(code: str) -> None:
    found = plan(REFUSED[code])
    assert not found.kernels and [(i.name, reason.code) for i, reason in found.refused.items()] == [
        ("d", code)
    ]
    assert code in LIBRARY and "%d" in found.refused[next(iter(found.refused))].message


def test_a_product_is_alone_in_its_kernel() -> None:
    text = entry(
        "x = f32[64,64] parameter(0)",
        "d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "ROOT e = f32[64,64] exponential(d)",
    )
    assert [[i.name for i in kernel.members] for kernel in plan(text).kernels] == [["d"]]


def test_a_reduction_takes_in_what_only_it_reads_and_the_one_that_reads_it() -> None:
    """A reduction absorbs operands that only it reads, and its reader.

    A stable softmax of a product is one kernel: the sum takes the quotient in, then nothing outside
    reads the exponentials any more.
    """
    softmax = [
        "x = f32[64,64] parameter(0)", "d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "s = f32[64,64] multiply(d, d)", "m = f32[] constant(-inf)", "h = f32[64] reduce(s, m), dimensions={1}, to_apply=largest",
        "b = f32[64,64] broadcast(h), dimensions={0}", "t = f32[64,64] subtract(s, b)", "e = f32[64,64] exponential(t)",
        "z = f32[] constant(0)", "n = f32[64] reduce(e, z), dimensions={1}, to_apply=sum", "o = f32[64,64] broadcast(n), dimensions={0}",
    ]  # fmt: skip
    (one,) = plan(entry(*softmax, "ROOT r = f32[64,64] divide(e, o)")).kernels
    assert (one.start.name, one.root.name, {i.name for i in one.members}) == (
        "n",
        "r",
        set("dsmhbteznor"),
    )
    found = plan(entry(*softmax, "c = f32[64,64] cosine(e)", "ROOT r = f32[64,64] atan2(c, o)"))
    assert [(kernel.start.name, {i.name for i in kernel.members}) for kernel in found.kernels] == [
        ("n", set("zno")),
        ("h", set("mhbtesd")),
    ]
    outside = {
        (one.instruction.name, one.kernel.start.name): one.reason.code for one in found.outside
    }
    assert outside == {("e", "n"): "library-other-readers", ("r", "n"): "library-lacks-operation",
                       ("c", "h"): "library-several-readers", ("n", "h"): "library-several-readers"}  # fmt: skip


def test_neighbouring_kernels_of_reductions_become_one() -> None:
    text = entry(
        "x = f32[64,32,32] parameter(0)",
        "z = f32[] constant(0)",
        "w = f32[] constant(0)",
        "a = f32[64,32] reduce(x, z), dimensions={2}, to_apply=sum",
        "n = f32[64,32] negate(a)",
        "d = f32[64,64] dot(n, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "ROOT r = f32[64,64] abs(d)",
    )
    assert [[i.name for i in kernel.members] for kernel in plan(text).kernels] == [
        ["d"],
        ["a", "z"],
    ]
