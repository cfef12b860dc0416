"""The contract of every registered backend, and detection of broken promises.

A new backend gets these tests by existing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.interfaces import (
    AheadOfTimeCompiler,
    CompileOptions,
    EventRecorder,
    FeedTransfer,
    LinearTransferManager,
    TupleTransfer,
    shape_size_bytes,
)
from xla_explorer.backends.registry import UnknownBackendError, platform
from xla_explorer.backends.testing.contract import CHECKS
from xla_explorer.backends.testing.isolated import IsolatedRunner
from xla_explorer.backends.testing.opcode_program import SIZES, draw
from xla_explorer.backends.testing.outcome import judge
from xla_explorer.backends.testing.programs import PROGRAMS
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import parse_shape

SAMPLE = {
    "cpu": 8,
    "interpreter": 8,
    "xla": 160,
}  # of the other backends every 40th program: they start emulators or compile all by LLVM


@pytest.mark.parametrize("name", xe.backends.names())
def test_a_registered_backend_keeps_its_contract(name: str) -> None:
    found = xe.backends.contract(name, sample=SAMPLE.get(name, 40))
    found.require()
    assert len(found.checks) == len(CHECKS)
    assert set(found.to_frame()["status"]) <= {"ok", "skipped"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", xe.backends.names())
def test_a_registered_backend_keeps_all_of_it(name: str) -> None:
    xe.backends.contract(name).require()


@pytest.mark.long
@pytest.mark.parametrize("name", ["interpreter", "cpu"])
def test_conformance_of_the_backends_that_run_here(name: str) -> None:
    found = xe.backends.conformance(name, types=["f32", "s16", "c64"] if name == "cpu" else None)
    assert found.passed, found.first_failure
    assert found.counts["ok"] == len(found.rows)
    assert found.table().loc["dot", "f32"] == "ok"


def test_what_the_evaluator_does_for_a_backend_is_refused() -> None:
    text = "HloModule d\nENTRY e { n = s32[] parameter(0)\n x = f32[4] parameter(1)\n ROOT y = f32[<=4] set-dimension-size(x, n), dimensions={0} }"
    compiler, options = platform("cpu").compiler(), CompileOptions(cache=False)
    result = compiler.run_backend(compiler.run_hlo_passes(xe.parse_hlo(text), options), options)
    x = np.ones(4, np.float32)
    outcome, _ = judge(result, [np.asarray(4, np.int32), x], [x])
    assert (outcome.status, outcome.code, outcome.runs_on) == (
        "refused",
        "dynamic-dimension",
        "evaluator",
    )


def test_every_program_is_well_formed_and_has_a_value() -> None:
    for program in PROGRAMS:
        for element_type in program.types:
            module = xe.parse_hlo(program.text(element_type, SIZES[-1]))
            xe.verify(module)
            leaves = [leaf for p in module.entry.parameters() for _, leaf in p.shape.leaves()]
            xe.evaluate(module, *[draw(leaf, program.values, k) for k, leaf in enumerate(leaves)])


def test_conformance_refuses_an_opcode_without_a_program() -> None:
    with pytest.raises(xe.XlaExplorerError, match="no conformance program has the opcode infeed"):
        xe.backends.conformance("interpreter", opcodes=["infeed"])


# -- planted violations: a device made by the kit, then broken -------------------------------------
Plant = Callable[..., ModuleType]


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Write a scenario-3 package with (old, new) text replaced in one file, and import it."""
    made: list[str] = []

    def plant(file: str = "", old: str = "", new: str = "") -> ModuleType:
        name = f"victim{len(made)}"
        folder = tmp_path / name
        xe.backends.scaffold(name, 3, folder)
        package = f"xla_explorer_{name}"
        made.append(package)
        if file:
            path = folder / package / file
            assert path.read_text().count(old) == 1
            path.write_text(path.read_text().replace(old, new))
        monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        return importlib.import_module(package)

    yield plant
    for module in [m for m in sys.modules if m.split(".")[0] in made]:
        del sys.modules[module]


