"""Invariants of every module, each a function that raises AssertionError with a sentence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import xla_explorer as xe
from tests.properties.random_modules import RandomModule
from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.compiler.buffers.checking import check_assignment
from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.verifier import verify

Array = np.ndarray[Any, Any]
# Absolute error beside the bound of the magnitude; values were kept small and smooth by the
# generator.
_TOLERANCE = {
    "float64": 1e-9,
    "float32": 2e-4,
    "complex64": 2e-4,
    "complex128": 1e-9,
    "float16": 0.06,
    "bfloat16": 0.4,
}


def evaluate_leaves(module: Any, arguments: tuple[Any, ...]) -> list[Array]:
    """Return the leaves of the evaluator's value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [np.asarray(leaf) for leaf in flatten_value(xe.evaluate(module, *arguments))]


def assert_same(case: RandomModule, expected: list[Array], actual: list[Array], what: str) -> None:
    """Assert equal integers, predicates and exact floats, and near floats without extremes."""
    assert len(expected) == len(actual), f"{what}: {len(actual)} leaves, expected {len(expected)}"
    for number, (want, got, bound, exact) in enumerate(
        zip(expected, actual, case.bounds, case.exact, strict=True)
    ):
        assert want.shape == got.shape and want.dtype == got.dtype, (
            f"{what}: leaf {number}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        )
        floating = want.dtype.name in _TOLERANCE
        if not floating:
            wrong = want != got
        elif case.extremes and not exact:
            continue
        else:
            wide = np.complex128 if want.dtype.kind == "c" else np.float64
            a, b = want.astype(wide), got.astype(wide)
            with np.errstate(all="ignore"):
                same = (a == b) | (np.isnan(a) & np.isnan(b))
                wrong = (
                    ~same
                    if exact
                    else ~(same | (np.abs(a - b) <= _TOLERANCE[want.dtype.name] * (1 + bound)))
                )
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0]))
            raise AssertionError(
                f"{what}: leaf {number}{list(at)} of {want.dtype}{list(want.shape)} is {got[at]!r}, expected {want[at]!r}; "
                f"{int(wrong.sum())} of {wrong.size} differ"
            )


def check_text(case: RandomModule) -> None:
    """Check that printing and parsing keep the module, and then its text to the letter.

    Not from the first: text has instructions in post order, and the order of the computations
    follows theirs.
    """
    for options in (xe.hlo.PrintOptions(), xe.hlo.PrintOptions.short_parsable):
        again = xe.parse_hlo(case.module.to_text(options))
        verify(again)
        difference = modules_equal(case.module, again, ignore_metadata=True)
        assert difference is None, f"parse(print): {difference}"
        text = again.to_text(options)
        assert xe.parse_hlo(text).to_text(options) == text, "printing again gives another text"


def check_passes(case: RandomModule, expected: list[Array], *, steps: int = 2) -> None:
    """Check that passes keep the value, verify after each, and evaluate steps in between."""
    trace = xe.optimize(case.module, "default", verify=True)
    assert_same(case, expected, evaluate_leaves(trace.module, case.arguments), "optimize")
    changed = [step for step in trace.passes if step.changed]
    for step in changed[:: max(1, len(changed) // steps)][:steps]:
        module = step.module
        verify(module)
        assert_same(
            case,
            expected,
            evaluate_leaves(module, case.arguments),
            f"pass {step.number}, {step.name}",
        )


def check_cpu(case: RandomModule, expected: list[Array], *, passes: str = "default") -> None:
    """Check native code against the evaluator: values, unchanged arguments, repeated bits."""
    session = xe.compile(case.module, backend="cpu", passes=passes, cache=False, check_passes=True)
    broken = check_assignment(session.result.buffers)
    assert not broken, f"cpu buffers: {broken[0]}"
    leaves = [np.array(leaf) for leaf in flatten_value(case.arguments)]
    before = [leaf.tobytes() for leaf in leaves]
    first = [np.array(leaf) for leaf in session.run_flat(leaves)]
    second = session.run_flat(leaves)
    assert [leaf.tobytes() for leaf in leaves] == before, "cpu: an argument was written to"
    for number, (one, two) in enumerate(zip(first, second, strict=True)):
        assert one.tobytes() == np.asarray(two).tobytes(), (
            f"cpu: leaf {number} differs in a second run"
        )
    assert_same(
        case,
        evaluate_leaves(session.module, case.arguments),
        first,
        f"cpu (passes {passes}) beside its own optimised module",
    )
    assert_same(case, expected, first, f"cpu (passes {passes})")


def check_gpu(case: RandomModule, expected: list[Array]) -> None:
    """Check that the passes and the emulated PTX keep the value, without emulator faults."""
    session = xe.compile(
        case.module, backend="gpu", device="emulator", cache=False, check_passes=True
    )
    assert_same(case, expected, evaluate_leaves(session.module, case.arguments), "gpu passes")
    assert "ptx" in session.stages(), f"no PTX among {list(session.stages())}"
    emulated = session.executable.emulate(
        [np.array(leaf) for leaf in flatten_value(case.arguments)], LaunchOptions(global_races=True)
    )
    assert not emulated.findings, f"gpu: {emulated.findings[0]}"
    assert_same(
        case,
        evaluate_leaves(session.module, case.arguments),
        emulated.values,
        "gpu beside its own optimised module",
    )


def check_all(case: RandomModule, *, gpu: bool = True) -> None:
    """Everything, on one module."""
    verify(case.module)
    check_text(case)
    expected = evaluate_leaves(case.module, case.arguments)
    check_passes(case, expected)
    check_cpu(case, expected, passes="none")
    check_cpu(case, expected)
    if gpu:
        check_gpu(case, expected)
