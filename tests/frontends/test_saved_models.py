"""Folders of models that hold StableHLO are read, and one that holds none says how to get it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.messages import field
from xla_explorer.frontends.saved_models import folders

PROGRAM = b"""module @f { func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32> } }"""
SMALL = b"module { func.func public @main() { return } }"


def node(name: str, operation: str, **attributes: bytes) -> bytes:
    """Return a NodeDef."""
    entries = [
        field(5, field(1, key) + field(2, field(2, value))) for key, value in attributes.items()
    ]
    return field(1, name) + field(2, operation) + b"".join(entries)


def saved_model(folder: Path, *nodes: bytes) -> Path:
    """Return a SavedModel with its first node in the graph, the others in a library function."""
    function = b"".join([field(3, one) for one in nodes[1:]])
    graph = field(1, nodes[0]) + field(2, field(1, function))
    (folder / "saved_model.pb").write_bytes(field(1, 1) + field(2, field(2, graph)))
    return folder


def runs(module: xe.HloModule) -> None:
    np.testing.assert_array_equal(
        xe.evaluate(module, np.ones(3, np.float32)), np.full(3, 2, np.float32)
    )


def test_the_largest_program_of_a_saved_model(tmp_path: Path) -> None:
    calls = [
        node("a", "XlaCallModule", module=SMALL),
        node("b", "XlaCallModule", version=b"9", module=PROGRAM),
    ]
    runs(xe.load(saved_model(tmp_path, node("x", "Placeholder"), *calls)))
    runs(xe.compile(tmp_path).source)


def test_a_saved_model_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, opened = saved_model(tmp_path, node("c", "XlaCallModule", module=PROGRAM)), list[str]()
    kept = folders.read_file
    monkeypatch.setattr(
        folders, "read_file", lambda path, **how: opened.append(path.name) or kept(path, **how)
    )
    xe.load(folder)
    assert opened == ["saved_model.pb"]


def test_a_saved_model_without_stablehlo_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(xe.XlaExplorerError, match="2 kinds of TensorFlow operations") as problem:
        xe.load(saved_model(tmp_path, node("x", "Placeholder"), node("y", "Relu")))
    assert "stage='stablehlo'" in str(problem.value)


def test_a_saved_model_that_is_cut_off_is_an_error_with_a_place(tmp_path: Path) -> None:
    raw = (
        saved_model(tmp_path, node("x", "XlaCallModule", module=PROGRAM)) / "saved_model.pb"
    ).read_bytes()
    (tmp_path / "saved_model.pb").write_bytes(raw[:-9])
    with pytest.raises(xe.XlaExplorerError, match="SavedModel"):
        xe.load(tmp_path)


def test_functions_that_torch_xla_saved(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "forward.mlir").write_bytes(PROGRAM)
    (tmp_path / "functions" / "forward.bytecode").write_bytes(
        b"ML\xefRnot read, for the text is there"
    )
    (tmp_path / "functions" / "forward.meta").write_text("{}")
    runs(xe.load(tmp_path))


def test_bytecode_that_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax", reason="reads bytecode (extra `jax`)")
    whole = bytes(
        jax.export.export(jax.jit(lambda x: x + x))(np.ones(3, np.float32)).mlir_module_serialized
    )
    path = tmp_path / "f.mlirbc"
    path.write_bytes(whole)
    runs(xe.load(path))
    path.write_bytes(whole[:-9])
    with pytest.raises(xe.XlaExplorerError, match="bytes when only") as problem:
        xe.load(path)
    assert "requires a Context" not in str(problem.value)
