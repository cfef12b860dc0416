"""Sweeps: the same frame from every runner, failures as rows, dead workers, resumption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import xla_explorer as xe
from tests.support.pace import wall_seconds
from xla_explorer.explorer.comparisons.sweep import executors
from xla_explorer.explorer.comparisons.sweep.sweeping import named_options

ROOT = Path(__file__).resolve().parents[3]
STEADY = [
    "module",
    "option",
    "backend",
    "status",
    "instructions",
    "kernels",
    "flops",
    "bytes",
    "key",
]


def text(number: int, opcode: str = "tanh") -> str:
    return (
        f"HloModule m{number}\nENTRY e {{\n  x = f32[{8 + number}] parameter(0)\n  y = f32[{8 + number}] {opcode}(x)\n"
        f"  ROOT r = f32[{8 + number}] multiply(y, x)\n}}"
    )


def test_options_in_three_forms() -> None:
    assert named_options({"passes": ["default", "none"], "backend": "cpu"}) == [
        ("passes=default, backend=cpu", {"passes": "default", "backend": "cpu"}),
        ("passes=none, backend=cpu", {"passes": "none", "backend": "cpu"}),
    ]
    assert named_options({"ours": {"passes": "dce"}}) == [("ours", {"passes": "dce"})]
    assert named_options([{}]) == [("{}", {})]
    with pytest.raises(xe.XlaExplorerError, match="plain data"):
        named_options([{"passes": object()}])


def test_a_row_for_each_pair_in_order() -> None:
    frame = xe.sweep({"a": text(0), "b": text(1)}, {"passes": ["default", "none"]}, repeats=2)
    assert list(zip(frame["module"], frame["option"], strict=True)) == [
        ("a", "passes=default"),
        ("a", "passes=none"),
        ("b", "passes=default"),
        ("b", "passes=none"),
    ]
    assert (
        set(frame["status"]) == {"ok"}
        and (frame["median_us"] > 0).all()
        and (frame["max_error"] < 1e-3).all()
    )
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
    assert list(second["when"][:2]) == list(first["when"]) and list(
        second["median_us"][:2]
    ) == list(first["median_us"])
    assert len([line for line in store.read_text().splitlines() if line.endswith("}")]) == 3


KILLED = """
import sys, json
sys.path.insert(0, {here!r})
import xla_explorer as xe
from tests.explorer.sweep.test_sweep import text
xe.sweep([text(k) for k in range(40)], [{{"passes": "default"}}], repeats=0, store={store!r})
"""


def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    command = [sys.executable, "-c", KILLED.format(here=str(ROOT), store=str(store))]
    process = subprocess.Popen(command)
    while not (store.exists() and store.read_text().count("\n") >= 3):
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    done = {
        json.loads(line)["key"] for line in store.read_text().splitlines() if line.endswith("}")
    }
    assert 3 <= len(done) < 40
    frame = xe.sweep([text(k) for k in range(40)], [{"passes": "default"}], repeats=0, store=store)
    assert len(frame) == 40 and set(frame["status"]) == {"ok"}
    assert set(frame[frame["key"].isin(done)]["process"]) == {process.pid}, (
        "what was finished came from the killed one"
    )
    assert set(frame[~frame["key"].isin(done)]["process"]) == {os.getpid()}


# Imported by the workers: what it does to their tasks.
FAULTS = """
import os, pathlib, signal
import xla_explorer.explorer.comparisons.sweep.worker as worker

real, here = worker.run_task, pathlib.Path(__file__).parent

