"""Cost of instructions beside the numbers of XLA's cost analysis for the same programs."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.analysis.cost import Cost, computation_cost, instruction_cost, module_cost
from xla_explorer.hlo.text.parser import parse_hlo

_REDUCER = """plus {
  l0 = f32[] parameter(0)
  r0 = f32[] parameter(1)
  ROOT o0 = f32[] add(l0, r0)
}
"""


def cost(*lines: str) -> Cost:
    """Cost of the last line."""
    text = (
        "HloModule m\n"
        + _REDUCER
        + "ENTRY e {\n  "
        + "\n  ".join([*lines[:-1], "ROOT " + lines[-1]])
        + "\n}\n"
    )
    return instruction_cost(parse_hlo(text).entry.root)


X = "x = f32[10] parameter(0)"


@pytest.mark.parametrize(
    ("lines", "flops", "transcendentals", "accessed"),
    [
        ((X, "a = f32[10] add(x, x)"), 10, 0, 120),
        ((X, "a = f32[10] divide(x, x)"), 10, 0, 120),
        ((X, "a = f32[10] exponential(x)"), 0, 10, 80),
        ((X, "a = f32[10] power(x, x)"), 0, 10, 120),
        ((X, "a = f32[10] copy(x)"), 0, 0, 80),
        ((X, "a = f32[2,5] bitcast(x)"), 0, 0, 0),
        ((X, "a = (f32[10], f32[10]) tuple(x, x)"), 0, 0, 16),
        (
            (
                "a = f32[4,5] parameter(0)",
                "b = f32[5,6] parameter(1)",
                "d = f32[4,6] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            ),
            240,
            0,
            296,
        ),
        (
            (
                "x = f32[1,5,5,2] parameter(0)",
                "k = f32[3,3,2,4] parameter(1)",
                "c = f32[1,5,5,4] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
            ),
            2704,
            0,
            888,
        ),
        (
            (
                "x = f32[4,5] parameter(0)",
                "z = f32[] constant(0)",
                "r = f32[4] reduce(x, z), dimensions={1}, to_apply=plus",
            ),
            16,
            0,
            100,
        ),
        (
            (
                "x = f32[10] parameter(0)",
                "z = f32[] constant(0)",
                "r = f32[8] reduce-window(x, z), window={size=3}, to_apply=plus",
            ),
            16,
            0,
            76,
        ),
        (
            (
                "x = f32[9] parameter(0)",
                "z = f32[] constant(0)",
                "r = f32[9] reduce-window(x, z), window={size=9 pad=8_0}, to_apply=plus",
            ),
            9,
            0,
            76,
        ),
        (("x = f32[100] parameter(0)", "s = f32[10] slice(x), slice={[0:10]}"), 0, 0, 80),
        (
            (
                "x = f32[100] parameter(0)",
                "i = s32[] parameter(1)",
                "s = f32[10] dynamic-slice(x, i), dynamic_slice_sizes={10}",
            ),
            0,
            0,
            84,
        ),
        (
            (
                "x = f32[100] parameter(0)",
                "u = f32[10] parameter(1)",
                "i = s32[] parameter(2)",
                "s = f32[100] dynamic-update-slice(x, u, i)",
            ),
            0,
            0,
            84,
        ),
        (
            (
                "x = f32[100] parameter(0)",
                "i = s32[7,1] parameter(1)",
                "g = f32[7] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
            ),
            0,
            0,
            84,
        ),
        (
            (
                "x = f32[100] parameter(0)",
                "i = s32[7,1] parameter(1)",
                "u = f32[7] parameter(2)",
                "g = f32[100] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                "to_apply=plus",
            ),
            7,
            0,
            112,
        ),
        (
            ("x = c64[16] parameter(0)", "f = c64[16] fft(x), fft_type=FFT, fft_length={16}"),
            512,
            0,
            256,
        ),
        (("x = f32[6,6] parameter(0)", "c = f32[6,6] cholesky(x), lower=true"), 72, 0, 144),
        (
            (
                "x = f32[6,6] parameter(0)",
                "b = f32[6,3] parameter(1)",
                "t = f32[6,3] triangular-solve(x, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
            ),
            216,
            0,
            216,
        ),
    ],
)
def test_counts(
    lines: tuple[str, ...], flops: float, transcendentals: float, accessed: float
) -> None:
    found = cost(*lines)
    assert (found.flops, found.transcendentals, found.bytes_accessed) == (
        flops,
        transcendentals,
        accessed,
    )


def test_a_custom_call_is_unknown() -> None:
    assert not cost(X, 'c = f32[10] custom-call(x), custom_call_target="f"').known


def test_fusions_count_what_crosses_their_border() -> None:
    module = parse_hlo("""HloModule m
f {
  p0 = f32[100] parameter(0)
  p1 = f32[10] parameter(1)
  s = f32[10] slice(p0), slice={[0:10]}
  e = f32[10] exponential(s)
  ROOT a = f32[10] add(e, p1)
}
ENTRY e {
  x = f32[100] parameter(0)
  y = f32[10] parameter(1)
  ROOT r = f32[10] fusion(x, y), kind=kLoop, calls=f
}""")
    found = instruction_cost(module.entry.root)
    assert found == Cost(10, 10, 80, 40)
    assert found.intensity == pytest.approx(20 / 120)
    assert module_cost(module) == computation_cost(module.entry) == found


def test_a_fusion_that_writes_a_row_in_place_reads_only_that_row() -> None:
    """Also if the old row is read, as in `x.at[i].set(v)` that drops indices out of range."""
    module = parse_hlo("""HloModule m
f {
  p0 = f32[100,8] parameter(0)
  p1 = s32[] parameter(1)
  p2 = f32[1,8] parameter(2)
  zero = s32[] constant(0)
  old = f32[1,8] dynamic-slice(p0, p1, zero), dynamic_slice_sizes={1,8}
  new = f32[1,8] add(old, p2)
  ROOT u = f32[100,8] dynamic-update-slice(p0, new, p1, zero)
}
ENTRY e {
  x = f32[100,8] parameter(0)
  i = s32[] parameter(1)
  v = f32[1,8] parameter(2)
  ROOT r = f32[100,8] fusion(x, i, v), kind=kLoop, calls=f
}""")
    found = instruction_cost(module.entry.root)
    assert (found.bytes_read, found.bytes_written) == (32 + 4 + 32, 32)
