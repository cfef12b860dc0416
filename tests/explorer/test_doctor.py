"""`xe.doctor`: its rows about this machine."""

import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.backends.gpu.runtime import devices
from xla_explorer.foundation.reason import refuse


def test_the_limits_of_the_machine_are_measured_and_said() -> None:
    rows = {row.name: row for row in xe.doctor()}
    limits = machine_limits()
    assert f"{limits.stream_bandwidth / 1e9:.1f} GB/s" in rows["memory bandwidth"].detail
    assert f"{limits.f32_flops / 1e9:.0f} Gflop/s" in rows["arithmetic peak"].detail
    assert all(
        row.fix
        for row in rows.values()
        if row.state == "missing" and not row.name.startswith("backend")
    )


def test_limits_that_were_measured_again_are_never_lower() -> None:
    before = machine_limits()
    assert "memory bandwidth" in {row.name for row in xe.doctor(measure_again=True)}
    after = machine_limits()
    assert after.stream_bandwidth >= before.stream_bandwidth and after.f64_flops >= before.f64_flops


def test_the_tool_behind_inner_loops_is_looked_for() -> None:
    [row] = [row for row in xe.doctor() if row.name == "llvm-mca"]
    assert row.state == ("missing" if row.fix else "ok")


@pytest.mark.parametrize("there", [False, True])
def test_whether_gpu_programs_run_on_a_device_is_said(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = devices.emulated_executor()
    why = None if there else refuse("no-driver", "no driver answers")
    monkeypatch.setattr(devices, "device_executor", lambda: (executor, why))
    [row] = [row for row in xe.doctor() if row.name == "NVIDIA device"]
    assert (
        row.state == ("ok" if there else "limited")
        and ("emulator: no driver answers" in row.detail) is not there
    )


def test_a_misspelt_variable_is_told_with_the_one_that_was_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XLA_EXPLORER_TRAGET", "x86-64-v3")
    monkeypatch.setenv("XLA_EXPLORER_PJRT_KEEP", "3")
    rows = [row for row in xe.doctor() if row.name == "environment" and "TRAGET" in row.detail]
    assert [row.fix for row in rows] == ["did you mean XLA_EXPLORER_TARGET?"]
    assert not any("PJRT" in row.detail for row in xe.doctor() if row.name == "environment")