def run_task(task):
    (here / f"{task.module}-{os.getpid()}.seen").touch()
    if task.module == "crasher":
        os.kill(os.getpid(), signal.SIGSEGV)
    if task.module == "once" and not (here / "died").exists():
        (here / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if task.module.startswith("endless"):
        while True:
            pass
    return real(task)

worker.run_task = run_task
"""


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "planted_sweep_faults.py").write_text(FAULTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    with xe.options.set(isolated_imports=("planted_sweep_faults",)):
        yield tmp_path


def test_workers_that_die_are_replaced_and_cost_their_own_task_tries_and_nobody_elses(
    faults: Path,
) -> None:
    modules = {"crasher": text(0), "once": text(1), **{f"m{k}": text(k) for k in range(2, 9)}}
    frame = xe.sweep(modules, [{}], executor=2, repeats=0, retries=1)
    assert list(frame["status"]) == ["crashed"] + ["ok"] * 8 and list(frame["module"]) == list(
        modules
    )
    assert "died 2 times, the last time it crashed with SIGSEGV" in frame["error"][0]
    seen = [path.name.split("-") for path in faults.glob("*.seen")]
    assert sorted(name for name, _ in seen) == sorted([*modules, "crasher", "once"]), (
        "nothing but those that died ran twice"
    )
    assert (faults / "died").exists() and len({process for _, process in seen}) <= 2 + 3, (
        "two workers, and a new one for each death"
    )


def test_a_module_that_is_not_well_formed_is_a_failed_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unverified module must not be compiled or run: this one reads far behind its array."""
    beyond = "HloModule m\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT s = f32[4000000] slice(a), slice={[100000000:104000000]}\n}"
    frame = xe.sweep([beyond, text(1)], [{}], repeats=0)
    assert list(frame["status"]) == ["failed", "ok"] and "HloVerifyError" in frame["error"][0]


def ended(pid: int, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_killed_sweep_leaves_no_worker(faults: Path) -> None:
    code = (
        "import sys\nsys.path.insert(0, {here!r})\nimport xla_explorer as xe\nfrom tests.explorer.sweep.test_sweep import text\n"
        "xe.options.isolated_imports = ('planted_sweep_faults',)\n"
        "xe.sweep({{'endless1': text(1), 'endless2': text(2)}}, [{{}}], executor=2, repeats=0)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(faults), os.environ.get("PYTHONPATH", "")]),
    }
    process = subprocess.Popen([sys.executable, "-c", code.format(here=str(ROOT))], env=environment)
    try:
        while len(list(faults.glob("endless*.seen"))) < 2:
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    pids = [int(path.stem.split("-")[1]) for path in faults.glob("endless*.seen")]
    assert len(pids) == 2 and all(ended(pid, wall_seconds(2)) for pid in pids)


def test_a_sweep_that_is_left_ends_its_workers(faults: Path) -> None:
    from xla_explorer.explorer.comparisons.sweep.executors import process_runner
    from xla_explorer.explorer.comparisons.sweep.task import Task

    rows = process_runner(2, 0)(
        [Task(name, text(1), "default", {}, 0, True, 0) for name in ("a", "endless")]
    )
    assert next(rows)[1]["status"] == "ok"
    rows.close()
    pids = [int(path.stem.split("-")[1]) for path in faults.glob("*.seen")]
    assert pids and all(ended(pid, 5) for pid in pids)


def test_the_timing_lock_follows_no_link_and_waits_no_longer_than_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xla_explorer.explorer.comparisons.sweep import task

    folder = tmp_path / "cache"
    monkeypatch.setattr(task, "user_cache_folder", lambda: folder)
    with task.alone_on_this_machine() as note:
        assert note == "" and folder.stat().st_mode & 0o777 == 0o700
        with task.alone_on_this_machine(patience=0.1) as second:
            assert "did not end its own timing within 0.1 s" in second
    with task.alone_on_this_machine(patience=0.1) as note:
        assert note == "", "the lock goes with its holder"
    (folder / "timing.lock").unlink()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / "timing.lock").symlink_to(victim)
    with task.alone_on_this_machine() as note:
        assert "without a lock" in note and victim.read_text() == "precious"
    (folder / "timing.lock").unlink()
    (folder / "timing.lock").mkdir()
    with task.alone_on_this_machine() as note:
        assert "without a lock" in note


def test_a_damaged_store_costs_its_damaged_rows(tmp_path: Path) -> None:
    store = tmp_path / "rows.jsonl"
    first = xe.sweep([text(0), text(1)], [{}], repeats=0, store=store)
    rows = store.read_text().splitlines()
    short = json.dumps({"key": json.loads(rows[1])["key"]})
    store.write_bytes(
        b"\n".join(
            [
                b"[" * 100_000,
                b"\xff\xfe",
                b"17",
                b"null",
                b'{"key": []}',
                short.encode(),
                rows[0].encode(),
                b'{"key": "x"',
            ]
        )
    )
    again = xe.sweep([text(0), text(1)], [{}], repeats=0, store=store)
    assert list(again["status"]) == ["ok", "ok"]
    assert again["when"][0] == first["when"][0], "the row that was whole was kept"


@pytest.mark.slow
def test_dask_cluster_with_a_worker_killed_twice_gives_the_serial_frame() -> None:
    distributed = pytest.importorskip(
        "dask.distributed", reason='needs the extra `sweep`: pip install "xla-explorer[sweep]"'
    )
    modules, options = (
        [text(k) for k in range(200)],
        [{"passes": p} for p in ("default", "none", "algsimp,dce", "cse,dce,fusion")],
    )
    serial = xe.sweep(modules, options, repeats=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killer = threading.Thread(target=_kill_twice, args=(client,))
        killer.start()
        parallel = xe.sweep(modules, options, executor=client, repeats=1)
        killer.join()
    assert serial[STEADY].equals(parallel[STEADY])


def test_a_row_of_dask_that_is_lost_before_it_is_fetched_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its worker died with it: the status says so until another worker has computed it again."""
    made = [
        SimpleNamespace(
            key=k,
            status="lost",
            exception=lambda: None,
            result=lambda k=k: {"status": "ok", "module": f"m{k}"},
        )
        for k in range(2)
    ]
    failed = SimpleNamespace(
        key=2, status="error", exception=lambda: RuntimeError("its worker died")
    )
    monkeypatch.setattr(
        executors, "import_optional", lambda *names: SimpleNamespace(as_completed=iter)
    )
    client = SimpleNamespace(map=lambda call, tasks, **keywords: [*made, failed])
    task = SimpleNamespace()
    monkeypatch.setattr(executors, "lost_row", lambda task, died: {"status": "crashed"})
    rows = dict(executors.dask_runner(client, retries=1)([task] * 3))
    assert [rows[k]["status"] for k in range(3)] == ["ok", "ok", "crashed"]


def _kill_twice(client: Any) -> None:
    for _ in range(2):
        time.sleep(6)
        pids = list(client.run(os.getpid).values())
        os.kill(pids[0], signal.SIGKILL)


def test_a_script_may_sweep_at_its_top_level(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import xla_explorer as xe\nprint(list(xe.sweep([{text(1)!r}], [{{}}], executor=2, repeats=0)['status']))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0 and done.stdout.strip() == "['ok']", done.stderr
