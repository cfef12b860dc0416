"""The measuring script for a lent device, run on the emulator and with the fake driver."""

import json
import sys
from pathlib import Path

import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import FakeDriver
from xla_explorer.backends.gpu.runtime import code_loading
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.hlo.text.parser import parse_hlo

PERFORMANCE = Path(__file__).resolve().parents[2] / "performance"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(PERFORMANCE))
    from tests.performance import gpu_device

    yield gpu_device
    for name in [name for name in sys.modules if name.startswith("gpu_device")]:
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_on_the_emulator(script, tmp_path, capsys):
    out = tmp_path / "proof.json"
    assert (
        script.main(
            [
                "--emulate",
                "--sections",
                "environment,copy,memory,matmul",
                "--repeats",
                "1",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    result = json.loads(out.read_text())
    assert {"date", "device", "command", "copy", "memory", "matmul"} <= set(result) and result[
        "device"
    ]["name"] == "PTX emulator"
    assert (
        result["environment"]["first_kernel_error"] < 1e-6
        and "cublasLt" in result["environment"]["libraries"]
    )
    names = [
        "elementwise_chain",
        "softmax",
        "layernorm",
        "reduce_rows",
        "reduce_columns",
        "reduce_all",
        "transpose",
        "transpose_bf16",
        "row_moments",
    ]
    assert [row["name"] for row in result["memory"]] == names
    assert all(row["relative_error"] < 1e-5 and row["median_us"] > 0 for row in result["memory"])
    own = result["matmul"]["own"]
    assert (
        own["relative_error"] < 1e-2
        and own["emitters"][0].startswith("tensor-core-dot")
        and "torch" in result["matmul"]
    )
    written = {row["name"]: row["emitters"][0].split()[0] for row in result["memory"]}
    assert written["softmax"] == written["layernorm"] == written["row_moments"] == "row-reduction"
    assert (
        written["transpose"] == written["transpose_bf16"] == "transpose"
        and written["reduce_columns"] == "column-reduction"
    )
    assert [
        row["kernels"]
        for row in result["memory"]
        if row["name"] in ("softmax", "layernorm", "row_moments")
    ] == [1, 1, 1]
    assert "transpose" in capsys.readouterr().out


def unknown_fields(script, result):
    from tests.performance import gpu_device_report

    return gpu_device_report.unknown_fields(result)


WORKLOAD = """HloModule w
ENTRY e { x = f32[64] parameter(0) y = f32[64] multiply(x, x) ROOT r = f32[64] add(y, x) }
"""
HARNESS = """import gzip, numpy as np
def make_inputs(specs): return [np.ones(s["shape"], np.float32) for s in specs]
def load_text(base, w): return open(f"{base}/{w['hlo']}").read()
def compare(want, got, w): return "" if all(np.allclose(a, b) for a, b in zip(want, got)) else "wrong"
"""
CASES = '''from types import SimpleNamespace
import numpy as np
TEXT = """HloModule c
ENTRY e { x = f32[8] parameter(0) ROOT r = f32[8] add(x, x) }"""
def load_cases(path): return [SimpleNamespace(name=f"case{k}", hlo=TEXT, inputs=[np.full(8, float(k), np.float32)]) for k in range(4)]
def compare_case(out, case): return bool((out[0] == 2 * case.inputs[0]).all() and case.name != "case2"), "planted", None
'''


def corpora(tmp_path, cases=CASES):
    perf, conformance = tmp_path / "perf", tmp_path / "conformance"
    (perf / "dev").mkdir(parents=True)
    conformance.mkdir()
    (perf / "perf.py").write_text(HARNESS)
    (perf / "dev" / "m_one.hlo").write_text(WORKLOAD)
    workload = {
        "name": "m_one",
        "hlo": "m_one.hlo",
        "inputs": [{"shape": [64]}],
        "input_bytes": 256,
        "output_bytes": 256,
    }
    (perf / "dev" / "workloads.json").write_text(
        json.dumps([workload, {**workload, "name": "x_other"}])
    )
    (conformance / "conformance.py").write_text(cases)
    return ["--perf", str(perf), "--conformance", str(conformance)]


def test_on_the_cuda_side(script, tmp_path, monkeypatch):
    import gpu_device_sections

    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setattr(code_loading, "_by_nvjitlink", lambda program: "is not installed")
    fake = FakeDriver()
    executor = CudaExecutor(driver_of(fake))
    monkeypatch.setattr(gpu_device_sections, "device_executor", lambda name: (executor, None))
    monkeypatch.setattr(
        "xla_explorer.backends.gpu.gpu_compiler.device_executor", lambda name: (executor, None)
    )
    out = tmp_path / "out.json"
    sections = [
        "--sections",
        "environment,copy,sample,conformance,perf",
        "--gigabytes",
        "0.0001",
        "--in-process",
        "--repeats",
        "3",
        "--out",
        str(out),
    ]
    assert script.main([*corpora(tmp_path), *sections]) == 0
    result = json.loads(out.read_text())
    assert (
        result["device"]["name"] == "NVIDIA FAKE"
        and result["device"]["architecture"] == "sm_90a"
        and result["copy"]["GB/s"] > 0
    )
    assert result["environment"]["code"] == "driver"
    assert (result["conformance"]["run"], result["conformance"]["passed"]) == (4, 3) and result[
        "conformance"
    ]["failures"] == {"case2": "planted"}
    (row,) = result["perf"]
    assert (
        row["name"] == "m_one"
        and row["wrong"] == ""
        and row["device"]["median_us"] == 250.0
        and row["steps"] == {"kernel": 1}
    )
    assert fake.calls.count("cuGraphLaunch") > 3
    assert row["work"] == [
        {
            "name": row["work"][0]["name"],
            "runs_on": "kernel",
            "us": 250.0,
            "calls": 1,
            "emitter": "loop",
        }
    ]
    assert row["bytes"] == 512 and row["GB/s"] == 0.0
    assert (
        result["sample"]["run"] == 4
        and result["environment"]["nvidia_smi"]
        and unknown_fields(script, result) == []
    )


@pytest.mark.slow
def test_children_that_die_or_hang_are_replaced(script, tmp_path):
    cases = CASES.replace(
        "def compare_case(out, case):",
        """def compare_case(out, case):
    import os, time
    if case.name == "case1": os._exit(9)
    if case.name == "case2": time.sleep(60)
    return True, "", None
def unused(out, case):""",
    )
    out = tmp_path / "out.json"
    options = ["--emulate", "--sections", "conformance", "--item-seconds", "6", "--out", str(out)]
    assert script.main([*corpora(tmp_path, cases), *options]) == 1
    found = json.loads(out.read_text())["conformance"]
    assert (found["run"], found["passed"]) == (4, 2)
    assert (
        "status 9" in found["failures"]["case1"] and "no answer for 6" in found["failures"]["case2"]
    )


@pytest.mark.slow
def test_a_comparison_that_hangs_costs_no_row_of_ours(script, tmp_path):
    folders = corpora(tmp_path)
    harness = tmp_path / "perf" / "perf.py"
    harness.write_text(
        harness.read_text() + "\ndef compare(*given):\n    import time\n    time.sleep(60)\n"
    )
    out = tmp_path / "out.json"
    options = [
        "--emulate",
        "--sections",
        "perf",
        "--item-seconds",
        "8",
        "--repeats",
        "2",
        "--out",
        str(out),
    ]
    assert script.main([*folders, *options]) == 0
    (row,) = json.loads(out.read_text())["perf"]
    assert row["device"]["n"] >= 1 and "did not end" in row["jax"] and "error" not in row


def test_the_three_calls_from_an_archive(script, tmp_path, capsys):
    folders = corpora(tmp_path)
    (tmp_path / "conformance" / "dev").mkdir()
    archive = tmp_path / "packed" / "corpora.tar.gz"
    assert (
        script.main([*folders, "--pack", str(archive)]) == 0 and "bytes" in capsys.readouterr().out
    )
    outs = [tmp_path / f"call{number}.json" for number in (2, 3)]
    common = [
        "--emulate",
        "--in-process",
        "--repeats",
        "1",
        "--rounds",
        "1",
        "--corpora",
        str(archive),
    ]
    for number, out in zip((2, 3), outs, strict=True):
        assert script.main([*common, "--call", str(number), "--out", str(out)]) == 0
    assert script.main(["--merge", *map(str, outs), "--out", str(tmp_path / "all.json")]) == 0
    result = json.loads((tmp_path / "all.json").read_text())
    assert result["conformance"]["run"] == 4 and [row["name"] for row in result["perf"]] == [
        "m_one"
    ]
    assert len(result["calls"]) == 2 and result["device"]["name"] == "PTX emulator"
    assert {section for call in script.CALLS.values() for section in call} == set(script.SECTIONS)
    with pytest.raises(SystemExit):
        script.main(["--call", "1"])
    assert (
        script.main(["--report", str(tmp_path / "all.json"), "--out", str(tmp_path / "all.md")])
        == 0
    )
    text = (tmp_path / "all.md").read_text()
    assert (
        "**Emulated" in text
        and "- all conformance cases: 3 of 4 pass (75.0 %)" in text
        and "| m_one |" in text
        and "1 kernel |" in text
    )


def test_every_field_is_described_and_rendered(script):
    """A result as a device would give it."""
    times = {"n": 30, "median_us": 512.25, "iqr_us": 1.5}
    items = [
        ("copy", "copy"),
        ("memory", "softmax"),
        ("memory", "transpose"),
        ("matmul", "own"),
        ("matmul", "torch"),
        ("sample", "a|b"),
        ("perf", "m_x"),
        ("perf", "m_y"),
    ]
    rows = {
        ("copy", "copy"): {**times, "bytes": 2 << 30, "GB/s": 4000.0},
        ("memory", "softmax"): {
            **times,
            "GB/s": 3800.0,
            "relative_error": 1.5e-7,
            "bytes": 2 << 30,
        },
        ("memory", "transpose"): {"error": "CudaError: out | of memory"},
        ("matmul", "own"): {**times, "TFLOP/s": 600.0, "relative_error": 2e-3},
        ("matmul", "torch"): {"TFLOP/s": 800.0},
        ("sample", "a|b"): {"problem": "differs"},
        ("perf", "m_x"): {
            "device": times,
            "jax_device_us": 600.0,
            "ratio_device": 0.85,
            "busy_us": 504.0,
            "ratio_busy": 0.84,
            "GB/s": 2000.0,
            "TFLOP/s": 1.25,
            "steps": {"kernel": 2},
            "wrong": "",
        },
    }
    result = {
        "date": "2030-01-02T03:04:05+00:00",
        "device": {"name": "NVIDIA X", "driver": 13000},
        **script.tables(items, rows),
    }
    assert unknown_fields(script, result) == [] and unknown_fields(
        script, {**result, "more": 1, "copy": {"odd": 1}}
    ) == ["more", "copy/odd"]
    assert result["left_out"] == {"perf": 1} and result["matmul"]["own"]["share_of_cublas"] == 0.75
    text = script.markdown(result)
    assert text.startswith("## NVIDIA X, 2030-01-02\n") and "Emulated" not in text
    assert (
        "| softmax | 512 | 3,800 | 95.0 % | 1.5e-07 |" in text
        and "| transpose |  |  |  | CudaError: out \\| of memory |" in text
    )
    assert "| own | 512 | 600 | 75.0 % | 2.0e-03 |" in text
    assert "| m_x | 512 | 504 | 600 | 0.85 | 0.84 | 2,000 | 50.0 % | 1.25 | 2 kernel |" in text
    assert (
        "geometric mean of device times: 0.850" in text
        and "the same of times without launching: 0.840" in text
    )
    assert (
        "- a sample of the conformance cases: 0 of 1 pass (0.0 %)" in text
        and "- perf: 1 not begun in time" in text
    )


def test_calls_are_merged(script):
    first = {"date": "1", "copy": {"GB/s": 1}, "sample": {"run": 3}, "left_out": {"sample": 2}}
    second = {"date": "2", "left_out": {"copy": 1, "perf": 9}}
    both = script.merged([first, second])
    assert (
        both["left_out"] == {"sample": 2, "perf": 9}
        and both["copy"] == {"GB/s": 1}
        and [c["date"] for c in both["calls"]] == ["1", "2"]
    )
    assert (
        script.merged([first, second, {"perf": [], "sample": {"run": 5}}]).get("left_out") is None
    )


NCU = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","softmax","dram__bytes.sum","Gbyte","2.15"
"0","7","softmax","gpu__time_duration.sum","usecond","533"
"1","7","other","dram__bytes.sum","byte","1,024"
==PROF== Disconnected
"""


def test_counters_are_read(script):
    from tests.performance import gpu_device_tools

    assert gpu_device_tools.counter_rows(NCU) == [
        {
            "kernel": "softmax",
            "dram__bytes.sum": "2.15 Gbyte",
            "gpu__time_duration.sum": "533 usecond",
        },
        {"kernel": "other", "dram__bytes.sum": "1,024 byte"},
    ]
    assert gpu_device_tools.counter_rows("==ERROR== no permission") == []


def test_a_section_keeps_its_time(script, tmp_path, monkeypatch):
    monkeypatch.setitem(script.SECTION_SECONDS, "sample", 0)
    out = tmp_path / "out.json"
    assert (
        script.main(
            [
                *corpora(tmp_path),
                "--emulate",
                "--sections",
                "sample,copy",
                "--repeats",
                "1",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    result = json.loads(out.read_text())
    assert (
        "sample" not in result
        and result["left_out"] == {"sample": 4}
        and result["copy"]["GB/s"] > 0
    )


def test_the_time_is_kept(script, tmp_path):
    out = tmp_path / "out.json"
    options = ["--emulate", "--sections", "conformance", "--seconds", "0", "--out", str(out)]
    assert script.main([*corpora(tmp_path), *options]) == 1 and "conformance" not in json.loads(
        out.read_text()
    )


def test_union_of_intervals(script):
    from tests.performance.gpu_device_report import geometric_mean
    from tests.performance.gpu_device_rivals import covered

    assert covered([(5, 6), (0, 2), (1, 3), (10, 11)]) == 5
    assert geometric_mean([1, 4]) == 2 and geometric_mean([]) is None


def test_the_reference_multiplies_in_full_precision():
    from tests.performance.gpu_device_rivals import in_full_precision

    text = """HloModule d
ENTRY e {
  a = f32[4,4] parameter(0)
  dot.1 = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="dot(x)"}
  dot.2 = f32[4,4] dot(dot.1, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}
  ROOT r = f32[4,4] add(dot.1, dot.2)
}
"""
    exact = in_full_precision(text)
    found = [
        i.attributes.get("operand_precision")
        for i in parse_hlo(exact).instructions()
        if i.opcode.name == "dot"
    ]
    assert (
        found == [("highest", "highest"), ("high", "default")]
        and exact.count("operand_precision") == 2
    )
    assert in_full_precision(exact) == exact


def test_the_page_shows_the_newest_figures(script):
    """The page shows each row of the last run's tables and describes every run's fields."""
    from tests.performance.gpu_device_report import markdown, unknown_fields

    kept = sorted((PERFORMANCE.parents[0] / "data" / "device").glob("*.json"))
    assert all(not unknown_fields(json.loads(path.read_text())) for path in kept)
    newest = max((path for path in kept if path.stem.count("_") == 1), key=lambda path: path.stem)
    page = (PERFORMANCE.parents[1] / "notebooks" / "gpu_performance.md").read_text().splitlines()
    rows = [
        line
        for line in markdown(json.loads(newest.read_text())).splitlines()
        if line.startswith("|")
    ]
    assert rows and not set(rows) - set(page)
