"""Mistakes in a device's code that conformance and contract must find.

Most of them show only beyond the first tile of the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.interpreter.interpreter_platform import (
    HostMemoryExecutor,
    InterpreterCompiler,
    InterpreterExecutable,
    InterpreterPlatform,
)
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
TILE = 16
Mistake = Callable[[HloModule, list[Array], list[Array]], list[Array]]


class WrongExecutable(InterpreterExecutable):
    """The evaluator's results, and a mistake on top of them."""

    mistake: Mistake
    executor: HostMemoryExecutor

    def execute(self, arrays: list[Array]) -> list[Array]:
        return self.mistake(self.module, arrays, super().execute(arrays))


class WrongCompiler(InterpreterCompiler):
    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        result = super().run_backend(trace, options)
        executable = WrongExecutable(trace.module)
        executable.mistake = self.mistake
        executable.steps = [step._replace(runs_on="kernel") for step in executable.steps]
        return CompileResult(result.trace, executable, result.stages, None, result.seconds)


class WrongPlatform(InterpreterPlatform):
    name = "wrong"

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake

    def compiler(self) -> WrongCompiler:
        return WrongCompiler(self.mistake)


def at_root(opcode: str, wrong: Callable[[Any, list[Array], Array], Array]) -> Mistake:
    def mistake(module: HloModule, arrays: list[Array], results: list[Array]) -> list[Array]:
        root = module.entry.root
        return (
            [wrong(root, arrays, results[0])]
            if root.opcode.name == opcode and len(results) == 1
            else results
        )

    return mistake


def without_tail(root: Any, arrays: list[Array], right: Array) -> Array:
    cut = right.copy()
    cut[tuple(slice(size // TILE * TILE if size > TILE else 0, None) for size in right.shape)] = 0
    return cut if all(size > TILE for size in right.shape) else right


def first_tile_of_depth(root: Any, arrays: list[Array], right: Array) -> Array:
    x, y = arrays
    return x[:, :TILE] @ y[:TILE] if x.ndim == 2 else right


def first_tile_of_rows(root: Any, arrays: list[Array], right: Array) -> Array:
    return (
        arrays[0][:TILE].max(0)
        if root.attribute("dimensions") == (0,) and len(arrays[0]) > TILE
        else right
    )


def inverse_transpose(root: Any, arrays: list[Array], right: Array) -> Array:
    order = root.attribute("dimensions")
    return np.transpose(arrays[0], np.argsort(order)).reshape(right.shape)


def along_the_last(root: Any, arrays: list[Array], right: Array) -> Array:
    return np.resize(arrays[0], right.shape)


def loses_nan(root: Any, arrays: list[Array], right: Array) -> Array:
    return np.fmax(*arrays) if right.dtype.kind == "f" else right


MISTAKES = {
    "add-without-the-last-tile": ("add", at_root("add", without_tail)),
    "dot-of-one-tile": ("dot", at_root("dot", first_tile_of_depth)),
    "reduce-of-one-tile": ("reduce", at_root("reduce", first_tile_of_rows)),
    "transpose-by-the-inverse": ("transpose", at_root("transpose", inverse_transpose)),
    "broadcast-along-the-last": ("broadcast", at_root("broadcast", along_the_last)),
    "maximum-without-nan": ("maximum", at_root("maximum", loses_nan)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_conformance_finds_the_mistake(name: str) -> None:
    opcode, mistake = MISTAKES[name]
    found = xe.backends.conformance(WrongPlatform(mistake), opcodes=[opcode], types=["f32"])
    assert (
        not found.passed
        and found.first_failure is not None
        and found.first_failure.row.status == "wrong"
    )
    assert opcode in found.first_failure.text


def test_contract_finds_memory_that_is_never_given_back() -> None:
    def leak(module: HloModule, arrays: list[Array], results: list[Array]) -> list[Array]:
        HostMemoryExecutor().allocate(64)
        return results

    broken = {
        check.name: check.message
        for check in xe.backends.contract(WrongPlatform(leak), sample=1000).failures
    }
    assert "deallocate what a run allocates" in broken["runs-deallocate-what-they-allocate"]