def broken(package: ModuleType, name: str) -> str:
    """Return the message of the check with this name, which must fail."""
    found = xe.backends.contract(package.platform(), sample=3)
    failed = {check.name: check.message for check in found.failures}
    assert name in failed, found
    with pytest.raises(xe.XlaExplorerError, match="promises"):
        found.require()
    return failed[name]


def test_the_device_of_the_kit_is_sound(device: Plant) -> None:
    assert xe.backends.contract(device().platform()).kept


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("[: len(raw) - 1] = raw[:-1]", "copy_to_device must copy all len(data) bytes"),
        (
            "[:] = raw.ljust(len(self._memory[address]), b'!')",
            "write len(data) bytes, not the buffer's size",
        ),
    ],
)
def test_a_wrong_copy_size_is_caught(device: Plant, new: str, message: str) -> None:
    assert message in broken(
        device("platform.py", "[: len(raw)] = raw", new), "copies-keep-to-their-size"
    )


def test_too_few_bytes_read_back_are_caught(device: Plant) -> None:
    package = device("platform.py", "[source.address][:size])", "[source.address][: size - 1])")
    assert "copy exactly `size` bytes" in broken(package, "copies-keep-to-their-size")


def test_a_claimed_opcode_without_code_is_caught(device: Plant) -> None:
    package = device(
        "compiler.py",
        "if i.opcode.name not in OPERATIONS:",
        'if i.opcode.name not in {*OPERATIONS, "sine", "log", "floor", "sign"}:',
    )
    message = broken(package, "supports-tells-the-truth")
    assert "supports() claims it, but it is crashed" in message and "return a Reason for" in message


def test_a_claimed_opcode_with_wrong_values_is_caught_and_minimised(device: Plant) -> None:
    package = device("platform.py", '"maximum": np.maximum', '"maximum": np.minimum')
    found = xe.backends.conformance(package.platform(), opcodes=["add", "maximum"], types=["f32"])
    assert found.counts == {"ok": 2, "refused": 0, "wrong": 2, "crashed": 0}
    failure = found.first_failure
    assert failure is not None and failure.row.opcode == "maximum"
    assert "f32[1,1]" in failure.text and len(xe.parse_hlo(failure.text).entry.instructions) == 3
    assert "expected" in str(failure) and "maximum on f32 is wrong" in repr(found)


def test_a_missing_synchronise_is_caught(device: Plant) -> None:
    package = device(
        "compiler.py", "executor.synchronize()  # a launch only queues the work", "pass"
    )
    message = broken(package, "results-are-read-after-synchronize")
    assert "Call synchronize(stream) before the first copy_from_device" in message


def test_a_missing_synchronise_is_caught_where_the_device_happens_to_be_fast(device: Plant) -> None:
    """A missing synchronise is caught by the order of calls.

    A device that runs at once hides the mistake in the values.
    """
    package = device(
        "compiler.py", "executor.synchronize()  # a launch only queues the work", "pass"
    )
    executor = type(package.platform().stream_executor())
    executor.launch = lambda self, loaded, function, arguments, stream=None: self._run(
        loaded, arguments
    )
    assert "without synchronize in between" in broken(package, "results-are-read-after-synchronize")


def test_a_synchronise_that_does_not_wait_is_caught(device: Plant) -> None:
    package = device("platform.py", "while self._queue:", "while self._queue and stream is None:")
    assert "wait until the queue is empty" in broken(package, "synchronize-waits")


def test_a_reason_is_wanted_where_nothing_runs(device: Plant) -> None:
    package = device("compiler.py", "None, seconds, refusal)", "None, seconds)")
    failed = xe.backends.conformance(package.platform(), opcodes=["sine"], types=["f32"]).rows[0]
    assert (failed.status, failed.code) == ("crashed", "no-reason")


