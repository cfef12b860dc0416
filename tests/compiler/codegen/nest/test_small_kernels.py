"""Kernels of few steps: unrolled code costs more compile time and space than it saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.elementwise import elementwise_policy
from xla_explorer.compiler.codegen.nest.policies.products import product_policy
from xla_explorer.compiler.codegen.nest.policies.reductions import reduction_policy
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import tuning_of
from xla_explorer.hlo.text.parser import parse_hlo

CPU = described_cpu(
    describe_target("x86_64-unknown-linux-gnu", "x86-64-v3")
)  # whatever machine this is: registers of 32 bytes
ADD = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }"


def _nest(text: str) -> LoopNest:
    found = nest_of(parse_hlo(text).entry.root)
    assert isinstance(found, LoopNest)
    return found


def _unary(opcode: str, shape: str) -> LoopNest:
    return _nest(
        f"HloModule m\nENTRY e {{ x = {shape} parameter(0) ROOT r = {shape} {opcode}(x) }}"
    )


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ("f32[9]", "split{i,8},vectorize{ii}"),  # the last step under a mask
        (
            "f32[100001]",
            "cut{i,100000},split{im,8},vectorize{imi}",
        ),  # where masks would take time, the rest is code of its own
    ],
)
def test_few_calls_of_functions_are_one_instance(shape: str, wanted: str) -> None:
    """A result in the memory of its operand must not be computed twice.

    Functions, and again functions for the remainder, were twice the code.
    """
    made = elementwise_policy(_unary("tanh", shape), replace(tuning_of(CPU), overlaps_tails=False))
    assert (
        isinstance(made, Schedule)
        and str(made).startswith(wanted)
        and ("cut{" in str(made)) is wanted.startswith("cut{")
    )


@pytest.mark.parametrize(
    ("opcode", "extent", "lanes"), [("tanh", 400, 8), ("tanh", 40000, 16), ("negate", 400, 16)]
)
def test_functions_of_narrow_floats_take_two_registers_only_where_they_run_often(
    opcode: str, extent: int, lanes: int
) -> None:
    made = elementwise_policy(_unary(opcode, f"f16[{extent}]"), tuning_of(CPU))
    assert (
        isinstance(made, Schedule)
        and max(b.axis.extent for b in made.nest.axes().values() if b.kind.value == "vector")
        == lanes
    )


@pytest.mark.parametrize(
    ("rows", "functions", "unrolled"), [(1, True, False), (1, False, True), (1000, True, True)]
)
def test_few_functions_that_are_summed_are_not_unrolled(
    rows: int, functions: bool, unrolled: bool
) -> None:
    inner = f"y = f32[{rows},4] {'log-plus-one' if functions else 'abs'}(x)"
    nest = _nest(f"""HloModule m
    {ADD}
    f {{ x = f32[{rows},4] parameter(0) z = f32[] constant(0) {inner}
     ROOT r = f32[{rows}] reduce(y, z), dimensions={{1}}, to_apply=add }}
    ENTRY e {{ x = f32[{rows},4] parameter(0) ROOT r = f32[{rows}] fusion(x), kind=kLoop, calls=f }}""")
    made = reduction_policy(nest, tuning_of(CPU))
    assert isinstance(made, Schedule) and ("unroll{" in str(made)) is unrolled


def test_sums_and_columns_are_not_both_unrolled() -> None:
    nest = _nest("""HloModule m
    ENTRY e { x = c64[4,3] parameter(0) y = c64[3,6] parameter(1)
     ROOT r = c64[4,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }""")
    made = reduction_policy(nest, tuning_of(CPU))
    assert isinstance(made, Schedule) and str(made).count("unroll{") == 1


@pytest.mark.parametrize(
    ("element", "divisor", "vectors"),
    [
        ("s64", "y = s64[400] parameter(1)", False),
        ("u8", "y = u8[400] parameter(1)", True),
        ("s64", "c = s64[] constant(7) y = s64[400] broadcast(c), dimensions={}", True),
    ],
)
def test_64_bit_integers_are_divided_in_vectors_by_constants_alone(
    element: str, divisor: str, vectors: bool
) -> None:
    """CPUs divide narrower integers as floats; of 64 bits each lane would be extracted."""
    parameters = f"x = {element}[400] parameter(0) y = {element}[400] parameter(1)"
    inner = f"x = {element}[400] parameter(0) {divisor} ROOT r = {element}[400] divide(x, y)"
    call = "fusion(x)" if "constant" in divisor else "fusion(x, y)"
    nest = _nest(
        f"HloModule m\nf {{ {inner} }}\n"
        f"ENTRY e {{ {parameters} ROOT r = {element}[400] {call}, kind=kLoop, calls=f }}"
    )
    made = elementwise_policy(nest, tuning_of(CPU))
    assert isinstance(made, Schedule) and ("vectorize{" in str(made)) is vectors


@pytest.mark.parametrize(
    ("registers", "wanted"),
    [
        (16, "split{k,8},interchange-reduction{ko,"),
        (32, "split{k,16},split{ki,8},interchange-reduction{ko,"),
    ],
)
def test_sums_of_a_vector_and_a_matrix_do_not_take_more_registers_than_there_are(
    registers: int, wanted: str
) -> None:
    """Eight rows times four registers of columns were 32 accumulators for 16 registers.

    That took 2.3 times as long, with twice the code.
    """
    nest = _nest("""HloModule m
    ENTRY e { x = f32[8,260] parameter(0) y = f32[8,260,520] parameter(1)
     ROOT r = f32[8,520] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1} }""")
    made = product_policy(nest, replace(tuning_of(CPU), registers=registers))
    assert isinstance(made, Schedule) and str(made).startswith(wanted)


@pytest.mark.parametrize(
    ("registers", "wanted"),
    [
        (16, "split{j,8},interchange-reduction{jo,"),
        (32, "split{j,16},split{ji,4},interchange-reduction{jo,"),
    ],
)
def test_sums_of_columns_do_not_take_more_registers_than_there_are(
    registers: int, wanted: str
) -> None:
    """Four rows times four registers of columns took all registers of AVX2: 2.5 times the time."""
    nest = _nest(f"""HloModule m
    {ADD}
    ENTRY e {{ x = f32[4096,1024] parameter(0) z = f32[] constant(0) ROOT r = f32[1024] reduce(x, z), dimensions={{0}}, to_apply=add }}""")
    made = reduction_policy(nest, replace(tuning_of(CPU), registers=registers))
    assert isinstance(made, Schedule) and str(made).startswith(wanted)
