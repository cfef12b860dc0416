"""SSA records: where they are placed, what types they have, and that LLVM runs what is printed."""

import ctypes
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.compiler.codegen.ir.records import If, Instruction, Loop
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import BF16, F16, F32, F64, I1, I8, I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Complex
from xla_explorer.compiler.codegen.lowering.body import body_in_blocks
from xla_explorer.compiler.codegen.lowering.elements import Memory
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.pipeline import lower_records
from xla_explorer.hlo.primitive_type import primitive_type


def _operations(records):
    return [r.op if isinstance(r, Instruction) else r for r in records]


def test_an_operation_stands_where_its_operands_are_known_first_and_once():
    b = StructuredBuilder()
    x = b.named("%x", F32)
    with b.loop(b.index(0), b.index(4)) as outer:
        row = b.scale_index(outer.index, 8)
        with b.loop(b.index(0), b.index(8)) as inner:
            place = b.add_index(b.scale_index(outer.index, 8), inner.index)
            assert b.add_index(row, inner.index) is place
            b.store(x * x + 1.0, b.address(b.named("%out", PTR), F32, place), 4)
    square, plus, loop = b.records
    assert _operations([square, plus]) == ["fmul", "fadd"] and isinstance(loop, Loop)
    assert (
        _operations(loop.body)[:1] == ["mul"]
        and isinstance(loop.body[1], Loop)
        and len(loop.body) == 2
    )
    assert _operations(loop.body[1].body) == ["add", "getelementptr", "store"]


def test_what_may_trap_stays_under_its_condition():
    b = StructuredBuilder()
    n, pointer = b.named("%n", I64), b.named("%a", PTR)
    with b.only_if(n > 0):
        b.load(pointer, F32, 4)
        b.binary("udiv", 7, n)
        doubled = n + n
    compare, add, branch = b.records
    assert _operations([compare, add]) == ["icmp", "add"] and doubled.depth == 0
    assert isinstance(branch, If) and _operations(branch.body) == ["load", "udiv"]


def test_nothing_leaves_a_condition_where_that_would_be_work_for_others():
    b = StructuredBuilder(speculates=False)
    n = b.named("%n", I64)
    before = n + n
    with b.only_if(n > 0):
        assert n + n is before  # what is there already is found
        inside = n + 1
        with b.loop(b.index(0), b.index(4)) as loop:
            loop.following = []
            assert n + 1 is inside
            moved = n + 2
    add, compare, branch = b.records
    assert _operations([add, compare]) == ["add", "icmp"] and inside.depth == moved.depth == 1
    assert _operations(branch.body)[:2] == ["add", "add"] and isinstance(branch.body[2], Loop)


@pytest.mark.parametrize("n", [3, 0, -5])
def test_branches_have_values(n):
    b = StructuredBuilder()
    x, out = b.load(b.named("%a0", PTR), I64, 8), b.named("%a1", PTR)

    def inner():
        with b.loop(b.index(0), b.index(3), [x]) as loop:
            loop.following = [loop.carried[0] + 5]
        return [loop.results[0], x]

    found = b.branches(
        x > 0, inner, lambda: b.branches(x.equals(0), lambda: [x + 7, x], lambda: [x, x + 9])
    )
    for k, value in enumerate(found):
        b.store(value, b.address(out, I64, k), 8)
    stored = np.zeros(2, np.int64)
    _run(b, np.array([n]), stored)
    assert stored.tolist() == ([18, 3] if n > 0 else [7, 0] if n == 0 else [-5, 4])


def test_index_arithmetic_folds():
    b = StructuredBuilder()
    i = b.named("%i", I64)
    assert b.add_index(i, 0) is i is b.scale_index(i, 1) is b.divide_index(i, 1)[0]
    assert [
        b.add_index(b.index(3), 4).name,
        b.scale_index(i, 0).name,
        *[v.name for v in b.divide_index(b.index(17), 5)],
    ] == ["7", "0", "3", "2"]
    assert not b.records


@pytest.mark.parametrize(
    ("operation", "types"),
    [
        (lambda b, f, i: f + i, "float i32"),
        (lambda b, f, i: i + f, "float i32"),
        (lambda b, f, i: b.binary("fadd", i, i), "fadd i32"),
        (lambda b, f, i: b.binary("xor", f, f), "xor float"),
        (lambda b, f, i: i + 1.5, "1.5 i32"),
        (lambda b, f, i: -i, "fneg i32"),
        (lambda b, f, i: f + b.named("%d", F64), "float double"),
        (lambda b, f, i: f + b.named("%v", Type("i32", 4)), "float i32"),
        (lambda b, f, i: b.named("%h", BF16) + b.named("%s", Type("i16")), "bf16 i16"),
    ],
)
def test_types_that_do_not_match_are_both_named(operation, types):
    b = StructuredBuilder()
    with pytest.raises(TypeError) as refused:
        operation(b, b.named("%f", F32), b.named("%i", I32))
    assert all(name in str(refused.value) for name in types.split())
    assert not b.records


def test_a_scalar_beside_a_vector_fills_its_lanes_once():
    b = StructuredBuilder()
    x, v = b.named("%x", F32), b.named("%v", F32.of_lanes(4))
    assert (v * x + x * v).type == (1.0 - v).type == Type("float", 4)
    assert sum(r.op == "shufflevector" for r in b.records) == 1
    assert (v < 0.0).type == Type("i1", 4) and str(
        b.number(1.0, v.type)
    ) == "splat (float 0x3FF0000000000000)"


def test_small_floats_compute_in_f32():
    for t in (BF16, F16):
        b = StructuredBuilder()
        x = b.named("%x", t)
        assert (x * x).type == t and (x < x).type == I1
        assert [r.result.type for r in b.records if r.op == "fmul"] == [F32]


