"""Propagation of shardings that a user left open, by Shardy as in XLA.

jaxlib has Shardy's passes. The program itself is compiled as it was written; only the shardings are
read from its propagated copy.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.pjrt.callbacks import CALLBACK, call_on_parts

_PIPELINE = "builtin.module(sdy-propagation-pipeline)"
_SHARDING, _INSPECTED = "sdy.sharding", "InspectSharding"
_NUMBER = re.compile(r"number\s*=\s*(\d+)")
inspectors: weakref.WeakValueDictionary[bytes, Callable[[Sharding], None]] = (
    weakref.WeakValueDictionary()
)
"""Callbacks of `jax.debug.inspect_array_sharding`, by the key of their custom calls."""


def propagated_results(module: Any) -> list[Sharding | None]:
    """Return the sharding of each result of an MLIR module's entry; None for one without.

    [] if jaxlib is too old to propagate. Custom calls that inspect a sharding get it, and are
    removed from the module.
    """
    inspections = [op for op in _operations(module.operation) if _is_inspection(op)]
    copy = _propagated(module)
    found: list[Sharding | None] = []
    if copy is not None:
        meshes = {
            _name(op): Mesh.read(str(op.attributes["mesh"]))
            for op in _body(copy)
            if op.name == "sdy.mesh"
        }
        entry, (_, rows) = _entry(copy), entry_attributes(copy)
        found = [_of_attributes(row, meshes) for row in rows]
        for op in _operations(copy):
            if _is_inspection(op):
                _answer(op, _of_value(op.operands[0], entry, meshes))
            elif _calls(op, CALLBACK) and meshes:
                _cut_operands(op, entry, meshes)
    for op in inspections:
        op.erase()
    return found


def entry_attributes(module: Any) -> tuple[list[Any], list[Any]]:
    """Return the attributes of each argument and of each result of an MLIR module's entry."""
    entry = _entry(module)
    signature = entry.opview.type
    return _rows(entry, "arg_attrs", len(signature.inputs)), _rows(
        entry, "res_attrs", len(signature.results)
    )


def _entry(module: Any) -> Any:
    return next(op for op in _body(module) if op.name == "func.func" and _name(op) == "main")


def _propagated(module: Any) -> Any:
    """Return a copy after Shardy's propagation, or None."""
    from jaxlib.mlir import ir, passmanager  # optional: only a process with jaxlib comes here

    try:
        with module.context:
            copy = module.operation.clone()
            passmanager.PassManager.parse(_PIPELINE).run(copy)
            return copy
    except (ValueError, TypeError, ir.MLIRError):
        return None


def _body(module: Any) -> list[Any]:
    return [op.operation for op in module.regions[0].blocks[0]]


def _operations(operation: Any) -> list[Any]:
    """Return all operations inside an operation, from the first to the last."""
    inner = [op.operation for region in operation.regions for block in region for op in block]
    return [found for op in inner for found in (op, *_operations(op))]


def _name(op: Any) -> str:
    return str(op.attributes["sym_name"]).strip('"')


def _is_inspection(op: Any) -> bool:
    return _calls(op, _INSPECTED)


def _calls(op: Any, target: str) -> bool:
    return (
        op.name == "stablehlo.custom_call"
        and str(op.attributes["call_target_name"]) == f'"{target}"'
    )


def _rows(function: Any, kind: str, count: int) -> list[Any]:
    """Return the attributes of each result or argument of a function."""
    return list(function.attributes[kind]) if kind in function.attributes else [{}] * count


def _of_attributes(attributes: Any, meshes: dict[str, Mesh]) -> Sharding | None:
    return _read(str(attributes[_SHARDING]), 0, meshes) if _SHARDING in attributes else None


def combiner(attributes: Any) -> str:
    """Return the opcode that combines the terms of an argument or result of the entry."""
    text = str(attributes[_SHARDING]) if _SHARDING in attributes else ""
    return next((found.combiner for found in AxisSharding.read_all(text)), "add")


def _read(text: str, number: int, meshes: dict[str, Mesh]) -> Sharding | None:
    """Return one of the shardings of a text; None for one on a single device."""
    listed = AxisSharding.read_all(text)
    mesh = meshes.get(listed[number].mesh) if number < len(listed) else None
    return listed[number].tiles(mesh) if mesh is not None and mesh.axes else None


def _of_value(value: Any, entry: Any, meshes: dict[str, Mesh]) -> Sharding | None:
    """Return the sharding of an operation's result, or of an argument of the entry."""
    owner = value.owner
    if hasattr(owner, "attributes"):
        attributes = owner.attributes
        return (
            _read(str(attributes[_SHARDING]), value.result_number, meshes)
            if _SHARDING in attributes
            else None
        )
    if owner.owner.operation != entry:
        return None
    arguments = _rows(entry, "arg_attrs", len(owner.arguments))
    return _of_attributes(arguments[value.arg_number], meshes)


def _cut_operands(op: Any, entry: Any, meshes: dict[str, Mesh]) -> None:
    """Let each device call a callback with its own part of the operands."""
    number = _NUMBER.search(
        str(op.attributes["mhlo.backend_config"]) if "mhlo.backend_config" in op.attributes else ""
    )
    values = [value for value in op.operands if "token" not in str(value.type)]
    if number is not None:
        lie = [_of_value(value, entry, meshes) or Sharding() for value in values]
        call_on_parts(int(number.group(1)), lie, max(mesh.count for mesh in meshes.values()))


def _answer(op: Any, sharding: Sharding | None) -> None:
    """Pass the sharding to the callback that inspects it; an unsharded value is replicated."""
    from jaxlib.mlir import ir  # optional: only a process with jaxlib comes here

    asks = inspectors.get(ir.StringAttr(op.attributes["backend_config"]).value_bytes)
    if asks is not None:
        asks(sharding or Sharding())
