"""The worker of real XLA works with jaxlib's of several ages."""

from __future__ import annotations

import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from xla_explorer.backends.xla.worker import Worker


@pytest.mark.parametrize("place", ["_jax", "_hlo"])
def test_hlo_text_is_parsed_where_jaxlib_has_its_parser(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jaxlib 0.6 has `hlo_module_from_text` in `_jax`, 0.10 in `_hlo`."""
    seen: list[Any] = []
    parsed = SimpleNamespace(as_serialized_hlo_module_proto=lambda: b"proto")
    modules = {name: ModuleType(f"jaxlib.{name}") for name in ("_jax", "_hlo", "xla_client")}
    setattr(modules[place], "hlo_module_from_text", lambda text: seen.append(text) or parsed)  # noqa: B010 - which module varies
    vars(modules["_jax"])["mlir"] = SimpleNamespace(
        hlo_to_stablehlo=lambda proto: proto + b" as StableHLO"
    )
    vars(modules["xla_client"])["CompileOptions"] = dict
    package = ModuleType("jaxlib")
    vars(package).update(modules)
    monkeypatch.setitem(sys.modules, "jaxlib", package)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, f"jaxlib.{name}", module)
    worker = Worker.__new__(Worker)
    client = SimpleNamespace(
        compile_and_load=lambda module, devices, options: ("executable of", module)
    )
    worker.device, worker.devices = SimpleNamespace(client=client), ()
    assert set(worker.compile("HloModule m")) == {"parse", "to-stablehlo", "xla"}
    assert seen == ["HloModule m"] and worker.executable == ("executable of", b"proto as StableHLO")


class _Sleeping:
    """An executable whose run takes wall time, and no processor time."""

    def execute(self, _: object) -> list[object]:
        time.sleep(0.02)
        return []


def test_runs_are_timed_by_wall_where_a_recording_is_compared(monkeypatch):
    worker = object.__new__(Worker)
    worker.executable = _Sleeping()
    worker._placed = lambda arrays, before: []
    monkeypatch.setenv("XLA_EXPLORER_WORKER_CLOCK", "process")
    assert worker.time([], 1)[0] < 15_000
    assert worker.time([], 1, by_wall=True)[0] >= 20_000
