"""Foreign MLIR bytecode is read by jaxlib in a child process: damage ends the child only."""

from __future__ import annotations

import base64
import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.jax_program import foreign_mlir
from xla_explorer.frontends.jax_program.mlir import MlirConversionError

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
# A file of 402 bytes of which jaxlib 0.10.2 corrupts its heap.
DAMAGED = base64.b64decode(
    "TUzvUg1NTElSMjMuMC4wZ2l0AAEfBwEFCQkBAw8DBQcTBQMXA0UpDQElBwsPKwsLCwsLCwsPCw8LEw8LBQULJwENDxcXEwsbAqsfAQERCQADCQkDNAURBRMFFQ0LBRcdGQEFGR0d"
    "AQUbAQUlJR0jAQUdEQELAwEDBQMFAwEBCgIbBREFARsFBREBGwMRAQEJBQUDBQMHBFUFAVEBBwEHBEMDAQUDUAEDBwQvAwcLBQcXCxsAB0YhBQMHBQEDBQQBAwUGAwEFAQDeAh8H"
    "BwcLBUEhMT0ZDw8VCxFidWlsdGluAGZ1bmMAc3RhYmxlaGxvAG1vZHVsZQByZXR1cm4AZG90X2dlbmVyYWwAbWhsby5jcm9zc19wcm9ncmFtX3ByZWZldGNoZXMAbWhsby5pbnB1"
    "dF9vdXRwdXRfYWxpYXMAbWhsby5pc19keW5hbWljAG1obG8udXNlX2F1dG9fc3BtZF9wYXJ0aXRpb25pbmcAbQBtYWluAHYxAHYyAHYzAAgfBwUjAQ0BEwEBFQEHASc/"
)


@pytest.fixture(scope="module")
def exported() -> bytes:
    spec = jax.ShapeDtypeStruct((4,), np.float32)
    return bytes(jax.export.export(jax.jit(lambda x: x * 2 + 1))(spec).mlir_module_serialized)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that a damaged file has corrupted may make jaxlib go round for ever."""
    monkeypatch.setattr(foreign_mlir, "_SECONDS", 10.0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["d.mlirbc", "d.mlir", "d.bin", "d.mlirbc.gz"])
def test_a_damaged_file_is_refused_and_the_next_is_read(
    tmp_path: Path, exported: bytes, name: str
) -> None:
    path = tmp_path / name
    for content in (DAMAGED, exported[: len(exported) // 2], DAMAGED):
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        with pytest.raises(xe.XlaExplorerError):
            xe.load(path)
    path.write_bytes(gzip.compress(exported) if name.endswith(".gz") else exported)
    x = np.arange(4, dtype=np.float32)
    assert np.asarray(xe.compile(xe.load(path))(x)).tolist() == (2 * x + 1).tolist()


def test_bytecode_of_ones_own_is_read(tmp_path: Path, exported: bytes) -> None:
    path = tmp_path / "own.mlirbc"
    path.write_bytes(exported)
    x = np.arange(4, dtype=np.float32)
    assert np.asarray(xe.compile(xe.load(path))(x)).tolist() == (2 * x + 1).tolist()


def test_a_file_that_does_not_end_is_refused(
    tmp_path: Path, exported: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "slow.mlirbc"
    path.write_bytes(exported)
    monkeypatch.setattr(foreign_mlir, "_SECONDS", 0.0)
    monkeypatch.setattr(foreign_mlir, "_BYTES_A_SECOND", 10**12)
    with pytest.raises(MlirConversionError, match="did not finish"):
        xe.load(path)


def test_the_limits_of_the_options_hold_there(tmp_path: Path, exported: bytes) -> None:
    """The start of jaxlib's process is not counted."""
    path = tmp_path / "own.mlirbc"
    path.write_bytes(exported)
    foreign_mlir._ready_child().close()
    with xe.options.set(timeout=1e-6), pytest.raises(MlirConversionError, match="within 1e-06 s"):
        xe.load(path)
    with xe.options.set(timeout=20, memory_limit=1 << 30):
        assert xe.load(path).instruction_count()


@pytest.mark.long
def test_an_exported_program_of_a_stranger_is_read_there_too() -> None:
    spec = jax.ShapeDtypeStruct((4,), np.float32)
    own = jax.export.export(jax.jit(lambda x: x * 2 + 1))(spec)
    x = np.arange(4, dtype=np.float32)
    assert np.asarray(xe.compile(own)(x)).tolist() == (2 * x + 1).tolist()
    with pytest.raises(MlirConversionError):
        xe.compile(dataclasses.replace(own, mlir_module_serialized=DAMAGED))


def test_the_kernel_of_a_dump_is_read_there_too() -> None:
    with pytest.raises(MlirConversionError):
        foreign_mlir.triton_text(DAMAGED)


@pytest.mark.long
def test_mutated_files_end_in_errors_of_ours(tmp_path: Path, exported: bytes) -> None:
    generator, path = np.random.default_rng(0), tmp_path / "m.mlirbc"
    for _ in range(20):
        content = bytearray(exported)
        for at in generator.integers(4, len(content), 4):
            content[at] = generator.integers(256)
        path.write_bytes(bytes(content))
        try:
            xe.load(path)
        except xe.XlaExplorerError:
            continue
