"""`xe.kernel_reproducer`: the script runs alone, and fails on wrong results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe

ROOT = Path(xe.__file__).resolve().parents[1]
TEXT = """HloModule program

ENTRY e {
  x = f32[6,8] parameter(0)
  y = bf16[6,8] parameter(1)
  w = f32[6,8] convert(y)
  a = f32[6,8] exponential(x)
  b = f32[6,8] multiply(a, w)
  c = f32[8,6] transpose(b), dimensions={1,0}, metadata={op_name="x\\"y"}
  ROOT d = f32[6,6] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), "--repeats", "2", *options],
        capture_output=True, text=True, timeout=200, cwd="/", env={"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def arguments() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(8)
    x = generator.standard_normal((6, 8)).astype(np.float32)
    return x, generator.standard_normal((6, 8)).astype(ml_dtypes.bfloat16)


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT)


def test_the_tensors_are_those_of_the_program(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray]
) -> None:
    found = xe.kernel_reproducer(session, "d", *arguments, folder=None)
    assert found.path is None
    (result,) = found.results
    assert np.allclose(result, session(*arguments), rtol=1e-5)
    assert any(one.tobytes() == arguments[0].tobytes() for one in found.arguments)


def test_an_instruction_inside_names_its_kernel(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray]
) -> None:
    found = xe.kernel_reproducer(session, "a", *arguments, folder=None)
    assert "exponential" in found.text and "fusion" in found.text
    assert ml_dtypes.bfloat16 in {one.dtype.type for one in found.arguments}


@pytest.mark.long
def test_the_script_runs_alone(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    for name in ("a", "d"):
        script = xe.kernel_reproducer(session, name, *arguments, folder=tmp_path).path
        assert script is not None
        done = run(script)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr[-800:]
        assert "equal" in done.stdout and "us" in done.stdout


@pytest.mark.long
def test_wrong_results_end_with_1(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    script = xe.kernel_reproducer(session, "d", *arguments, folder=tmp_path).path
    assert script is not None
    stored = dict(np.load(script.with_suffix(".npz")))
    np.savez(script.with_suffix(".npz"), **{**stored, "result0": stored["result0"] + 1})
    done = run(script, "--backend", "interpreter")
    assert done.returncode == 1 and "DIFFERENT" in done.stdout


@pytest.mark.long
@pytest.mark.jax
def test_the_script_runs_with_jax(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    script = xe.kernel_reproducer(session, "a", *arguments, folder=tmp_path).path
    assert script is not None
    done = run(script, "--jax")
    assert done.returncode == 0, done.stderr[-800:]


def test_the_names_of_files_follow_from_the_content(
    session: xe.Session, arguments: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    stems = [xe.kernel_reproducer(session, "d", *given, folder=None).stem for given in ([], arguments, arguments)]  # fmt: skip
    assert stems[0] != stems[1] == stems[2]
    found = xe.kernel_reproducer(session, "d", *arguments, folder=tmp_path / "new")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == [f"{found.stem}.npz", f"{found.stem}.py"]  # fmt: skip


def test_text_that_would_end_the_script_is_quoted() -> None:
    hostile = TEXT.replace('op_name="x\\"y"', 'op_name="\\"\\"\\"; import os; x = \\"\\"\\""')
    found = xe.kernel_reproducer(xe.compile(hostile), "d", folder=None)
    names: dict[str, object] = {"__name__": "script", "__file__": "x.py"}
    exec(compile(found.script, "x.py", "exec"), names)
    assert str(names["HLO"]).strip() == found.text.strip() and "os" not in names


def test_what_no_kernel_computes(session: xe.Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match="no kernel computes"):
        xe.kernel_reproducer(session, "x", folder=None)
    with pytest.raises(xe.XlaExplorerError, match="nothing"):
        xe.kernel_reproducer(session, "nothing", folder=None)
