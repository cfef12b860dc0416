"""A module as a serialized `HloModuleProto`.

Source: hlo_module.cc ToProto, hlo_computation.cc ToProto, hlo_instruction.cc ToProto.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.writer.attributes import instruction_fields
from xla_explorer.frontends.hlo_proto.writer.literals import literal_proto
from xla_explorer.frontends.hlo_proto.writer.metadata import (
    frames_proto,
    map_proto,
    metadata_proto,
    original_array_proto,
    recovery_proto,
    unquoted,
)
from xla_explorer.frontends.hlo_proto.writer.shapes import shape_proto
from xla_explorer.frontends.protobuf import ProtoError
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.text.module_header import (
    parse_buffer_donor,
    parse_entry_computation_layout,
    parse_input_output_alias,
)
from xla_explorer.hlo.text.printer import computations_in_order


def write_hlo_proto(module: HloModule) -> bytes:
    """Return a module as the bytes of an `HloModuleProto`.

    Ids are those of the module's instructions and computations. Options of a compile that a header
    may have (`num_partitions`, `replica_count`) are not part of the proto.

    Parameters
    ----------
    module
        A verified module.

    Returns
    -------
    bytes
        `xe.load` and XLA read them.

    Raises
    ------
    ProtoError
        A constant has no values (`{...}`).

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.frontends.hlo_proto import read_hlo_proto
    >>> from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
    >>> module = xe.parse_hlo("ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }")
    >>> read_hlo_proto(write_hlo_proto(module)).module.entry.root.opcode.name
    'negate'
    """
    inside = module.fusion_computations()
    computations = [computation_proto(c, c in inside) for c in _callees_first(module)]
    entry, header = module.entry, module.attributes
    fields: dict[str, Any] = {
        "name": module.name,
        "entry_computation_name": entry.name,
        "computations": computations,
        "host_program_shape": _entry_shape(module),
        "entry_computation_id": entry.id + 1,
        "schedule": _schedule(module),
    }
    if text := header.get("input_output_alias"):
        fields["input_output_alias"] = _aliases(text)
    if text := header.get("buffer_donor"):
        fields["buffer_donor"] = message(schema.DONORS, entries=[
            message(schema.DONOR, parameter_number=number, parameter_shape_index=list(index))
            for number, index in parse_buffer_donor(text)
        ])  # fmt: skip
    if text := header.get("frontend_attributes"):
        fields["frontend_attributes"] = map_proto(text)
    if text := header.get("origin_recovery_table"):
        fields["original_value_recovery_table"] = _recovery(text)
    if module.frames is not None:
        fields["stack_frame_index"] = frames_proto(module.frames)
    return message(schema.MODULE, **fields)


def _callees_first(module: HloModule) -> list[HloComputation]:
    """Return the computations in their order if callees come first, else reordered for XLA."""
    order = list(module.computations.values())
    place = {c: number for number, c in enumerate(order)}
    if all(place[c] < place[i.parent] for i in module.instructions() for c in i.called):
        return order
    return computations_in_order(module)


def _entry_shape(module: HloModule) -> bytes:
    """Return the shapes of the entry, by its layout in the header if there is one."""
    text = module.attributes.get("entry_computation_layout")
    if not text:
        return _program_shape(module.entry)
    parameters, result = parse_entry_computation_layout(text)
    return _program_shape(module.entry, parameters, result)


def _program_shape(
    computation: HloComputation, shapes: Sequence[Shape] = (), result: Shape | None = None
) -> bytes:
    """Return the shapes and names of parameters, and the shape of the result.

    shapes, result: those of the computation by default.
    """
    parameters = sorted(computation.parameters(), key=lambda p: p.parameter_number)
    return message(
        schema.PROGRAM_SHAPE,
        parameters=[shape_proto(one) for one in shapes or [p.shape for p in parameters]],
        result=shape_proto(result or computation.root.shape),
        parameter_names=[p.name for p in parameters],
    )


def _schedule(module: HloModule) -> bytes | None:
    """Return the order of execution of each computation; None if the module is not scheduled."""
    if not module.is_scheduled:
        return None
    entries = [
        message(
            schema.SEQUENCE_ENTRY,
            key=c.id + 1,
            value=message(schema.SEQUENCE, instruction_ids=[i.id + 1 for i in c.sequence()]),
        )
        for c in module.computations.values()
    ]
    return message(schema.SCHEDULE, sequences=entries)


def _aliases(text: str) -> bytes:
    entries = [
        message(
            schema.ALIAS,
            output_shape_index=list(one.output_index),
            parameter_number=one.parameter_number,
            parameter_shape_index=list(one.parameter_index),
            kind=2 if one.kind == "must-alias" else 1,
        )
        for one in parse_input_output_alias(text)
    ]
    return message(schema.ALIASES, entries=entries)


def _recovery(text: str) -> bytes:
    entries = [
        message(
            schema.RECOVERY_ENTRY,
            old_original_array=original_array_proto(old) if old != "{}" else None,
            new_original_array=original_array_proto(new) if new != "{}" else None,
            recovery_module=write_hlo_proto(parse_hlo(module)) if module else None,
        )
        for old, new, module in recovery_proto(text)
    ]
    return message(schema.RECOVERY_TABLE, entries=entries)


def computation_proto(computation: HloComputation, is_fused: bool) -> bytes:
    """Return a computation as the bytes of an `HloComputationProto`."""
    return message(
        schema.COMPUTATION,
        name=computation.name,
        instructions=[instruction_proto(i) for i in computation.sequence()],
        program_shape=_program_shape(computation),
        id=computation.id + 1,
        root_id=computation.root.id + 1,
        is_fusion_computation=is_fused or None,
        execution_thread=unquoted(computation.execution_thread or "main"),
    )


def instruction_proto(i: HloInstruction) -> bytes:
    """Return an instruction as the bytes of an `HloInstructionProto`."""
    # Ids start at 1: XLA takes 0 for an absent one.
    fields: dict[str, Any] = {
        "name": i.name,
        "opcode": i.opcode.name,
        "shape": shape_proto(i.shape),
        "id": i.id + 1,
        "operand_ids": [o.id + 1 for o in i.operands],
        "control_predecessor_ids": [p.id + 1 for p in i.control_predecessors],
        "metadata": metadata_proto(i.metadata) if i.metadata else b"",
    }
    # XLA lists the body of a loop before its condition.
    called = i.called[::-1] if i.opcode.name == "while" else i.called
    fields["called_computation_ids"] = [c.id + 1 for c in called]
    fields |= instruction_fields(i)
    if i.opcode.name == "parameter":
        fields["parameter_number"] = i.parameter_number
    elif i.opcode.name == "constant":
        if i.literal.has_elided_values:
            raise ProtoError(
                f"%{i.name} has no values: its text is {{...}}",
                "print the module with large constants, or read the proto that XLA dumps",
            )
        fields["literal"] = literal_proto(i.literal)
    return message(schema.INSTRUCTION, **fields)
