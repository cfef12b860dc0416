"""Measured limits: plausible, quick, kept on disk."""

import dataclasses
import json
import os
import threading
import time

import pytest

from xla_explorer.backends.cpu import machine_limits as limits_module
from xla_explorer.backends.cpu.machine_limits import MachineLimits, machine_limits, measure
from xla_explorer.backends.cpu.microbenchmarks import multiply_add_ir
from xla_explorer.backends.llvm.target_machine import usable_cores

EXAMPLE = MachineLimits("cpu", 4, 256, 10e9, 30e9, 100e9, 50e9, 400e9, 200e9)


def test_roofline():
    assert EXAMPLE.roofline_seconds(100e9, 1e9) == 1.0
    assert EXAMPLE.roofline_seconds(1e9, 10e9) == 1.0
    assert EXAMPLE.roofline_seconds(200e9, 1e9, "f64", threads=4) == 1.0
    assert EXAMPLE.roofline_share(2.0, 100e9, 0) == 0.5
    assert EXAMPLE.bandwidth(2) == 20e9 and EXAMPLE.bandwidth(4) == 30e9
    assert EXAMPLE.roofline_share(0.0, 1, 1) == 0.0


def test_streaming_stores_have_a_roof_of_their_own():
    limits = dataclasses.replace(
        EXAMPLE,
        streaming_bandwidth=12e9,
        streaming_bandwidth_all=40e9,
        cached_bandwidth=((1 << 20, 90e9),),
    )
    assert limits.bandwidth(streaming=True) == 12e9 and limits.bandwidth(4, streaming=True) == 40e9
    assert (
        limits.roofline_seconds(0, 12e9, streaming=True) == 1.0
        and limits.roofline_seconds(0, 12e9) == 1.2
    )
    assert (
        limits.bandwidth(touched=1000, streaming=True) == 90e9
    )  # what stays in a cache is not streamed
    assert EXAMPLE.bandwidth(streaming=True) == 10e9  # not measured


def test_a_measurement_has_every_limit():
    limits = measure(array_bytes=1 << 20, repeats=1)
    assert 1e6 < limits.stream_bandwidth <= limits.stream_bandwidth_all < 1e13
    assert 1e6 < limits.f64_flops <= limits.f64_flops_all < 1e13
    assert 1e6 < limits.f32_flops <= limits.f32_flops_all < 1e13
    assert limits.cores == usable_cores()


@pytest.mark.performance
def test_a_measurement_is_plausible_and_quick():
    started = time.perf_counter()
    limits = measure(array_bytes=4 << 20, repeats=2)
    assert time.perf_counter() - started < 5
    assert limits.stream_bandwidth > 1e8 and 1e8 < limits.f64_flops < limits.f32_flops * 1.5
    assert limits.f32_flops_all <= limits.f32_flops * limits.cores * 2
    assert limits.streaming_bandwidth <= limits.streaming_bandwidth_all < 1e13


def test_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XLA_EXPLORER_CACHE", raising=False)
    calls = []
    monkeypatch.setattr(limits_module, "measure", lambda: calls.append(1) or EXAMPLE)
    for _ in range(2):
        machine_limits.cache_clear()
        assert machine_limits() == EXAMPLE
    assert len(calls) == 1
    (path,) = tmp_path.rglob("machine_limits-*.json")
    assert json.loads(path.read_text())["f32_flops"] == 100e9
    faster = dataclasses.replace(EXAMPLE, f32_flops=120e9, stream_bandwidth=1e9)
    monkeypatch.setattr(limits_module, "measure", lambda: faster)
    merged = limits_module.refresh_machine_limits()
    assert merged == machine_limits() == dataclasses.replace(EXAMPLE, f32_flops=120e9)
    monkeypatch.setattr(limits_module, "measure", lambda: calls.append(1) or EXAMPLE)
    path.write_text("{ damaged")
    machine_limits.cache_clear()
    assert machine_limits() == EXAMPLE and len(calls) == 2
    machine_limits.cache_clear()


def test_what_was_measured_beside_others_is_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(limits_module, "user_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(limits_module, "cache_enabled_by_environment", lambda: True)
    busy = dataclasses.replace(EXAMPLE, f32_flops=40e9, stream_bandwidth=20e9, processor_share=0.5)
    results = [busy, dataclasses.replace(EXAMPLE, processor_share=0.99), EXAMPLE]
    monkeypatch.setattr(limits_module, "measure", lambda: results.pop(0))
    found = []
    try:
        for _ in range(3):  # three processes
            machine_limits.cache_clear()
            found.append(machine_limits())
    finally:
        machine_limits.cache_clear()
    assert found[0] == busy
    assert (
        found[1]
        == found[2]
        == dataclasses.replace(EXAMPLE, stream_bandwidth=20e9, processor_share=0.99)
    )  # the higher of both
    assert results == [EXAMPLE]  # the third has read them


@pytest.mark.skipif(
    os.name != "posix", reason="no flock here: processes do NOT wait for each other"
)
def test_one_process_measures_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(limits_module.tempfile, "gettempdir", lambda: str(tmp_path))
    order = []

    def second():
        with limits_module._alone():
            order.append("second")

    with limits_module._alone():
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join()
    with (
        limits_module._alone(),
        limits_module._alone(patience=0.1),
    ):  # a process that holds it forever blocks no other
        order.append("third")
    assert order == ["first", "second", "third"]
    (tmp_path / "xla_explorer-measures").unlink()
    (tmp_path / "xla_explorer-measures").symlink_to(tmp_path / "elsewhere")
    with limits_module._alone():  # a link is not followed
        assert not (tmp_path / "elsewhere").exists()


DAMAGES = {
    "zeros": lambda d: {k: 0 if isinstance(v, float) else v for k, v in d.items()},
    "strings": lambda d: dict.fromkeys(d, "fast"),
    "infinite": lambda d: {**d, "f32_flops": float("inf")},
    "not a number": lambda d: {**d, "stream_bandwidth": float("nan")},
    "negative": lambda d: {**d, "streaming_bandwidth": -1.0},
    "more than a core": lambda d: {**d, "processor_share": 1.5},
    "no cores": lambda d: {**d, "cores": 0},
    "no such field": lambda d: {**d, "more": 1.0},
    "a field missing": lambda d: {k: v for k, v in d.items() if k != "f64_flops"},
    "a list": lambda d: [1, 2],
    "a number": lambda d: 7,
    "nothing": lambda d: None,
    "caches of text": lambda d: {**d, "cached_bandwidth": "abc"},
    "caches that are slow": lambda d: {**d, "cached_bandwidth": [[1024, 0.0]]},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_no_measurement_gives_is_a_miss(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(limits_module, "user_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(limits_module, "cache_enabled_by_environment", lambda: True)
    monkeypatch.setattr(limits_module, "measure", lambda: EXAMPLE)
    machine_limits.cache_clear()
    try:
        machine_limits()
        (path,) = tmp_path.glob("machine_limits-*.json")
        path.write_text(json.dumps(DAMAGES[damage](json.loads(path.read_text()))))
        machine_limits.cache_clear()
        assert machine_limits() == EXAMPLE and machine_limits().roofline_seconds(100e9, 1e9) == 1.0
    finally:
        machine_limits.cache_clear()


@pytest.mark.parametrize("lanes", [1, 4])
def test_multiply_add_without_fma(lanes):
    from xla_explorer.backends.llvm.llvm_compiler import optimized_ir

    text = optimized_ir(multiply_add_ir("f", "float", lanes, has_fma=False))
    assert text.count("fmul") >= 12 and "llvm.fma" not in text
