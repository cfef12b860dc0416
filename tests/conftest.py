"""Setup of all tests: workers, markers of native code, memory, and the environment of each test."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.support.corpora import SHARED, report

HERE = Path(__file__).resolve().parent

# Tests in these folders and files make native code for a CPU: they have the marker `codegen`.
CODEGEN = (
    "backends/aot", "backends/cpu", "backends/cross", "backends/llvm", "compiler/codegen", "conformance/test_cpu_conformance.py",
    "conformance/test_cross_conformance.py", "conformance/test_executable_corpus_cpu.py", "golden", "properties/test_random_modules.py",
)  # fmt: skip
MOST_WORKERS = 8


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite on as many workers as cores if pytest-xdist is installed.

    `-n 0` overrides it. A part of the suite is not worth the start of workers.
    """
    # The suite starts a few hundred Pythons. Where the environment forbids bytecode, each of them
    # would compile the package anew, for more processor time than it then takes to run.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # a worker, or a process that a test started there: it starts none of its own
    option = config.option
    wanted = getattr(option, "numprocesses", 0)  # no such option without pytest-xdist
    if wanted is not None or option.usepdb or option.collectonly or option.capture == "no":
        return
    if {Path(config.invocation_params.dir, argument).resolve() for argument in config.args} <= {
        HERE,
        HERE.parent,
    }:
        from xla_explorer.backends.llvm.target_machine import usable_core_numbers

        workers = min(len(usable_core_numbers()), MOST_WORKERS)
        if workers > 1:
            option.numprocesses = workers
            if option.dist == "no":
                option.dist = "worksteal"


_SUITE_CORE_MINUTES = 20
"""Minutes of one core for the default suite: 44 % took 4.7 minutes on two loaded cores."""


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return the expected minutes of the whole suite, and the presence of reference corpora."""
    workers = getattr(config.option, "numprocesses", None) or 1
    whole = {
        Path(config.invocation_params.dir, argument).resolve() for argument in config.args
    } <= {HERE, HERE.parent}
    if not whole or "PYTEST_XDIST_WORKER" in os.environ:
        return [report()]
    minutes = max(round(_SUITE_CORE_MINUTES / workers), 1)
    takes = f"the whole suite takes at most about {minutes} minutes, cores in use: {workers}; `pytest tests/hlo` tries a part"
    return [takes, report()]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print absent corpora at the end too, where `-q` shows them."""
    if not SHARED.is_dir():
        terminalreporter.write_line(report())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that make native code, and as `slow` the nightly cases of `sampled` tests."""
    _draw_alike_beside_any_module()
    tables: dict[str, list[pytest.Item]] = {}
    codegen: dict[Path, bool] = {}  # by file: ten thousand items have four hundred
    absent = (
        None if SHARED.is_dir() else pytest.mark.skip(reason=f"reference corpora absent: {SHARED}")
    )
    for item in items:
        path = item.path
        if path not in codegen:
            codegen[path] = HERE in path.parents and path.relative_to(HERE).as_posix().startswith(
                CODEGEN
            )
        if codegen[path]:
            item.add_marker("codegen")
        if absent is not None and item.get_closest_marker("shared"):
            item.add_marker(absent)
        if item.get_closest_marker("sampled"):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tables.values():
        mark = cases[0].get_closest_marker("sampled")
        assert mark is not None
        count = min(mark.args[0], len(cases))
        kept = {
            round(k * (len(cases) - 1) / max(count - 1, 1)) for k in range(count)
        }  # evenly, with the first and the last
        for k, item in enumerate(cases):
            if k not in kept:
                item.add_marker("slow")


def _draw_alike_beside_any_module() -> None:
    """Stop Hypothesis from drawing constants of loaded local modules.

    Draws would depend on a test's neighbours, and reading the thousand files takes each worker
    seconds.
    """
    if "hypothesis" in sys.modules:
        from hypothesis.internal.conjecture import providers

        if hasattr(providers, "_get_local_constants"):
            providers._get_local_constants = providers.Constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep collected items out of Python's garbage collector: they live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Keep tables and caches of ended tests out of Python's garbage collector."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            gc.collect()
            gc.freeze()


def _skipping_what_cannot_run() -> Generator[None, object, object]:
    """Skip the rest of a test that would execute code for a CPU above this one.

    XLA_EXPLORER_TARGET describes such a CPU. The checks until then hold, and all code was compiled
    and verified.
    """
    from xla_explorer.backends.llvm.target_machine import TargetAboveMachineError

    try:
        return (yield)
    except TargetAboveMachineError as problem:
        pytest.skip(problem.message)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """See there."""
    return (yield from _skipping_what_cannot_run())


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Skip a fixture that would execute code for a CPU above this one, for each of its tests."""
    try:
        return (yield from _skipping_what_cannot_run())
    except pytest.skip.Exception as skipped:
        if fixturedef.cached_result is not None:  # raised again for the next test of the fixture
            key = fixturedef.cached_result[1]
            fixturedef.cached_result = (None, key, (skipped, skipped.__traceback__))
        raise


@pytest.fixture
def runs_here() -> None:
    """Skip the test if this CPU cannot run the target's native code.

    Tests call it if an exception would not end them: in threads, in children, behind a caught
    error.

    An exception would not end these tests.
    """
    from xla_explorer.backends.llvm.target_machine import host_target, why_not_here

    if (why := why_not_here(host_target())) is not None:
        pytest.skip(f"compiled and verified only: {why.message}")


@pytest.fixture(autouse=True)
def jax_as_its_users_have_it() -> Iterator[None]:
    """Turn off what a test switched on in this process, such as 64-bit types."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and getattr(jax.config, "jax_enable_x64", False):
        jax.config.update("jax_enable_x64", False)


@pytest.fixture(autouse=True)
def passes_as_they_were() -> Iterator[None]:
    """Remove the passes that a test declared, so that a test of every pass runs none of them."""
    yield
    passes = sys.modules.get("xla_explorer.compiler.pipeline.pass_interface")
    if passes is not None:
        for name, declared in passes.declared_passes().items():
            if "<locals>" in declared.__qualname__ or declared.__module__ == "__main__":
                passes._REGISTRY.pop(name, None)
