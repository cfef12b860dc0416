"""Exchanges between devices, transfers with the host, device numbers, asynchronous operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.frontends.stablehlo.conversion.reduction import one_region, results
from xla_explorer.frontends.stablehlo.conversion.regions import combiner
from xla_explorer.frontends.stablehlo.conversion.registry import converts
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, quoted, tuple_of
from xla_explorer.frontends.stablehlo.program import Operation
from xla_explorer.frontends.stablehlo.types import FutureType
from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT
from xla_explorer.hlo.shape import Shape, array_shape, token_shape, tuple_shape


def _channel(operation: Operation) -> int:
    handle = operation.attributes.get("channel_handle")
    if isinstance(handle, dict):
        return int(handle.get("handle", 0))
    return int(operation.attributes.get("channel_id") or 0)


def groups(scope: Scope, operation: Operation) -> dict[str, Any]:
    """Return replica groups, channel and the mode of device ids. A channel of 0 is none."""
    given = operation.attributes.get("replica_groups")
    found: dict[str, Any] = {}
    if isinstance(given, Literal):
        found["replica_groups"] = _listed(
            [[int(v) for v in row if v >= 0] for row in given.array]
            if given.array.ndim == 2
            else []
        )
    elif given is not None:
        found["replica_groups"] = _listed(_along_axes(scope, operation, given))
    if _channel(operation) > 0:
        found["channel_id"] = _channel(operation)
        if operation.attributes.get("use_global_device_ids"):
            found["use_global_device_ids"] = True
    return found


def _listed(rows: Sequence[Sequence[int]]) -> Any:
    return CODECS["replica_groups"].read(
        "{" + ",".join(["{" + ",".join(map(str, row)) + "}" for row in rows]) + "}"
    )


def _along_axes(scope: Scope, operation: Operation, given: Any) -> list[list[int]]:
    """Return the device groups of `#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [...]>`."""
    name = str(given.get("mesh")).strip('@"') if isinstance(given, dict) else ""
    text = scope.converter.meshes.get(name)
    axes = given.get("axes") if isinstance(given, dict) else None
    if (
        text is None
        or not isinstance(axes, (tuple, list))
        or not all(isinstance(a, dict) and "name" in a for a in axes)
    ):
        known = ", ".join([f"@{m}" for m in scope.converter.meshes]) or "none"
        scope.fail(
            f"the groups of {operation.name} must be axes of a mesh of the module, which has "
            f"{known}",
            'write sdy.mesh @m = <["x"=2]> and replica_group_mesh_axes<mesh = @m, axes = '
            '[#stablehlo.axis_ref<name = "x">]>',
        )
    mesh = Mesh.read(text)
    parts = []
    for axis in axes:
        part = axis.get("sub_axis_info") or {}
        parts.append(
            AxisPart(
                str(axis["name"]).strip('"'), int(part.get("pre_size", 1)), int(part.get("size", 0))
            )
        )
    sizes = dict(mesh.axes)
    if any(
        p.name not in sizes
        or p.before < 1
        or p.size < 0
        or sizes[p.name] % (p.before * max(p.size, 1))
        for p in parts
    ):
        named = ", ".join(map(str, parts))
        scope.fail(
            f"{operation.name} has no groups along {named} in the mesh {mesh}",
            "name axes of the mesh, and parts that divide them",
        )
    return mesh.groups(parts)


@converts("all_reduce", "cross-replica-sum")
def all_reduce(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the reduction of the operands over each group of devices."""
    operands = scope.operands(operation)
    if operation.name.endswith("sum"):
        kind = array_shape(operands[0].shape.element_type, ())
        adder = scope.converter.builder.nested("sum")
        adder.computation.set_root((adder.parameter(kind) + adder.parameter(kind)).instruction)
        called = adder.computation
    else:
        one_region(scope, operation)
        called = combiner(scope, operation.regions[0], "reducer")
    return results(
        scope,
        operation,
        scope.emit("all-reduce", operands, groups(scope, operation), called=(called,)),
    )


def _shape_of_results(scope: Scope, operation: Operation) -> Shape:
    return tuple_of([scope.type_of(operation, k) for k in range(len(operation.types))])


