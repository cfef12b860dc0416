"""The contract every registered backend keeps: a new one gets these tests by existing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.interfaces import CompileOptions, Compiler, CompileResult, Platform, StreamExecutor, TransferManager
from xla_explorer.backends.registry import UnknownBackendError, backend_names, platform
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.literal import literal_from_array

MODULE = """HloModule contract
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[5,3] parameter(0)
  n = s32[] parameter(1)
  zero = f32[] constant(0)
  row = f32[5] reduce(x, zero), dimensions={1}, to_apply=add
  wide = f32[5,3] broadcast(row), dimensions={0}
  y = f32[5,3] divide(x, wide)
  one = s32[] constant(1)
  m = s32[] add(n, one)
  ROOT result = (f32[5,3], s32[]) tuple(y, m)
}
"""


@pytest.fixture(params=backend_names())
def backend(request: pytest.FixtureRequest) -> Platform:
    return platform(request.param)


def _inputs() -> list[Any]:
    return [np.arange(1, 16, dtype=np.float32).reshape(5, 3), np.int32(41)]


def _compile(backend: Platform, given: str | xe.HloModule = MODULE) -> CompileResult:
    compiler = backend.compiler()
    options = CompileOptions(cache=False)
    module = xe.parse_hlo(given) if isinstance(given, str) else given
    try:
        return compiler.run_backend(compiler.run_hlo_passes(module, options), options)
    except MissingExtraError as problem:
        pytest.skip(f"{backend.name} cannot compile here: {problem.message}")


def test_the_parts_have_the_interfaces(backend: Platform) -> None:
    assert isinstance(backend, Platform)
    assert backend.description.endswith(".")
    assert isinstance(backend.compiler(), Compiler)
    if backend.availability() is None:
        assert isinstance(backend.stream_executor(), StreamExecutor)
        assert isinstance(backend.transfer_manager(), TransferManager)


def test_compiling_leaves_the_source_alone_and_gives_ordered_stages(backend: Platform) -> None:
    module = xe.parse_hlo(MODULE)
    before = module.to_text()
    result = _compile(backend, module)
    assert module.to_text() == before
    assert list(result.stages)[:2] == ["hlo", "hlo-optimized"]
    for stage in result.stages.values():
        if stage.is_text:
            assert stage.text.strip()
            assert len(stage.origins) <= len(stage.text.splitlines()) + 2
    known = {i.id for i in result.trace.module.instructions()}
    for stage in result.stages.values():
        if stage.name != "hlo" and stage.is_text:
            assert {origin for origin in stage.origins if origin is not None} <= known, stage.name


def test_values_are_the_evaluators_or_the_refusal_is_a_reason(backend: Platform) -> None:
    result = _compile(backend)
    if result.executable is None:
        assert result.why_not is not None and result.why_not.code
        pytest.skip(f"{backend.name} cannot run here: {result.why_not}")
    inputs = _inputs()
    kept = [np.array(a) for a in inputs]
    got = result.executable.execute([np.asarray(a) for a in inputs])
    want = evaluate(xe.parse_hlo(MODULE), *inputs)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-6)
    for a, b in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_step_says_where_it_runs(backend: Platform) -> None:
    result = _compile(backend)
    steps = result.executable.steps if result.executable is not None else []
    for step in steps:
        assert step.runs_on in ("kernel", "library", "copy", "evaluator")
        if step.runs_on == "evaluator" and backend.name != "interpreter":
            assert step.reason is not None, f"{step.name} runs on the evaluator without a reason"


FFT = "HloModule f\nENTRY e { x = c64[8] parameter(0)\n y = c64[8] fft(x), fft_type=FFT, fft_length={8}\n ROOT z = c64[8] add(y, y) }"


@pytest.mark.parametrize("text", [MODULE, FFT])
def test_what_runs_on_the_evaluator_is_what_the_compiler_does_not_support(backend: Platform, text: str) -> None:
    result = _compile(backend, text)
    if result.executable is None or backend.name == "interpreter":
        pytest.skip(f"{backend.name} has no native steps here")
    compiler, module = backend.compiler(), result.trace.module
    for step in result.executable.steps:
        refused = compiler.supports(module.find(step.instruction)) is not None
        assert refused == (step.runs_on == "evaluator"), step.name


def test_results_do_not_share_memory(backend: Platform) -> None:
    result = _compile(backend)
    if result.executable is None:
        pytest.skip(f"{backend.name} cannot run here: {result.why_not}")
    first = result.executable.execute([np.asarray(a) for a in _inputs()])
    copy = first[0].copy()
    result.executable.execute([np.ones((5, 3), np.float32), np.asarray(np.int32(0))])
    np.testing.assert_array_equal(first[0], copy)


def test_literals_travel(backend: Platform) -> None:
    if (why := backend.availability()) is not None:
        pytest.skip(f"{backend.name}: {why}")
    executor, manager = backend.stream_executor(), backend.transfer_manager()
    for value in (np.arange(6, dtype=np.int16).reshape(2, 3), np.float64(2.5), (np.arange(3.0), np.array([True, False]))):
        literal = literal_from_array(value)
        buffers = manager.transfer_literal_to_device(executor, literal)
        assert manager.transfer_literal_from_device(executor, buffers, literal.shape) == literal
        for buffer in buffers:
            executor.deallocate(buffer)


def test_a_copy_that_does_not_fit_is_refused(backend: Platform) -> None:
    if (why := backend.availability()) is not None:
        pytest.skip(f"{backend.name}: {why}")
    executor = backend.stream_executor()
    memory = executor.allocate(8)
    with pytest.raises(ValueError, match="fit"):
        executor.copy_to_device(memory, bytes(9))
    with pytest.raises(ValueError):
        executor.copy_from_device(memory, 9)


def test_an_unknown_backend_names_the_known_ones() -> None:
    with pytest.raises(UnknownBackendError, match="cpu"):
        platform("cpx")
