"""Long programs: LLVM does not optimise the entry's list of calls; it holds no vectors."""

import re

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu_program.program_writing import ENTRY
from xla_explorer.backends.interfaces import AotCompilationOptions
from xla_explorer.backends.interfaces.abilities import AheadOfTimeCompiler
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen.entry_functions import PART_RECORDS
from xla_explorer.compiler.codegen.operation_writer import LONG_PROGRAM
from xla_explorer.hlo.evaluator.registry import evaluates_custom_call

CPUS = (
    ("x86_64-unknown-linux-gnu", "x86-64"), ("x86_64-unknown-linux-gnu", "x86-64-v2"), ("x86_64-unknown-linux-gnu", "x86-64-v3"),
    ("x86_64-unknown-linux-gnu", "x86-64-v4"), ("x86_64-unknown-linux-gnu", "haswell"), ("x86_64-unknown-linux-gnu", "znver3"),
    ("x86_64-unknown-linux-gnu", "znver4"), ("x86_64-unknown-linux-gnu", "skylake-avx512"), ("aarch64-linux-gnu", "neoverse-n1"),
    ("aarch64-linux-gnu", "neoverse-v1"), ("riscv64-linux-gnu", "sifive-x280"),
)  # fmt: skip


def asks_of(lanes: int, element_type: str, steps: int) -> str:
    """Return a chain of steps, each of which adds one if any lane is positive."""
    lines = [
        "HloModule asks\nany { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT o = pred[] or(a, b) }\nENTRY e {"
    ]
    lines += [
        f"  v_0 = {element_type}[{lanes}] parameter(0)",
        f"  zero = {element_type}[] constant(0)",
        "  no = pred[] constant(false)",
    ]
    lines += [f"  z = {element_type}[{lanes}] broadcast(zero), dimensions={{}}"]
    for k in range(steps):
        lines += [
            f"  c_{k} = pred[{lanes}] compare(v_{k}, z), direction=GE",
            f"  r_{k} = pred[] reduce(c_{k}, no), dimensions={{0}}, to_apply=any",
            f"  n_{k} = {element_type}[] convert(r_{k})",
            f"  b_{k} = {element_type}[{lanes}] broadcast(n_{k}), dimensions={{}}",
            f"  v_{k + 1} = {element_type}[{lanes}] subtract(v_{k}, b_{k})",
        ]
    return "\n".join([*lines, f"  ROOT r = {element_type}[{lanes}] negate(v_{steps})", "}"])


@pytest.mark.parametrize(("triple", "cpu"), CPUS, ids=[cpu for _, cpu in CPUS])
@pytest.mark.parametrize("lanes", [13, 15])
def test_a_function_that_llvm_leaves_alone_has_no_vectors(
    triple: str, cpu: str, lanes: int
) -> None:
    """An `optnone` function has no vectors.

    LLVM 22 aborts on them beside optimised functions (x86 with AVX2, 5 and 7 lanes of 8).
    """
    compiler = platform("cpu").compiler()
    assert isinstance(compiler, AheadOfTimeCompiler)
    options = AotCompilationOptions(triple=triple, cpu=cpu)
    made = compiler.compile_ahead_of_time(
        xe.parse_hlo(asks_of(lanes, "f32", LONG_PROGRAM)), options
    )
    assert made.object_bytes.startswith(b"\x7fELF")
    text = str(made.stages["llvm-ir-optimized"].text)
    left_alone = {
        group
        for group, names in re.findall(r"^attributes (#\d+) = \{([^}]*)\}", text, re.MULTILINE)
        if "optnone" in names
    }
    bodies = [body for head, body in re.findall(r"^(define [^\n]*)\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
              if left_alone & set(re.findall(r"#\d+", head))]  # fmt: skip
    assert bodies and not [body for body in bodies if re.search(r"<\d+ x |<vscale", body)]


@pytest.mark.parametrize("element_type", ["f32", "s32", "f64"])
@pytest.mark.parametrize("lanes", [13, 15])
def test_values_of_long_programs_of_small_arrays(lanes: int, element_type: str) -> None:
    text = asks_of(lanes, element_type, LONG_PROGRAM)
    values = np.arange(lanes) - 2
    session = xe.compile(text, cache=False)
    argument = values.astype(xe.random_arguments(text)[0].dtype)
    got, expected = (np.asarray(run(argument)) for run in (session, lambda a: xe.evaluate(text, a)))
    np.testing.assert_array_equal(got, expected)


def test_the_entry_of_a_long_program_is_several_functions() -> None:
    """LLVM's time is more than linear in the records of one function."""
    text = asks_of(13, "f32", 4 * LONG_PROGRAM)
    session = xe.compile(text, cache=False)
    functions = session.executable.program.module.functions
    entry = [f for f in functions if f.name.startswith(ENTRY)]
    assert len(entry) > 2
    assert max(len(f.body) for f in entry) < 2 * PART_RECORDS
    argument = np.arange(13, dtype=np.float32) - 2
    expected = np.asarray(xe.evaluate(text, argument))
    np.testing.assert_array_equal(np.asarray(session(argument)), expected)


@pytest.mark.usefixtures("runs_here")
def test_a_failing_step_of_a_long_program_ends_it() -> None:
    """The error of a Python step in one part is that of the whole program."""

    @evaluates_custom_call("fails_in_a_long_program")
    def _fails(*given: object) -> object:
        raise ValueError("this step fails")

    call = '  f = f32[13] custom-call(v_0), custom_call_target="fails_in_a_long_program"\n  v_1 ='
    text = asks_of(13, "f32", 4 * LONG_PROGRAM).replace("  v_1 =", call)
    text = text.replace("negate(", "add(f, ")
    session = xe.compile(text, cache=False)
    with pytest.raises(Exception, match="this step fails"):
        session(np.zeros(13, np.float32))
