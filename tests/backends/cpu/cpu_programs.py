"""Runs a module through the whole CPU compiler and compares with the evaluator."""

import numpy as np

from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.registry import platform
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text.parser import parse_hlo


def compile_for_cpu(text, passes="default", threads=None):
    """Return the executable of a module text."""
    compiler = platform("cpu").compiler()
    options = CompileOptions(cache=False, passes=passes, threads=threads)
    return compiler.run_backend(
        compiler.run_hlo_passes(parse_hlo(text), options), options
    ).executable


def opcodes_on_evaluator(executable):
    """Return the opcodes without native code."""
    return [step.opcode for step in executable.steps if step.runs_on == "evaluator"]


def check_program(text, *inputs, native=True, passes="default", relative=0.0):
    """Results equal the evaluator's to the bit (NaN like NaN), or within a relative error.

    native: nothing runs on the evaluator.
    """
    executable = compile_for_cpu(text, passes)
    if native:
        assert not opcodes_on_evaluator(executable)
    found = executable.execute(list(inputs))
    wanted = flatten_value(evaluate(parse_hlo(text), *inputs))
    assert len(found) == len(wanted)
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        b = np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (
            number,
            a.shape,
            b.shape,
            a.dtype,
            b.dtype,
        )
        if relative:
            finite = np.abs(b[np.isfinite(b)])
            np.testing.assert_allclose(
                a, b, rtol=relative, atol=relative * float(finite.max(initial=0.0))
            )
            continue
        if a.dtype.kind in "biu":
            wrong = a != b
        else:
            wide_a, wide_b = a.astype(np.complex128), b.astype(np.complex128)
            wrong = ~(
                (wide_a.real == wide_b.real) & (np.signbit(wide_a.real) == np.signbit(wide_b.real))
                | np.isnan(wide_a.real) & np.isnan(wide_b.real)
            )
            wrong |= ~((wide_a.imag == wide_b.imag) | np.isnan(wide_a.imag) & np.isnan(wide_b.imag))
        if wrong.any():
            where = tuple(np.argwhere(wrong)[0])
            raise AssertionError(
                f"result {number}: {int(wrong.sum())} of {wrong.size} elements differ, first at "
                f"{[int(x) for x in where]}: {a[where]} instead of {b[where]}"
            )
    return found
