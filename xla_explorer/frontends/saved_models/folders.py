"""The StableHLO programs of a model's folder.

Sources: tensorflow/core/protobuf/{saved_model,meta_graph}.proto,
framework/{graph,function,node_def,attr_value}.proto; the operation XlaCallModule, in which jax2tf
and other exporters keep StableHLO; torch_xla/stablehlo.py for folders of PyTorch/XLA.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import read_file
from xla_explorer.frontends.protobuf import Message, MessageType

_SAVED_MODEL = MessageType("SavedModel", meta_graphs=2)
_META_GRAPH = MessageType("MetaGraphDef", graph_def=2)
_GRAPH = MessageType("GraphDef", node=1, library=2)
_LIBRARY = MessageType("FunctionDefLibrary", function=1)
_FUNCTION = MessageType("FunctionDef", node_def=3)
_NODE = MessageType("NodeDef", name=1, op=2, attr=5)
_ENTRY = MessageType("NodeDef.AttrEntry", key=1, value=2)
_VALUE = MessageType("AttrValue", s=2)
_CALL = "XlaCallModule"
_TORCH_SUFFIXES = (".mlir", ".bytecode")  # the text first: reading it needs no jaxlib


class SavedModelError(XlaExplorerError, LookupError):
    """A model without a StableHLO program."""


class SavedProgram(NamedTuple):
    """A StableHLO program of a model.

    name: of the operation or function. raw: text, bytecode or a portable artifact.
    """

    name: str
    raw: bytes


def saved_programs(folder: Path) -> list[SavedProgram] | None:
    """Return the programs of a model's folder, in its order; None for another folder.

    SavedModelError if the model has no programs.
    """
    functions = folder / "functions"
    try:
        is_tensorflow = (folder / "saved_model.pb").is_file()
        programs = (
            sorted([p for p in functions.iterdir() if p.suffix in _TORCH_SUFFIXES])
            if functions.is_dir()
            else []
        )
    except (OSError, ValueError):  # a name that no file can have, a folder that may not be read
        return None
    if is_tensorflow:
        return _of_tensorflow(folder / "saved_model.pb")
    if not programs:
        return None
    chosen = {
        p.stem: p for suffix in reversed(_TORCH_SUFFIXES) for p in programs if p.suffix == suffix
    }
    return [
        SavedProgram(name, read_file(path, hint="save the model again"))
        for name, path in chosen.items()
    ]


def _of_tensorflow(path: Path) -> list[SavedProgram]:
    model = Message(_SAVED_MODEL, read_file(path, hint="save the model again"))
    found: dict[bytes, SavedProgram] = {}
    operations: set[str] = set()
    for node in _nodes(model):
        operations.add(node.text("op"))
        if node.text("op") == _CALL:
            for entry in node.messages("attr", _ENTRY):
                value = entry.message("value", _VALUE)
                if entry.text("key") == "module" and value is not None:
                    raw = value.data("s")
                    found.setdefault(
                        raw, SavedProgram(node.text("name"), raw)
                    )  # functions are saved under several names
    if not found:
        raise SavedModelError(
            f"{path.parent} is a SavedModel of {len(operations)} kinds of TensorFlow operations "
            f"and holds no StableHLO (no {_CALL})",
            "write it: tf.function(f, "
            "jit_compile=True).experimental_get_compiler_ir(*args)(stage='stablehlo'), and load "
            "that text",
        )
    return list(found.values())


def _nodes(model: Message) -> Iterator[Message]:
    for meta in model.messages("meta_graphs", _META_GRAPH):
        graph = meta.message("graph_def", _GRAPH)
        if graph is None:
            continue
        yield from graph.messages("node", _NODE)
        library = graph.message("library", _LIBRARY)
        for function in library.messages("function", _FUNCTION) if library is not None else ():
            yield from function.messages("node_def", _NODE)