def test_complex_numbers_are_pairs():
    b = StructuredBuilder()
    z = Complex(b.named("%re", F32), b.named("%im", F32))
    product = z * z - z
    assert [part.type for part in product] == [F32, F32]
    assert [r.op for r in b.records] == [
        "fmul",
        "fmul",
        "fsub",
        "fmul",
        "fmul",
        "fadd",
        "fsub",
        "fsub",
    ]


def _run(b, *arguments):
    """Compile the body as a function of pointers, and call it."""
    names = ", ".join([f"ptr %a{k}" for k in range(len(arguments))])
    body = lower_records(body_in_blocks(b), CodeFeatures())
    text = "\n".join(
        [
            f"define void @f({names}) {{",
            "entry:",
            *[line for line, _ in body.lines()],
            "  ret void",
            "}",
            *[d.text for d in body.declarations],
            "",
        ]
    )
    library = NativeLibrary(optimize_and_emit(text).objects, exports=["f"])
    library.bind("f", None, [ctypes.c_void_p] * len(arguments))(*[a.ctypes.data for a in arguments])


def test_llvm_runs_loops_with_carried_values_and_conditions():
    rng = np.random.default_rng(0)
    rows, columns = 5, 24
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    sums, positive = np.zeros(rows, np.float32), np.zeros((rows, columns), np.int8)
    b = StructuredBuilder()
    source, out, flags = [b.named(f"%a{k}", PTR) for k in range(3)]
    lanes = F32.of_lanes(8)
    with b.loop(b.index(0), b.index(rows)) as i:
        with b.loop(b.index(0), b.index(columns), [b.number(0.0, lanes)], step=8) as j:
            place = b.add_index(b.scale_index(i.index, columns), j.index)
            v = b.load(b.address(source, F32, place), lanes, 4)
            j.following = [j.carried[0] + v * v]
            with b.only_if(b.extract(v, 0) > 0.0):
                b.store(b.number(1, I8), b.address(flags, I8, place), 1)
        (total,) = j.results
        total = sum([b.extract(total, lane) for lane in range(1, 8)], b.extract(total, 0))
        b.store(total, b.address(out, F32, i.index), 4)
    _run(b, x, sums, positive)
    np.testing.assert_allclose(sums, (x * x).sum(1), rtol=1e-5)
    expected = np.zeros_like(positive)
    expected[:, ::8] = x[:, ::8] > 0
    assert (positive == expected).all()


def test_bf16_rounds_as_ml_dtypes():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 64)).astype(ml_dtypes.bfloat16)
    x[:3], out = (np.nan, np.inf, 3e38), np.zeros(64, ml_dtypes.bfloat16)
    b = StructuredBuilder()
    with b.loop(b.index(0), b.index(64), step=16) as i:
        at = [b.address(b.named(f"%a{k}", PTR), BF16, i.index) for k in range(3)]
        v, w = [b.load(pointer, BF16.of_lanes(16), 2) for pointer in at[:2]]
        b.store(v * w, at[2], 2)
    _run(b, x, y, out)
    assert (out == x * y).sum() == 63 and np.isnan(out[0].astype(np.float32))


@pytest.mark.slow
def test_mypy_refuses_the_sum_of_a_float_and_an_integer(tmp_path):
    file = tmp_path / "sums.py"
    file.write_text(
        "from xla_explorer.compiler.codegen.ir.values import Float, Integer, Value\n\n"
        "def right(x: Value[Float], y: Value[Float]) -> Value[Float]:\n    return x + y * 2.0\n\n"
        "def wrong(x: Value[Float], n: Value[Integer]) -> Value[Float]:\n    return x + n\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(file)], capture_output=True, text=True
    )
    assert "sums.py:7" in done.stdout and "sums.py:4" not in done.stdout, done.stdout + done.stderr


def test_a_masked_load_stays_behind_its_condition_as_a_plain_one_does() -> None:
    b = StructuredBuilder()
    pointer, mask, condition = (
        b.named("%p", PTR),
        b.named("%m", Type("i1", 8)),
        b.named("%c", Type("i1")),
    )
    memory = Memory(b, primitive_type("f32"))
    with b.only_if(condition):
        memory.store(memory.load(pointer, 8, mask), pointer, 8)
        memory.store(memory.load(pointer, 4), pointer, 4)
    text = "\n".join(b.lines())
    branch, masked, plain = (
        text.index(part) for part in ("br i1 %c", "masked-load", "load <4 x float>")
    )
    assert branch < masked and branch < plain


def test_a_counted_index_is_a_number_that_the_loop_counts() -> None:
    b = StructuredBuilder()
    with b.loop(b.named("%n", I64), b.index(40), step=2) as loop:
        three, minus = b.counted_index(loop.index, 3), b.counted_index(loop.index, -1)
        assert (
            b.counted_index(loop.index, 3) is three and b.counted_index(loop.index, 1) is loop.index
        )
        b.store(b.add_index(three, minus), b.address(b.named("%a1", PTR), I64, loop.index))
    (made,) = [record for record in b.records if isinstance(record, Loop)]
    assert [value.name for value, _, _ in made.carried] == [three.name, minus.name]
    assert "mul" not in _operations(made.body)


def test_llvm_counts_multiples_of_an_index_in_steps() -> None:
    b = StructuredBuilder()
    with b.loop(b.index(0), b.index(8), step=2) as loop:
        value = b.add_index(b.counted_index(loop.index, 5), b.counted_index(loop.index, -7))
        b.store(value, b.address(b.named("%a0", PTR), I64, loop.index))
    out = np.full(8, 99, np.int64)
    _run(b, out)
    np.testing.assert_array_equal(out, [0, 99, -4, 99, -8, 99, -12, 99])
