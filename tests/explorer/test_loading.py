"""Files as modules: bounded, found by their names in any form, and refused with the next step."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.explorer.sessions.loading import LoadError, as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import LARGEST_VARIABLE

HLO = "HloModule m\nENTRY e { x = f32[4] parameter(0)\n ROOT r = f32[4] add(x, x) }\n"
MLIR = """module @m { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32> } }
"""


def test_gzip_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LARGEST_VARIABLE, "100000")
    bomb = tmp_path / "bomb.hlo.gz"
    bomb.write_bytes(gzip.compress(HLO.encode() + b" " * 10_000_000))
    for use in (xe.load, xe.compile, lambda path: xe.compile(path.read_bytes())):
        with pytest.raises(LoadError, match=f"(?s)unpack to more than 100,000.*{LARGEST_VARIABLE}"):
            use(bomb)
    with pytest.raises(XlaExplorerError, match="unpack to more than"):
        xe.read_timeline(bomb)
    monkeypatch.setenv(LARGEST_VARIABLE, "20000000")
    assert xe.load(bomb).name == "m"
    monkeypatch.setenv(LARGEST_VARIABLE, "many")
    with pytest.raises(LoadError, match="number of bytes"):
        xe.load(bomb)


def test_a_bomb_takes_no_more_than_the_bound() -> None:
    code = """
import gzip, os, resource, sys
from xla_explorer.foundation.file_reading import unpacked_bytes, FileReadError
bomb = gzip.compress(bytes(64 << 20))
bomb *= 64  # four gibibytes in members
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    unpacked_bytes(bomb, "bomb")
except FileReadError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "", "PYTHONPATH": ":".join(sys.path), LARGEST_VARIABLE: str(96 << 20)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(found.stdout) < 300  # MiB


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(HLO.encode())[:-9],
        gzip.compress(HLO.encode()) + b"more",
        b"\x1f\x8b",
        b"\x1f\x8b" + bytes(40),
    ],
    ids=range(4),
)
def test_damaged_gzip(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.hlo.gz").write_bytes(raw)
    with pytest.raises(LoadError, match=r"m\.hlo\.gz"):
        xe.load(tmp_path / "m.hlo.gz")


def test_members_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "m.hlo.gz").write_bytes(
        gzip.compress(HLO[:20].encode()) + gzip.compress(HLO[20:].encode()) + bytes(100)
    )
    assert xe.load(tmp_path / "m.hlo.gz").name == "m"


@pytest.mark.parametrize(
    "name", ["a b.hlo", "run=3.txt", "{x}.hlo", "without_a_suffix", "äöü.hlo.gz"]
)
def test_the_name_of_a_file_that_is_there_is_a_path(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run=3" / name
    path.parent.mkdir()
    path.write_bytes(gzip.compress(HLO.encode()) if name.endswith(".gz") else HLO.encode())
    assert as_module(str(path)).name == as_module(path).name == "m"


@pytest.mark.parametrize("given", [3, None, object(), [], {}, 1.5])
def test_what_is_no_module(given: object) -> None:
    for use in (xe.compile, xe.evaluate, xe.verify, xe.aot, xe.optimize, xe.random_arguments):
        with pytest.raises(XlaExplorerError, match="expected an HLO module"):
            use(given)


@pytest.mark.parametrize("path", ["missing.hlo", "a\0b", "x" * 5000, "x" * 300 + ".hlo", 3, None])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(XlaExplorerError):
        xe.load(path)


@pytest.mark.jax
def test_a_serialized_export_is_read_like_the_module_inside(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    exported = jax.export.export(jax.jit(lambda x: x * 2 + 1))(
        jax.ShapeDtypeStruct((3,), "float32")
    )
    raw = exported.mlir_module_serialized
    # As a FlatBuffer holds a vector of bytes: behind its length. jax needs a package more to write
    # the whole container.
    (tmp_path / "f.bin").write_bytes(
        b"\x1c\0\0\0" + bytes(60) + len(raw).to_bytes(4, "little") + raw + bytes(100)
    )
    (tmp_path / "f.mlirbc").write_bytes(raw)
    found = xe.load(tmp_path / "f.bin")
    assert found.to_text() == xe.load(tmp_path / "f.mlirbc").to_text()
    assert xe.evaluate(found, np.array([1, 2, 3], np.float32)).tolist() == [3, 5, 7]


def test_a_damaged_export_says_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "f.bin").write_bytes(b"\x1c\0\0\0flatbuffer" + b"ML\xefR" + bytes(50))
    with pytest.raises(
        LoadError, match=r"f\.bin holds MLIR bytecode .* damaged(.|\n)*mlir_module_serialized"
    ):
        xe.load(tmp_path / "f.bin")


@pytest.mark.parametrize(
    "raw",
    [HLO.encode(), MLIR.encode(), gzip.compress(HLO.encode()), gzip.compress(MLIR.encode())],
    ids=range(4),
)
def test_standard_input_is_read_like_a_file(
    raw: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert main(["opt", "-", "--passes", "dce"]) == 0
    assert "add(" in capsys.readouterr().out


def test_an_argument_with_a_huge_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000000000,), }"
    header += b" " * (118 - len(header)) + b"\n"
    (tmp_path / "x.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    )
    (tmp_path / "m.hlo").write_text(HLO)
    assert main(["run", str(tmp_path / "m.hlo"), "--args", str(tmp_path / "x.npy")]) == 2
    assert "x.npy" in capsys.readouterr().err
