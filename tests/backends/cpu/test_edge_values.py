"""Edge values in vectors, tiles and threads follow the rules of single elements."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import compile_for_cpu, opcodes_on_evaluator
from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text.parser import parse_hlo

FLOATS = {
    "f16": (np.float16, np.uint16),
    "bf16": (ml_dtypes.bfloat16, np.uint16),
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
}
INTEGERS = {
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "u16": np.uint16,
    "s32": np.int32,
    "u32": np.uint32,
    "s64": np.int64,
    "u64": np.uint64,
}
ADD = (
    "add {\n  a = TYPE[] parameter(0)\n  b = TYPE[] parameter(1)\n  ROOT c = TYPE[] add(a, b)\n}\n"
)


def run(text, *inputs, threads=1, passes="default"):
    executable = compile_for_cpu(text, threads=threads, passes=passes)
    assert passes == "none" or not opcodes_on_evaluator(executable)
    return executable.execute(list(inputs))


def module(parameters, lines, before=""):
    """Text of a module. parameters: shapes of p0, p1 ...; lines: those of the entry after them."""
    head = "".join(f"  p{k} = {shape} parameter({k})\n" for k, shape in enumerate(parameters))
    return f"HloModule m\n{before}ENTRY e {{\n{head}{''.join(f'  {line}' + chr(10) for line in lines)}}}\n"


def same_as_evaluator(text, *inputs, threads=1, passes="default"):
    found = run(text, *inputs, threads=threads, passes=passes)
    wanted = flatten_value(evaluate(parse_hlo(text), *inputs))
    for ours, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, np.asarray(right))


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_at_their_limits(name):
    limits = np.iinfo(INTEGERS[name])
    special = np.array(
        [limits.min, limits.max, 0, 1, 2, limits.max - 1, limits.min + 1]
        + ([-1, -2] if limits.min else []),
        INTEGERS[name],
    )
    x, y = (np.ascontiguousarray(part.reshape(-1)) for part in np.meshgrid(special, special))
    shape = f"{name}[{len(x)}]"
    operations = (
        "divide",
        "remainder",
        "multiply",
        "subtract",
        "shift-left",
        "shift-right-logical",
        "shift-right-arithmetic",
        "maximum",
    )
    lines = [f"o{k} = {shape} {opcode}(p0, p1)" for k, opcode in enumerate(operations)]
    lines += [
        f"n = {shape} negate(p0)",
        f"ROOT t = tuple({', '.join(f'o{k}' for k in range(len(operations)))}, n)",
    ]
    same_as_evaluator(module([shape, shape], lines), x, y)


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts_by_any_amount(name):
    bits = np.iinfo(INTEGERS[name]).bits
    amounts = np.array([0, 1, bits - 1, bits, bits + 1, 2 * bits - 1, 100, 127] * 5, INTEGERS[name])
    x = np.random.default_rng(1).integers(
        np.iinfo(INTEGERS[name]).min,
        np.iinfo(INTEGERS[name]).max,
        len(amounts),
        dtype=INTEGERS[name],
    )
    shape = f"{name}[{len(x)}]"
    lines = [
        f"a = {shape} shift-left(p0, p1)",
        f"b = {shape} shift-right-logical(p0, p1)",
        f"c = {shape} shift-right-arithmetic(p0, p1)",
        "ROOT t = tuple(a, b, c)",
    ]
    same_as_evaluator(module([shape, shape], lines), x, amounts)


@pytest.mark.parametrize("name", INTEGERS)
def test_floats_that_no_integer_can_hold(name):
    limits = np.iinfo(INTEGERS[name])
    x = np.array(
        [
            np.nan,
            np.inf,
            -np.inf,
            1e30,
            -1e30,
            0.9,
            -0.9,
            3.5,
            -1.0,
            float(limits.max),
            float(limits.min),
            2.0**63,
        ]
        * 3,
        np.float32,
    )
    [found] = run(module([f"f32[{len(x)}]"], [f"ROOT r = {name}[{len(x)}] convert(p0)"]), x)
    for value, got in zip(x.tolist(), found.tolist(), strict=True):
        assert got == (
            0
            if value != value
            else limits.max
            if value >= limits.max
            else limits.min
            if value <= limits.min
            else int(value)
        )


@pytest.mark.parametrize("name", FLOATS)
def test_a_nan_keeps_its_payload_through_tiles_and_copies(name):
    dtype, raw = FLOATS[name]
    bits = np.random.default_rng(2).integers(0, np.iinfo(raw).max, (40, 48), dtype=raw)
    bits[:, ::3] |= np.array(np.inf, dtype).view(raw)  # infinities and NaNs, quiet and signalling
    x = bits.view(dtype)
    s, t = f"{name}[40,48]", f"{name}[48,40]"
    lines = [
        "zero = s32[] constant(0)",
        f"a = {t} transpose(p0), dimensions={{1,0}}",
        f"b = {s} reverse(p0), dimensions={{0,1}}",
        f"c = {name}[80,48] concatenate(p0, p0), dimensions={{0}}",
        f"d = {name}[7,9] dynamic-slice(p0, zero, zero), dynamic_slice_sizes={{7,9}}",
        f"e = {s} dynamic-update-slice(p0, d, zero, zero)",
        "ROOT r = tuple(a, b, c, d, e)",
    ]
    for threads in (1, 2):
        found = run(module([s], lines), x, threads=threads)
        for ours, right in zip(
            found, [x.T, x[::-1, ::-1], np.concatenate([x, x]), x[:7, :9], x], strict=True
        ):
            np.testing.assert_array_equal(
                np.ascontiguousarray(ours).view(raw), np.ascontiguousarray(right).view(raw)
            )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FLOATS)
def test_denormals_on_every_thread(name, threads):
    """No thread flushes subnormals in sums, products, reductions and converts."""
    dtype, raw = FLOATS[name]
    x = np.random.default_rng(3).integers(1, 60, (64, 1000), dtype=raw).view(dtype)
    s = f"{name}[64,1000]"
    lines = [
        f"z = {name}[] constant(0)",
        f"a = {s} add(p0, p0)",
        f"r = {name}[64] reduce(p0, z), dimensions={{1}}, to_apply=add",
        f"c = {name}[1000] reduce(p0, z), dimensions={{0}}, to_apply=add",
        "w = f64[64,1000] convert(p0)",
        "ROOT t = tuple(a, r, c, w)",
    ]
    doubled, rows, columns, wide = run(
        module([s], lines, ADD.replace("TYPE", name)), x, threads=threads
    )
    exact = x.astype(np.float64)
    np.testing.assert_array_equal(doubled.astype(np.float64), 2 * exact)
    np.testing.assert_array_equal(wide, exact)
    if name in ("f32", "f64"):  # the sums of the others may have more bits than their type
        unit = np.array(1, raw).view(dtype).astype(np.float64)
        np.testing.assert_array_equal(rows.astype(np.float64) / unit, (exact / unit).sum(1))
        np.testing.assert_array_equal(columns.astype(np.float64) / unit, (exact / unit).sum(0))
    assert (rows.astype(np.float64) > 0).all() and (columns.astype(np.float64) > 0).all()


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_denormals_in_a_product(name):
    dtype, raw = FLOATS[name]
    x = np.random.default_rng(4).integers(1, 50, (70, 33), dtype=raw).view(dtype)
    y = np.random.default_rng(5).integers(1, 9, (33, 65)).astype(dtype)
    [found] = run(
        module(
            [f"{name}[70,33]", f"{name}[33,65]"],
            [
                f"ROOT r = {name}[70,65] dot(p0, p1), lhs_contracting_dims={{1}}, "
                "rhs_contracting_dims={0}"
            ],
        ),
        x,
        y,
    )
    np.testing.assert_array_equal(found.view(raw), x.view(raw) @ y.astype(raw))


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("s8", -128),
        ("s8", 127),
        ("u8", 255),
        ("u32", 2**32 - 1),
        ("s32", -(2**31)),
        ("u64", 2**64 - 1),
        ("u64", 2**63),
        ("s64", -(2**63)),
        ("u16", 65535),
    ],
)
def test_starts_of_every_index_type(name, start):
    x, update = np.arange(40, dtype=np.float32), np.full(7, -1, np.float32)
    first = min(max(start, 0), 33)
    i = np.array(start, INTEGERS[name])
    found, changed, rows = run(
        module(
            ["f32[40]", "f32[7]", f"{name}[]"],
            [
                "s = f32[7] dynamic-slice(p0, p2), dynamic_slice_sizes={7}",
                "u = f32[40] dynamic-update-slice(p0, p1, p2)",
                f"i = {name}[1,1] reshape(p2)",
                "g = f32[1,7] gather(p0, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={7}",
                "ROOT t = tuple(s, u, g)",
            ],
        ),
        x,
        update,
        i,
    )
    np.testing.assert_array_equal(found, x[first : first + 7])
    np.testing.assert_array_equal(rows[0], x[first : first + 7])
    assert (changed[first : first + 7] == -1).all() and (changed == -1).sum() == 7


EMPTY = {
    "sort": (["f32[0,3]"], ["ROOT r = f32[0,3] sort(p0), dimensions={0}, to_apply=less"]),
    "sort along the other": (
        ["f32[0,3]"],
        ["ROOT r = f32[0,3] sort(p0), dimensions={1}, to_apply=less"],
    ),
    "concatenate": (
        ["f32[0,3]", "f32[2,3]"],
        ["ROOT r = f32[2,3] concatenate(p0, p1), dimensions={0}"],
    ),
    "pad": (
        ["f32[0,3]"],
        ["z = f32[] constant(7)", "ROOT r = f32[2,3] pad(p0, z), padding=1_1x0_0"],
    ),
    "pad to nothing": (
        ["f32[2,3]"],
        ["z = f32[] constant(7)", "ROOT r = f32[0,3] pad(p0, z), padding=-1_-1x0_0"],
    ),
    "gather": (
        ["f32[4,3]", "s32[0,1]"],
        [
            "ROOT r = f32[0,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,3}"
        ],
    ),
    "scatter": (
        ["f32[4,3]", "s32[0,1]", "f32[0,3]"],
        [
            "ROOT r = f32[4,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
            "index_vector_dim=1, to_apply=add"
        ],
    ),
    "convolution": (
        ["f32[0,5,5,2]", "f32[3,3,2,4]"],
        [
            "ROOT r = f32[0,3,3,4] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f"
        ],
    ),
    "convolution without features": (
        ["f32[2,5,0]", "f32[3,0,6]"],
        ["ROOT r = f32[2,3,6] convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f"],
    ),
    "convolution of padding": (
        ["f32[2,0,4]", "f32[3,4,6]"],
        [
            "ROOT r = f32[2,2,6] convolution(p0, p1), window={size=3 pad=2_2}, dim_labels=b0f_0io->b0f"
        ],
    ),
    "dot without terms": (
        ["f32[3,0]", "f32[0,6]"],
        ["ROOT r = f32[3,6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"],
    ),
    "reduce-window of padding": (
        ["f32[0,6]"],
        [
            "z = f32[] constant(3)",
            "ROOT r = f32[2,6] reduce-window(p0, z), window={size=2x1 pad=1_2x0_0}, to_apply=add",
        ],
    ),
    "fft": (["c64[0,6]"], ["ROOT r = c64[0,6] fft(p0), fft_type=FFT, fft_length={6}"]),
    "triangular-solve": (
        ["f32[2,0,0]", "f32[2,0,3]"],
        [
            "ROOT r = f32[2,0,3] triangular-solve(p0, p1), left_side=true, lower=true, "
            "unit_diagonal=false, transpose_a=NO_TRANSPOSE"
        ],
    ),
    "reverse": (["f32[3,0]"], ["ROOT r = f32[3,0] reverse(p0), dimensions={0,1}"]),
    "reduce-window": (
        ["f32[0,6]"],
        [
            "z = f32[] constant(0)",
            "ROOT r = f32[0,5] reduce-window(p0, z), window={size=1x2}, to_apply=add",
        ],
    ),
    "batched dot": (
        ["f32[0,4,5]", "f32[0,5,6]"],
        [
            "ROOT r = f32[0,4,6] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={2}, rhs_contracting_dims={1}"
        ],
    ),
    "reduce all": (
        ["f32[0,6]"],
        ["z = f32[] constant(5)", "ROOT r = f32[] reduce(p0, z), dimensions={0,1}, to_apply=add"],
    ),
    "iota and select": (
        ["pred[0]"],
        ["i = s32[0] iota(), iota_dimension=0", "ROOT r = s32[0] select(p0, i, i)"],
    ),
    "transpose": (["f32[3,0,5]"], ["ROOT r = f32[5,3,0] transpose(p0), dimensions={2,0,1}"]),
    "cholesky": (["f32[0,4,4]"], ["ROOT r = f32[0,4,4] cholesky(p0), lower=true"]),
}
LESS = "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT l = pred[] compare(a, b), direction=LT\n}\n"


@pytest.mark.parametrize(("threads", "passes"), [(1, "default"), (2, "default"), (1, "none")])
@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.sampled(32)
def test_operations_on_nothing(name, threads, passes):
    parameters, lines = EMPTY[name]
    text = module(parameters, lines, ADD.replace("TYPE", "f32") + LESS)
    shapes = [p.shape for p in parse_hlo(text).entry.parameters()]
    same_as_evaluator(
        text,
        *[np.ones(shape.dimensions, shape.element_type.dtype) for shape in shapes],
        threads=threads,
        passes=passes,
    )


def test_thirty_dimensions():
    sizes = [1, 2, 1, 3, 1, 1, 5, 1, 1, 1] * 3
    order = list(np.random.default_rng(6).permutation(30))
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    shape, turned = (f"f32[{','.join(map(str, s))}]" for s in (sizes, [sizes[d] for d in order]))
    lines = [
        f"t = {turned} transpose(p0), dimensions={{{','.join(map(str, order))}}}",
        f"ROOT r = {turned} reverse(t), dimensions={{3,17}}",
    ]
    np.testing.assert_array_equal(
        run(module([shape], lines), x)[0], np.flip(x.transpose(order), (3, 17))
    )


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_addresses_beyond_two_gib(threads):
    """Elements of arrays above 2 GiB are read, moved and written at the right addresses."""
    count = 2**31 + 64
    x = np.zeros(count, np.int8)
    x[[5, 2**31 - 1, 2**31, count - 3]] = [1, 2, 3, 4]
    shape = f"s8[{count}]"
    lines = [
        "i = s64[] constant(2147483640)",
        "s = s8[16] dynamic-slice(p0, i), dynamic_slice_sizes={16}",
        f"v = {shape} reverse(p0), dimensions={{0}}",
        "h = s8[8] slice(v), slice={[0:8]}",
        "z = s8[] constant(0)",
        f"n = {shape} add(p0, p0)",
        "w = s8[70] slice(n), slice={[2147483642:2147483712]}",
        "r = s8[] reduce(p0, z), dimensions={0}, to_apply=add",
        "ROOT t = tuple(s, h, w, r)",
    ]
    part, head, tail, total = run(
        module([shape], lines, ADD.replace("TYPE", "s8")), x, threads=threads
    )
    np.testing.assert_array_equal(part, x[2147483640 : 2147483640 + 16])
    np.testing.assert_array_equal(head, x[::-1][:8])
    np.testing.assert_array_equal(tail, 2 * x[2147483642:])
    assert total == 10


@pytest.mark.parametrize(
    ("name", "kind"),
    [("s4", ml_dtypes.int4), ("u2", ml_dtypes.uint2), ("s8", np.int8), ("f16", np.float16)],
)
def test_the_truth_of_a_sum_of_products(name, kind):
    """A dot with predicate result is true if the sum of products is not 0: 1 - 1 gives false."""
    x = np.array([[1, -1 if name[0] != "u" else 0], [1, 1], [0, 0]]).astype(kind)
    text = module(
        [f"{name}[3,2]", "pred[2,2]"],
        ["ROOT r = pred[3,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"],
    )
    same_as_evaluator(text, x, np.array([[True, True], [True, False]]))


@pytest.mark.parametrize("name", ["operand_upcaster", "result_caster"])
@pytest.mark.parametrize(
    ("result", "operand", "values"), [("pred", "s4", [1, -1]), ("s4", "pred", [1, 1])]
)
def test_truth_values_are_narrower_than_integers(name, result, operand, values):
    text = module(
        [f"{operand}[2]", "pred[2]"],
        [
            f"ROOT r = {result}[] dot(p0, p1), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"
        ],
    )
    inputs = (
        np.array(values).astype(bool if operand == "pred" else ml_dtypes.int4),
        np.array([True, True]),
    )
    assert (
        evaluate(optimize(parse_hlo(text), name).module, *inputs)
        == evaluate(parse_hlo(text), *inputs)
        == (2 if result == "s4" else 0)
    )