@pytest.mark.long
def test_native_code_that_dies_is_crashed(
    device: Plant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a child process that finds the device by its entry point."""
    package = device("platform.py", '"tanh": np.tanh', '"tanh": lambda x: __import__("os").abort()')
    folder = tmp_path / "victim0"
    metadata = folder / "victim-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: victim\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(
        f"[xla_explorer.backends]\nvictim0 = {package.__name__}:platform\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    platform.cache_clear()
    found = xe.backends.conformance(
        "victim0", opcodes=["abs", "tanh", "negate"], types=["f32"], isolate=True
    )
    assert {(r.opcode, r.status, r.code) for r in found.rows} == {
        ("abs", "ok", ""),
        ("negate", "ok", ""),
        ("tanh", "crashed", "SIGABRT"),
    }
    assert found.first_failure is not None and "f32[1,1]" in found.first_failure.text


def test_no_answer_is_crashed() -> None:
    runner = IsolatedRunner("interpreter", timeout=0.001)
    outcome, *_ = runner(
        xe.parse_hlo(
            "HloModule m\nENTRY e { x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }"
        ),
        "any",
        0,
    )
    assert (outcome.status, outcome.code) == ("crashed", "timeout")


def test_isolation_is_for_installed_backends(device: Plant) -> None:
    with pytest.raises(xe.XlaExplorerError, match="installed backends only"):
        xe.backends.conformance(device().platform(), isolate=True)


# -- the registry and the abilities ----------------------------------------------------------------
def test_a_backend_of_this_process(device: Plant) -> None:
    made = device().platform()
    xe.backends.register(made)
    try:
        assert made.name in xe.backends.names() and xe.backends.get(made.name) is made
        session = xe.compile(
            "HloModule m\nENTRY e { x = f32[3] parameter(0)\n ROOT y = f32[3] negate(x) }",
            backend=made.name,
        )
        np.testing.assert_array_equal(session(np.ones(3, np.float32)), -np.ones(3, np.float32))
    finally:
        xe.backends.unregister(made.name)
    assert made.name not in xe.backends.names()


def test_built_in_names_are_taken() -> None:
    with pytest.raises(ValueError, match="built-in"):
        xe.backends.register(platform("cpu"))


def test_an_unknown_backend_names_the_known_ones() -> None:
    with pytest.raises(UnknownBackendError, match="cpu"):
        platform("cpx")


def test_infeed_and_outfeed_keep_their_order() -> None:
    executor, manager = platform("cpu").stream_executor(), LinearTransferManager()
    assert isinstance(manager, FeedTransfer)
    first, second = literal_from_array(np.arange(3.0)), literal_from_array(np.int32(7))
    for literal in (first, second):
        manager.transfer_literal_to_infeed(executor, literal)
    with pytest.raises(ValueError, match="next in the queue is f64"):
        manager.next_infeed(executor, second.shape)
    assert [manager.next_infeed(executor, x.shape) for x in (first, second)] == [first, second]
    with pytest.raises(LookupError, match="outfeed"):
        manager.transfer_literal_from_outfeed(executor, first.shape)
    manager.put_outfeed(executor, second)
    assert LinearTransferManager().transfer_literal_from_outfeed(executor, second.shape) == second


def test_tuple_tables_hold_addresses() -> None:
    executor, manager = platform("cpu").stream_executor(), LinearTransferManager()
    assert isinstance(manager, TupleTransfer)
    elements = [executor.allocate(4), executor.allocate(8)]
    table = manager.write_tuple_index_table(executor, elements)
    assert np.frombuffer(executor.copy_from_device(table, 16), np.uint64).tolist() == [
        e.address for e in elements
    ]


def test_sizes_of_shapes() -> None:
    assert [
        shape_size_bytes(parse_shape(t))
        for t in ("f32[3,5]", "(f32[2], (s8[1], pred[]))", "token[]")
    ] == [60, 16, 0]


def test_abilities_are_asked_for_by_their_protocols() -> None:
    assert isinstance(platform("cpu").compiler(), AheadOfTimeCompiler)
    assert not isinstance(platform("interpreter").compiler(), AheadOfTimeCompiler)
    assert isinstance(platform("gpu").stream_executor(), EventRecorder)