@converts("all_gather")
def all_gather(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the concatenation of a group's operands."""
    attributes = {
        **groups(scope, operation),
        "dimensions": (scope.integer(operation, "all_gather_dim"),),
    }
    return results(
        scope,
        operation,
        scope.emit(
            "all-gather",
            scope.operands(operation),
            attributes,
            shape=_shape_of_results(scope, operation),
        ),
    )


@converts("reduce_scatter")
def reduce_scatter(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the reduction of the operands, a block for each device."""
    one_region(scope, operation)
    attributes = {
        **groups(scope, operation),
        "dimensions": (scope.integer(operation, "scatter_dimension"),),
    }
    called = combiner(scope, operation.regions[0], "reducer")
    return [
        scope.emit(
            "reduce-scatter",
            scope.operands(operation),
            attributes,
            shape=scope.type_of(operation),
            called=(called,),
        )
    ]


@converts("all_to_all")
def all_to_all(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an exchange of blocks along one dimension.

    If the blocks are concatenated along another dimension, a transpose moves them there.
    """
    split, joined, count = (
        scope.integer(operation, name)
        for name in ("split_dimension", "concat_dimension", "split_count")
    )
    found = []
    for number, x in enumerate(scope.operands(operation)):
        sizes = x.shape.dimensions
        if (
            not (0 <= split < len(sizes) and 0 <= joined < len(sizes))
            or count < 1
            or sizes[split] % count
        ):
            scope.fail(
                f"{x.shape.text_without_layout} cannot be split {count} ways along dimension "
                f"{split} and joined along {joined}",
                "the split dimension must be a multiple of split_count",
            )
        i = scope.emit(
            "all-to-all",
            (x,),
            {**groups(scope, operation), "dimensions": (split,)},
            shape=x.shape.base,
        )
        if split != joined:
            blocks = [*sizes[:split], count, sizes[split] // count, *sizes[split + 1 :]]
            i = scope.emit("reshape", (i,), shape=x.shape.with_dimensions(blocks))
            order = [d for d in range(len(blocks)) if d != split]
            order.insert(order.index(joined if joined < split else joined + 1), split)
            i = scope.emit("transpose", (i,), {"dimensions": tuple(order)})
            i = scope.emit("reshape", (i,), shape=scope.type_of(operation, number))
        found.append(i)
    return found


@converts("collective_broadcast")
def collective_broadcast(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the operand of each group's first device."""
    return [
        scope.emit(
            "collective-broadcast",
            scope.operands(operation),
            groups(scope, operation),
            shape=scope.type_of(operation),
        )
    ]


@converts("collective_permute")
def collective_permute(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a transfer from each source to its target."""
    pairs = scope.attribute(operation, "source_target_pairs", required=True)
    rows = tuple(
        [tuple(map(int, row)) for row in (pairs.array if isinstance(pairs, Literal) else pairs)]
    )
    attributes: dict[str, Any] = {"source_target_pairs": rows}
    if _channel(operation) > 0:
        attributes["channel_id"] = _channel(operation)
    return [
        scope.emit(
            "collective-permute",
            scope.operands(operation),
            attributes,
            shape=scope.type_of(operation),
        )
    ]


@converts("replica_id", "partition_id")
def device_number(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the number of this replica or partition."""
    return [
        scope.emit(
            operation.name.partition(".")[2].replace("_", "-"), (), shape=scope.type_of(operation)
        )
    ]


# -- the host --------------------------------------------------------------------------------------
@converts("infeed")
def infeed(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit ((data...), token) and return its elements."""
    shapes = [scope.type_of(operation, k) for k in range(len(operation.types) - 1)]
    layouts = operation.attributes.get("layout") or ()
    for k, order in enumerate(layouts):
        if order and shapes[k].is_array:
            shapes[k] = shapes[k].with_layout(tuple(map(int, order)))
    config = operation.attributes.get("infeed_config")
    attributes = {"infeed_config": quoted(config)} if config else {}
    i = scope.emit(
        "infeed",
        scope.operands(operation),
        attributes,
        shape=tuple_shape([tuple_shape(shapes), token_shape()]),
    )
    data, token = scope.unpack(i, 2)
    return [*scope.unpack(data, len(shapes), always=True), token]


@converts("outfeed")
def outfeed(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an outfeed of the data as a tuple; return its token."""
    *data, token = scope.operands(operation)
    packed = scope.emit("tuple", data)
    attributes = {"outfeed_shape": packed.shape.text}
    config = operation.attributes.get("outfeed_config")
    if config:
        attributes["outfeed_config"] = quoted(config)
    return [scope.emit("outfeed", (packed, token), attributes, shape=token_shape())]


def _transfer(operation: Operation) -> dict[str, Any]:
    return {
        "channel_id": _channel(operation),
        "is_host_transfer": bool(operation.attributes.get("is_host_transfer", False)),
    }


@converts("send")
def send(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a send and its send-done."""
    *data, token = scope.operands(operation)
    i = scope.emit("send", (scope.pack(data), token), _transfer(operation))
    return [scope.emit("send-done", (i,), _transfer(operation), shape=token_shape())]


@converts("recv")
def recv(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit a recv and its recv-done; return the data and the token."""
    shapes = [scope.type_of(operation, k) for k in range(len(operation.types) - 1)]
    shape = tuple_shape([tuple_of(shapes), array_shape("u32", ()), token_shape()])
    i = scope.emit("recv", scope.operands(operation), _transfer(operation), shape=shape)
    data, token = scope.unpack(scope.emit("recv-done", (i,), _transfer(operation)), 2)
    return [*scope.unpack(data, len(shapes)), token]


# -- asynchronous operations -----------------------------------------------------------------------
@converts("async_start")
def async_start(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit an async-start of the region as a computation."""
    one_region(scope, operation)
    operands = scope.operands(operation)
    called = combiner(scope, operation.regions[0], "asynchronous", [o.shape.base for o in operands])
    stated = operation.types[0] if operation.types else None
    if not isinstance(stated, FutureType):
        scope.fail(f"{operation.name} gives a future", "write !stablehlo.future<tensor<...>>")
    shape = tuple_shape([tuple_shape([o.shape for o in operands]), called.root.shape])
    return [scope.emit("async-start", operands, shape=shape, called=(called,))]


@converts("async_done")
def async_done(scope: Scope, operation: Operation) -> list[HloInstruction]:
    """Emit the async-done of an `async_start`."""
    (start,) = scope.operands(operation)
    if start.opcode is GET_TUPLE_ELEMENT or start.opcode.name != "async-start":
        scope.refuse(
            "future", "a future that crosses a call or region", "wait for it where it was started"
        )
    return results(scope, operation, scope.emit("async-done", (start,)))
