"""Updates in place while the old value is still read: scatters, loops in diamonds, fusions."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
SCATTER = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"
GATHER = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
BEGIN = " x = f32[8] parameter(0)\n i = s32[6,1] parameter(1)\n u = f32[6] parameter(2)\n"
DIAMONDS = {
    "slices of before and after": f" s = f32[8] scatter(x, i, u), {SCATTER}\n a = f32[4] slice(x), slice={{[0:4]}}\n"
    " b = f32[4] slice(s), slice={[0:4]}\n ROOT r = f32[4] add(a, b)",
    "all of them are results": f" y = f32[8] add(x, x)\n s = f32[8] scatter(y, i, u), {SCATTER}\n a = f32[4] slice(y), slice={{[0:4]}}\n"
    " b = f32[4] slice(s), slice={[0:4]}\n m = f32[4] multiply(a, b)\n ROOT r = (f32[4], f32[8], f32[8]) tuple(m, y, s)",
    "twice": f" s = f32[8] scatter(x, i, u), {SCATTER}\n t = f32[8] scatter(s, i, u), {SCATTER}\n a = f32[8] subtract(t, s)\n"
    " b = f32[8] add(a, x)\n ROOT r = (f32[8], f32[8]) tuple(b, s)",
    "its own elements": f" a = f32[6] gather(x, i), {GATHER}\n s = f32[8] scatter(x, i, a), {SCATTER}\n g = f32[6] gather(s, i), {GATHER}\n"
    " ROOT r = (f32[6], f32[6], f32[8]) tuple(a, g, s)",
}


@pytest.mark.parametrize("name", DIAMONDS)
@pytest.mark.parametrize("fused", [False, True])
def test_a_scatter_whose_operand_is_read_again(name, fused):
    body, inputs = (
        BEGIN + DIAMONDS[name],
        (
            np.arange(8, dtype=np.float32),
            np.array([[0], [3], [3], [7], [1], [0]], np.int32),
            np.ones(6, np.float32),
        ),
    )
    root = body.rsplit("ROOT r = ", 1)[1]
    shape = root[: root.index(")") + 1] if root.startswith("(") else root.split(" ")[0]
    entry = f"ENTRY e {{\n{BEGIN} ROOT f = {shape} fusion(x, i, u), kind=kLoop, calls=body\n}}"
    text = f"body {{\n{body}\n}}\n{entry}" if fused else f"ENTRY e {{\n{body}\n}}"
    check_program(f"HloModule m\n{ADD}{text}", *inputs, native=False)


def test_an_update_whose_operand_is_read_again():
    body = (
        " x = f32[8] parameter(0)\n u = f32[2] parameter(1)\n i = s32[] parameter(2)\n y = f32[8] negate(x)\n"
        " s = f32[8] dynamic-update-slice(y, u, i)\n d = f32[2] dynamic-slice(y, i), dynamic_slice_sizes={2}\n"
        " e = f32[2] dynamic-slice(s, i), dynamic_slice_sizes={2}\n f = f32[2] subtract(d, e)\n ROOT r = (f32[8], f32[2], f32[8]) tuple(s, f, y)"
    )
    check_program(
        f"HloModule m\nENTRY e {{\n{body}\n}}",
        np.arange(8, dtype=np.float32),
        np.ones(2, np.float32),
        np.int32(3),
    )


IN = "in { a = f32[7] parameter(0)\n b = f32[7] parameter(1)\n s = f32[7] add(a, b)\n m = f32[7] multiply(a, b)\n ROOT t = (f32[7], f32[7]) tuple(s, m) }\n"
BODY = " a = f32[7] parameter(0)\n b = f32[7] parameter(1)\n f = (f32[7], f32[7]) fusion(a, b), kind=kLoop, calls=in\n"
PARTS = " p = f32[7] get-tuple-element(f), index=0\n q = f32[7] get-tuple-element(f), index=1\n"
NESTED = {
    "handed on": ("(f32[7], f32[7])", BODY.replace(" f = ", " ROOT f = ")),
    "used and handed on": (
        "(f32[7], f32[7], f32[7])",
        BODY
        + PARTS
        + " d = f32[7] subtract(p, q)\n ROOT t = (f32[7], f32[7], f32[7]) tuple(d, p, q)\n",
    ),
    "one twice, and a parameter": (
        "(f32[7], f32[7], f32[7])",
        BODY + PARTS + " ROOT t = (f32[7], f32[7], f32[7]) tuple(q, q, a)\n",
    ),
    "a tuple of one": ("(f32[7])", BODY + PARTS + " ROOT t = (f32[7]) tuple(q)\n"),
    "a tuple in a tuple": (
        "(f32[7], (f32[7], f32[7]))",
        BODY + PARTS + " n = f32[7] negate(q)\n ROOT t = (f32[7], (f32[7], f32[7])) tuple(n, f)\n",
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_fusion_of_several_results_inside_another(name):
    shape, body = NESTED[name]
    entry = f"ENTRY e {{\n a = f32[7] parameter(0)\n b = f32[7] parameter(1)\n ROOT r = {shape} fusion(a, b), kind=kLoop, calls=out\n}}"
    random = np.random.default_rng(1)
    check_program(
        f"HloModule m\n{IN}out {{\n{body}}}\n{entry}",
        *[random.integers(-4, 4, 7).astype(np.float32) for _ in range(2)],
        native=False,
    )
