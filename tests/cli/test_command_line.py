"""The command line: what each command prints, its exit codes, its diagnostics."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.test_read_hlo_proto import scaled
from tests.frontends.xla_profile_fixtures import cpu_plane, metadata_plane, profile_of
from tests.support.malformed_modules import MALFORMED
from xla_explorer.cli.main import main, make_parser
from xla_explorer.explorer.display import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
ATTENTION = str(ROOT / "tests" / "data" / "attention_h8_s256_d64.hlo")
SMALL = (
    "HloModule s\nENTRY e {\n  x = f32[4] parameter(0)\n  z = f32[] constant(0)\n  zs = f32[4] broadcast(z), dimensions={}\n"
    "  ROOT y = f32[4] add(x, zs)\n}\n"
)
COMMANDS = (
    "tour",
    "lab",
    "run",
    "opt",
    "explain",
    "compare",
    "why-slow",
    "hosts",
    "check",
    "open",
    "bench",
    "schedule",
    "tune",
    "aot",
    "report",
    "doctor",
)


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.hlo"
    path.write_text(SMALL)
    return str(path)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        make_parser().parse_args([command, "--help"])
    assert caught.value.code == 0 and "usage: xla-explorer" in capsys.readouterr().out


def test_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "tour.html"
    assert main(["tour", "--output", str(page), "--repeats", "2"]) == 0
    text = capsys.readouterr().out
    for word in (
        "jit_attention",
        "jit_mlp_train",
        "Passes that changed",
        "Fusion decisions",
        "Kernels",
        "agrees with",
        "(whole program)",
        "Written",
    ):
        assert word in text
    assert "DIFFERS" not in text
    html = page.read_text()
    assert html.startswith("<!doctype html>") and "http://" not in html.replace(
        "http://www.w3.org", ""
    )


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_input_is_exit_code_2_with_a_caret(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, word = MALFORMED[kind]
    path = tmp_path / "bad.hlo"
    path.write_bytes(given if isinstance(given, bytes) else given.encode())
    assert main(["run", str(path)]) == 2
    captured = capsys.readouterr()
    assert (
        not captured.out
        and word in captured.err
        and "hint:" in captured.err
        and "Traceback" not in captured.err
    )
    assert (
        len(
            [
                line
                for line in captured.err.split("\n")
                if line.strip() and set(line.strip()) == {"^"}
            ]
        )
        == 1
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "/nowhere/x.hlo"],
        ["run", "SMALL", "--backend", "tpu"],
        ["opt", "SMALL", "--passes", "nothing"],
        ["explain", "SMALL", "%nothing"],
        ["compare", "SMALL", "--backends", "cpu,tpu"],
        ["schedule", "SMALL", "--kernel", "%nothing"],
        ["tune", "SMALL", "--budget", "0"],
        ["run", "SMALL", "--args", "/nowhere/x.npy"],
    ],
)
def test_bad_names_are_exit_code_2(
    arguments: list[str], small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([small if a == "SMALL" else a for a in arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) >= 1


def test_what_could_not_be_done_is_exit_code_1(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "feed.hlo").write_text(
        "HloModule feed\nENTRY e {\n  t = token[] after-all()\n  i = (f32[2], token[]) infeed(t)\n"
        "  ROOT x = f32[2] get-tuple-element(i), index=0\n}\n"
    )
    assert main(["aot", str(tmp_path / "feed.hlo"), "-o", str(tmp_path / "feed")]) == 1
    assert "infeed" in capsys.readouterr().err and not (tmp_path / "feed").exists()
    assert main(["run", small, "--backend", "gpu"]) == 0


def test_aot_writes_its_files(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "aot",
                small,
                "--triple",
                "aarch64-linux-gnu",
                "--prefix",
                "thing",
                "--output",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    assert {"thing.o", "thing.h", "thing_example.c"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert "aarch64-linux-gnu-gcc" in capsys.readouterr().out


def test_run(small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.arange(4, dtype=np.float32))
    assert (
        main(
            [
                "run",
                small,
                "--args",
                str(tmp_path / "x.npy"),
                "--check",
                "-o",
                str(tmp_path / "r.npz"),
            ]
        )
        == 0
    )
    captured = capsys.readouterr()
    assert "[0. 1. 2. 3.]" in captured.out and "agrees with" in captured.err
    np.testing.assert_array_equal(np.load(tmp_path / "r.npz")["arr_0"], np.arange(4))
    assert main(["run", small, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["shape"] == [4]
    assert main(["run", small, "--time", "--json", "--repeats", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["kernel"] == "(whole program)"


def test_opt_explain_compare_bench_report_doctor(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opt", small, "--passes", "algsimp,dce", "--format", "short-parsable"]) == 0
    assert "ROOT x" in capsys.readouterr().out
    assert main(["opt", small, "--json"]) == 0
    assert any(row["pass"] == "algsimp" for row in json.loads(capsys.readouterr().out)["rows"])
    assert main(["explain", ATTENTION, "%exp.1"]) == 0
    assert "history" in capsys.readouterr().out
    assert main(["explain", ATTENTION, "%dot_general.2", "%reduce_max.7"]) == 0
    assert "producer-has-own-kernel" in capsys.readouterr().out
    assert main(["explain", ATTENTION, "--json", "--kind", "fusion"]) == 0
    assert all("fusion" in row["kind"] for row in json.loads(capsys.readouterr().out)["rows"])
    assert main(["compare", small, "--repeats", "2", "--json"]) == 0
    assert {row["backend"] for row in json.loads(capsys.readouterr().out)["rows"]} == {
        "cpu",
        "interpreter",
    }
    assert main(["bench", small, "--repeats", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["n"] == 2
    assert main(["report", small, "-o", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 0
    assert any(row["name"] == "backend cpu" for row in json.loads(capsys.readouterr().out)["rows"])


def test_schedule_and_tune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.hlo"
    path.write_text(
        "HloModule w\nENTRY e { x = f32[64] parameter(0) e = f32[64] tanh(x) ROOT r = f32[64] multiply(e, x) }"
    )
    assert main(["schedule", str(path)]) == 0
    assert "%tanh_multiply_fusion  elementwise  nest" in capsys.readouterr().out
    given = [
        "schedule",
        str(path),
        "--kernel",
        "%tanh_multiply_fusion",
        "--with",
        "split{i,16},vectorize{ii}",
    ]
    assert main(given) == 0 and "for ii in 16 @vector" in capsys.readouterr().out
    assert main([*given, "--run", "--repeats", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"] is True
    assert main([*given[:-1], "vectorize{i}"]) == 0 and main([*given[:-1], "split{i,65}"]) == 2
    assert "the factor must be from 1 to 64" in capsys.readouterr().err
    assert main(["tune", str(path), "--budget", "0.1", "-o", str(tmp_path / "w.sched")]) == 0
    assert "schedules" in capsys.readouterr().out and (tmp_path / "w.sched").exists()


@pytest.mark.long
def test_as_a_program_reading_standard_input() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "xla_explorer", "opt", "-", "--passes", "dce"],
        input=SMALL.encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0 and b"ENTRY" in done.stdout and not done.stderr
    broken = subprocess.run(
        [sys.executable, "-m", "xla_explorer", "opt", "-"],
        input=b"HloModule x\n\xff",
        capture_output=True,
        cwd=ROOT,
        timeout=60,
    )
    assert (
        broken.returncode == 2 and b"UTF-8" in broken.stderr and b"Traceback" not in broken.stderr
    )


def test_lab_copies_the_tour_and_the_course(tmp_path: Path) -> None:
    from xla_explorer.cli.lab import copy_notebooks

    copy = copy_notebooks(tmp_path / "here")
    assert (
        len(list(copy.parent.glob("*.ipynb")))
        == len(list((ROOT / "notebooks").glob("*.ipynb")))
        > 10
    )
    copy.write_text("mine")
    assert copy_notebooks(tmp_path / "here").read_text() == "mine"


@pytest.mark.parametrize("command", ["run", "bench"])
@pytest.mark.parametrize("seed", ["-1", "x"])
def test_a_seed_is_an_integer_from_0_on(
    command: str, seed: str, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, small, f"--seed={seed}"])
    assert (
        caught.value.code == 2
        and "a seed must be an integer of at least 0" in capsys.readouterr().err
    )


def test_an_argument_that_is_no_array_of_numbers_is_named(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pickled = tmp_path / "objects.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    empty = tmp_path / "empty.npy"
    empty.touch()
    missing = tmp_path / "missing.npy"
    for path, word in (
        (pickled, "Object arrays"),
        (empty, "cannot read numbers from"),
        (Path(small), "cannot read numbers from"),
        (missing, "No such file"),
    ):
        assert main(["run", small, "--args", str(path)]) == 2
        told = capsys.readouterr().err
        assert str(path) in told and word in told and "unsafely" not in told


def test_explanations_as_json(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ATTENTION, "%exp.1", "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert explained["schema"] == SCHEMA
    assert explained["name"] == "exp.1" and {d["verdict"] for d in explained["decisions"]} == {
        "accepted",
        "refused",
    }
    assert main(["explain", ATTENTION, "%dot_general.2", "%reduce_max.7", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (
        answer["refused"]
        and answer["code"] == "producer-has-own-kernel"
        and all("ok" in check for check in answer["checklist"])
    )


def test_values_that_json_leaves_out_are_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.hlo"
    path.write_text(
        "HloModule l\nENTRY e { x = f32[1001] parameter(0) ROOT y = f32[1001] negate(x) }"
    )
    assert main(["run", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["rows"][0]["values"] is None and "-o FILE.npz" in captured.err


def test_a_warning_is_one_line(
    small: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from xla_explorer.cli import commands

    def warn(given: object) -> int:
        warnings.warn("the emulator runs it", stacklevel=1)
        return 0

    monkeypatch.setattr(commands, "opt", warn)
    assert main(["opt", small]) == 0
    assert capsys.readouterr().err == "note: the emulator runs it\n"


@pytest.mark.parametrize("stubborn", [False, True])
def test_control_c_waits_until_jupyterlab_has_ended_its_kernels(
    stubborn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xla_explorer.cli import lab

    events: list[str] = []

    class Server:
        def __init__(self, command: list[str]) -> None:
            assert "-y" in command  # else Ctrl-C opens a prompt without a user

        def wait(self, timeout: float | None = None) -> int:
            events.append(f"wait {timeout}")
            if timeout is None:
                raise KeyboardInterrupt
            if stubborn:
                raise subprocess.TimeoutExpired("jupyterlab", timeout)
            return 0

        def kill(self) -> None:
            events.append("kill")

    monkeypatch.setattr(lab.subprocess, "Popen", Server)
    assert lab.lab(tmp_path, browser=False, port=None) == 0
    assert events == ["wait None", f"wait {lab.SHUT_DOWN_SECONDS}"] + ["kill"] * stubborn


def test_a_recorded_profile_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "host.xplane.pb").write_bytes(
        profile_of(metadata_plane("jit_f", 3, scaled()), cpu_plane())
    )
    for given in (tmp_path, tmp_path / "host.xplane.pb"):
        assert main(["why-slow", str(given)]) == 0
        assert "2 runs" in capsys.readouterr().out
    assert main(["why-slow", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device_us"] == pytest.approx(105)
    assert main(["why-slow", str(tmp_path / "none.xplane.pb")]) == 2


@pytest.mark.jax
def test_a_module_is_run_on_real_xla(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    assert main(["why-slow", small, "--repeats", "3"]) == 0
    assert "on XLA:CPU" in capsys.readouterr().out


@pytest.mark.long
def test_the_page_of_a_profile_hides_the_folders_of_source_files_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    profile = str(
        Path(__file__).parents[1] / "explorer/xla/profiles/torch_xla_cpu_train_step.xplane.pb.gz"
    )
    for arguments, leaks in ([], True), (["--hide-paths"], False):
        assert main(["why-slow", profile, *arguments]) == 0
        shown = capsys.readouterr().out
        assert "model.py:9" in shown and ("project" in shown) is leaks


FUNCTIONS = """module @m {
  func.func public @twice(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func public @minus(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""


def test_a_function_and_shapes_of_stablehlo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(FUNCTIONS)
    backend = ["--backend", "interpreter"]
    assert main(["opt", str(path), "--function", "minus"]) == 0
    assert "negate" in capsys.readouterr().out
    assert main(["run", str(path), "--function", "twice", "--shapes", "[(2, 3)]", *backend]) == 0
    assert "float32[2, 3]" in capsys.readouterr().out
    assert main(["run", str(path), *backend]) != 0
    assert "--function twice" in capsys.readouterr().err
    assert main(["run", str(path), "--function", "twice", *backend]) != 0
    assert "--shapes '[(2, 3)]'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", str(path), "--shapes", "two"])
    assert "shapes must be a list" in capsys.readouterr().err


def test_compile_takes_the_function_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(FUNCTIONS)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    twice = xe.compile(path, "interpreter", function="twice", shapes=[(2, 3)])
    np.testing.assert_array_equal(twice(x), 2 * x)
    assert "negate" in str(xe.compile(FUNCTIONS, "interpreter", function="@minus").source)
    with pytest.raises(xe.XlaExplorerError, match="it has @twice"):
        xe.compile(path, function="thrice")
