"""Files that JAX, TensorFlow and PyTorch/XLA wrote: StableHLO, bytecode, protos, dumps.

A sample by default, all of them with the marker `slow`.
"""

from __future__ import annotations

import importlib.util
import tarfile
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.frontends.native_survey import EXPECTED, evaluator_steps
from tests.support.corpora import SHARED

WORLDS = SHARED / "worlds"
FILES = (
    sorted(path.name for path in WORLDS.glob("*.gz") if not path.name.endswith(".tar.gz"))
    if WORLDS.is_dir()
    else []
)
DUMPS = sorted(path.name for path in WORLDS.glob("*.tar.gz")) if WORLDS.is_dir() else []
SAMPLE = [
    next(name for name in FILES if name.endswith(end))
    for end in sorted({".".join(name.split(".")[1:]) for name in FILES})
]

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILES, reason="the files of other worlds are not beside the checkout"),
]


def _check(name: str) -> None:
    if (
        any(mark in name for mark in (".bc.", ".mlirbc.", ".jax_export."))
        and importlib.util.find_spec("jaxlib") is None
    ):
        pytest.skip("jaxlib is not installed (extra `jax`), and reads bytecode")
    module = xe.load(WORLDS / name)
    xe.verify(module)
    assert xe.parse_hlo(module.to_text()).to_text() == module.to_text()


@pytest.mark.parametrize("name", SAMPLE)
def test_one_of_each_kind_is_read(name: str) -> None:
    _check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_each_is_read(name: str) -> None:
    _check(name)


@pytest.mark.codegen
@pytest.mark.parametrize(
    "name", [n for n in FILES if n.startswith(("jax_linalg_grad", "jaxexp_linalg.vhlo"))]
)
def test_linear_algebra_runs_without_the_evaluator(name: str) -> None:
    if ".mlirbc." in name and importlib.util.find_spec("jaxlib") is None:
        pytest.skip("jaxlib is not installed (extra `jax`), and reads bytecode")
    assert evaluator_steps(WORLDS / name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in FILES if "symbolic" not in n])
@pytest.mark.filterwarnings("ignore:.*elided.*")
def test_each_runs_without_the_evaluator(name: str) -> None:
    assert [row for row in evaluator_steps(WORLDS / name) if row.what not in EXPECTED] == []


@pytest.mark.parametrize("name", [name for name in DUMPS if "proto" in name])
def test_a_dump_of_protos_is_a_dump(name: str, tmp_path: Path) -> None:
    _open(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DUMPS)
def test_each_dump_is_opened(name: str, tmp_path: Path) -> None:
    _open(name, tmp_path)


def _open(name: str, folder: Path) -> None:
    with tarfile.open(WORLDS / name) as archive:
        archive.extractall(
            folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )  # Python 3.11.4 and later
    dump = xe.load(next(path for path in folder.iterdir() if path.is_dir()))
    assert len(dump.folder) >= 1 and dump.session().module.instruction_count() > 0
