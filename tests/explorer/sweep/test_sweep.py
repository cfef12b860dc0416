"""Sweeps: the same frame whatever runs them, failures as rows, workers that die, sweeps that go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.sweep.sweeping import named_options

STEADY = ["module", "option", "backend", "status", "instructions", "kernels", "flops", "bytes", "key"]


def text(number: int, opcode: str = "tanh") -> str:
    return (f"HloModule m{number}\nENTRY e {{\n  x = f32[{8 + number}] parameter(0)\n  y = f32[{8 + number}] {opcode}(x)\n"
            f"  ROOT r = f32[{8 + number}] multiply(y, x)\n}}")


def test_options_in_three_forms() -> None:
    assert named_options({"passes": ["default", "none"], "backend": "cpu"}) == [
        ("passes=default, backend=cpu", {"passes": "default", "backend": "cpu"}), ("passes=none, backend=cpu", {"passes": "none", "backend": "cpu"})]
    assert named_options({"ours": {"passes": "dce"}}) == [("ours", {"passes": "dce"})]
    assert named_options([{}]) == [("{}", {})]
    with pytest.raises(xe.XlaExplorerError, match="plain data"):
        named_options([{"passes": object()}])


def test_a_row_for_each_pair_in_order() -> None:
    frame = xe.sweep({"a": text(0), "b": text(1)}, {"passes": ["default", "none"]}, repeats=2)
    assert list(zip(frame["module"], frame["option"], strict=True)) == [
        ("a", "passes=default"), ("a", "passes=none"), ("b", "passes=default"), ("b", "passes=none")]
    assert set(frame["status"]) == {"ok"} and (frame["median_us"] > 0).all() and (frame["max_error"] < 1e-3).all()
    assert frame["kernels"][0] < frame["kernels"][1], "fused against not"
    assert frame["host"][0] and frame["xla_explorer"][0] == xe.__version__


def test_a_failure_is_a_row() -> None:
    frame = xe.sweep([text(0)], [{}, {"backend": "nowhere"}, {"passes": "no-such-pass"}], repeats=0)
    assert list(frame["status"]) == ["ok", "failed", "failed"]
    assert "nowhere" in frame["error"][1] and "no-such-pass" in frame["error"][2]


def test_processes_give_the_same_frame() -> None:
    modules, options = [text(k) for k in range(3)], [{"passes": "default"}, {"passes": "none"}]
    serial = xe.sweep(modules, options, repeats=0)
    parallel = xe.sweep(modules, options, executor=2, repeats=0)
    assert serial[STEADY].equals(parallel[STEADY])
    assert os.getpid() not in set(parallel["process"])


def test_a_finished_row_is_not_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    first = xe.sweep([text(0), text(1)], [{}], repeats=1, store=store)
    with open(store, "a") as file:
        file.write('{"key": "torn')  # as a kill in the middle of a line leaves it
    second = xe.sweep([text(0), text(1), text(2)], [{}], repeats=1, store=store)
    assert list(second["when"][:2]) == list(first["when"]) and list(second["median_us"][:2]) == list(first["median_us"])
    assert len([line for line in store.read_text().splitlines() if line.endswith("}")]) == 3


KILLED = """
import sys, json
sys.path.insert(0, {here!r})
import xla_explorer as xe
from test_sweep import text
xe.sweep([text(k) for k in range(40)], [{{"passes": "default"}}], repeats=0, store={store!r})
"""


def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    command = [sys.executable, "-c", KILLED.format(here=str(Path(__file__).parent), store=str(store))]
    process = subprocess.Popen(command)
    while not (store.exists() and store.read_text().count("\n") >= 3):
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    done = {json.loads(line)["key"] for line in store.read_text().splitlines() if line.endswith("}")}
    assert 3 <= len(done) < 40
    frame = xe.sweep([text(k) for k in range(40)], [{"passes": "default"}], repeats=0, store=store)
    assert len(frame) == 40 and set(frame["status"]) == {"ok"}
    assert set(frame[frame["key"].isin(done)]["process"]) == {process.pid}, "what was finished came from the killed one"
    assert set(frame[~frame["key"].isin(done)]["process"]) == {os.getpid()}




def test_a_worker_that_dies_is_replaced_and_its_task_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The worker processes find this start-up file: the first of them to start dies once at its first task.
    marker = tmp_path / "died"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\n"
        f"marker = {str(marker)!r}\n"
        "def hook():\n"
        "    import xla_explorer.explorer.sweep.task as task\n"
        "    real = task.run_task\n"
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'xla_explorer.explorer.session' and not os.path.exists(marker) and 'spawn_main' in ' '.join(sys.orig_argv):\n"
        "            open(marker, 'w').close(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.meta_path.insert(0, Finder())\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    frame = xe.sweep([text(k) for k in range(4)], [{}], executor=2, repeats=0)
    assert marker.exists() and set(frame["status"]) == {"ok"} and len(frame) == 4


@pytest.mark.slow
def test_dask_cluster_with_a_worker_killed_twice_gives_the_serial_frame() -> None:
    distributed = pytest.importorskip("dask.distributed", reason='needs the extra `sweep`: pip install "xla-explorer[sweep]"')
    modules, options = [text(k) for k in range(200)], [{"passes": p} for p in ("default", "none", "algsimp,dce", "cse,dce,fusion")]
    serial = xe.sweep(modules, options, repeats=1)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        killer = threading.Thread(target=_kill_twice, args=(client,))
        killer.start()
        parallel = xe.sweep(modules, options, executor=client, repeats=1)
        killer.join()
    assert serial[STEADY].equals(parallel[STEADY])


def _kill_twice(client: Any) -> None:
    for _ in range(2):
        time.sleep(6)
        pids = list(client.run(os.getpid).values())
        os.kill(pids[0], signal.SIGKILL)


def test_a_script_that_sweeps_at_its_top_level_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import xla_explorer as xe\nxe.sweep([{text(1)!r}], [{{}}], executor=2, repeats=0)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and "WorkersDoNotStartError" in done.stderr and "if __name__ == '__main__':" in done.stderr
