"""Random modules of the builder: the evaluator's values are those of real XLA:CPU."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import pickle
import random
import subprocess
import sys
from typing import Any

import pytest

import xla_explorer as xe
from tests.properties.module_checks import assert_same, evaluate_leaves
from tests.properties.random_modules import ModuleWriter
from tests.properties.random_rare import ON_XLA
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.evaluator.combiner import combiner_of
from xla_explorer.hlo.identity_element import identity_element

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
]

RUNNER = pathlib.Path(__file__).with_name("xla_runner.py")
SEEDS = int(os.environ.get("XLA_EXPLORER_ORACLE_SEEDS", "40"))
FIRST = int(os.environ.get("XLA_EXPLORER_ORACLE_FIRST", "0"))


def run_on_xla(
    cases: list[tuple[str, list[Any]]], folder: pathlib.Path, timeout: float = 240
) -> list[tuple[str, Any]]:
    """("values", arrays), ("refused", message) or ("died", "") for each case."""
    rows: list[tuple[str, Any]] = []
    while len(rows) < len(cases):
        source, target = folder / "cases.pickle", folder / "results.pickle"
        source.write_bytes(pickle.dumps(cases[len(rows) :]))
        target.write_bytes(b"")
        before = len(rows)
        result = subprocess.run(
            [sys.executable, str(RUNNER), str(source), str(target)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        with target.open("rb") as results:
            while True:
                try:
                    rows.append(pickle.load(results))
                except EOFError:
                    break
        if len(rows) < len(cases):
            assert result.returncode, result.stderr[-2000:]
            assert len(rows) > before or "import" not in result.stderr.lower()[-400:], (
                result.stderr[-2000:]
            )
            rows.append(("died", ""))
    return rows


def counts_by_one(body: Any) -> bool:
    """Return True if no sum in a loop body adds an integer constant other than 1."""
    sums = [
        i
        for i in body.instructions.values()
        if i.opcode.name == "add" and i.shape.is_scalar and i.shape.element_type.is_integer
    ]
    return all(
        o.literal.array == 1 for i in sums for o in i.operands if o.opcode.name == "constant"
    )


def is_comparable(module: xe.HloModule) -> bool:
    """Return True if XLA's answer is reliable for a program.

    It must avoid XLA's known errors. Every reduction must begin with the neutral element of its
    reducer: XLA may use the initial value never or often.
    """
    for computation in module.computations.values():
        for i in computation.instructions.values():
            if (
                i.opcode.name == "scatter"
                and len({o.id for o in i.operands[: len(i.operands) // 2]}) < len(i.operands) // 2
            ):
                return False  # jaxlib 0.10.2 writes both results into one buffer
            if i.opcode.name == "while" and not counts_by_one(i.called[1]):
                return False  # jaxlib 0.10.2 takes `for (i = 0; i < 1; i += 2)` for a loop of no iteration
            if i.opcode.name not in ("reduce", "reduce-window"):
                continue
            combiner, initial = combiner_of(i.called[0]), i.operands[-1]
            if combiner is None or initial.opcode.name != "constant":
                return False
            if initial.literal.array != identity_element(combiner.name, initial.shape.element_type):
                return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("rare", [(), ON_XLA], ids=["common", "rare"])
@pytest.mark.parametrize("extremes", [False, True], ids=["tame", "extremes"])
@pytest.mark.sampled(2)
def test_random_modules_have_the_values_of_xla(
    extremes: bool, rare: tuple[Any, ...], tmp_path: pathlib.Path
) -> None:
    made = [
        (seed, ModuleWriter(random.Random(seed), 14, extremes=extremes, rare=rare).write())
        for seed in range(FIRST, FIRST + SEEDS)
    ]
    made = [(seed, case) for seed, case in made if is_comparable(case.module)]
    seeds, cases = [seed for seed, _ in made], [case for _, case in made]
    assert len(cases) >= 0.3 * SEEDS
    rows = run_on_xla(
        [(case.module.to_text(), flatten_value(tuple(case.arguments))) for case in cases], tmp_path
    )
    compared, problems = 0, []
    for seed, case, (kind, outputs) in zip(seeds, cases, rows, strict=True):
        if kind != "values":
            continue
        compared += 1
        try:
            assert_same(case, evaluate_leaves(case.module, case.arguments), outputs, f"seed {seed}")
        except AssertionError as problem:
            problems.append(str(problem))
    refused = sorted({str(value)[:160] for kind, value in rows if kind != "values"})
    assert not problems, f"{len(problems)} of {compared} differ:\n" + "\n".join(problems)
    # Programs that XLA's StableHLO importer refuses test nothing, but must stay the exception.
    assert compared >= 0.6 * len(cases), refused


@pytest.mark.long
def test_xla_agrees_on_what_the_specification_leaves_open(tmp_path: pathlib.Path) -> None:
    """XLA agrees on values that the specification leaves open.

    They are division by zero, shifts too far, out-of-range conversions and starts, NaN in min and
    max.
    """
    import numpy as np

    text = """HloModule corners
ENTRY main {
  i = s32[6] parameter(0)
  j = s32[6] parameter(1)
  f = f32[6] parameter(2)
  g = f32[6] parameter(3)
  quotient = s32[6] divide(i, j)
  rest = s32[6] remainder(i, j)
  left = s32[6] shift-left(i, j)
  right = s32[6] shift-right-arithmetic(i, j)
  logical = s32[6] shift-right-logical(i, j)
  narrow = s8[6] convert(i)
  whole = s32[6] convert(f)
  byte = u8[6] convert(f)
  most = f32[6] maximum(f, g)
  least = f32[6] minimum(f, g)
  power = f32[6] power(f, g)
  rounded = f32[6] round-nearest-even(g)
  away = f32[6] round-nearest-afz(g)
  sign = f32[6] sign(f)
  start = s32[] constant(99)
  slice = f32[2] dynamic-slice(f, start), dynamic_slice_sizes={2}
  ROOT r = (TYPES) tuple(quotient, rest, left, right, logical, narrow, whole, byte, most, least, power, rounded, away, sign, slice)
}
"""
    types = [*["s32[6]"] * 5, "s8[6]", "s32[6]", "u8[6]", *["f32[6]"] * 6, "f32[2]"]
    text = text.replace("TYPES", ", ".join(types))
    arguments = [
        np.array([7, -7, -(2**31), 5, -5, 300], np.int32),
        np.array([0, 0, -1, 33, -1, 31], np.int32),
        np.array([np.nan, np.inf, -np.inf, 3e9, -3.7, -0.0], np.float32),
        np.array([1.0, np.nan, 2.5, 3.5, -0.5, 0.5], np.float32),
    ]
    ((kind, outputs),) = run_on_xla([(text, arguments)], tmp_path)
    assert kind == "values", outputs
    expected = flatten_value(xe.evaluate(xe.parse_hlo(text), *arguments))
    for number, (want, got) in enumerate(zip(expected, outputs, strict=True)):
        np.testing.assert_array_equal(got, want, err_msg=f"result {number}")
