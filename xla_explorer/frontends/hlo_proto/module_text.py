"""An `HloModuleProto` as HLO text in the parser's spelling; large constants are separate.

One language has one reader: types, defaults, contradictions and places of errors are the parser's,
as for text that XLA prints. Source: hlo_module.cc CreateFromProto, Print.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xla_explorer.foundation.naming import UniqueNames, legal_name
from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.attributes import (
    COMMON,
    READERS,
    comparison_type,
    frontend_attributes,
)
from xla_explorer.frontends.hlo_proto.literals import read_literal
from xla_explorer.frontends.hlo_proto.metadata import frames_text, metadata_text
from xla_explorer.frontends.hlo_proto.original_values import original_array
from xla_explorer.frontends.hlo_proto.shapes import (
    TYPE_NAMES,
    element_type,
    is_scalar,
    shape_field_text,
    shape_text,
)
from xla_explorer.frontends.protobuf import Message, ProtoError
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    buffer_donor_text,
    input_output_alias_text,
)
from xla_explorer.hlo.text.strings import quoted_string

# In the proto's order, if it differs from the order of the opcode's row.
_ROLES: Final = {"while": ("body", "condition")}
_COMPLETE: Final = "check that the file is complete and holds an HLO module"


class ModuleText:
    """The text of a module, made once.

    text: HLO. constants: `LiteralProto` by name of each constant printed as `constant({...})`.
    """

    def __init__(self, module: Message) -> None:
        self.constants: dict[str, Message] = {}
        self._payloads = [bytes(one) for one in module.spans("payloads")]
        self._computations = list(module.messages("computations", schema.COMPUTATION))
        names = UniqueNames()
        self._names = {
            one.number("id"): names.unique(legal_name(one.text("name") or "computation"))
            for one in self._computations
        }
        self._instructions: dict[int, str] = {}  # number to name, of all computations
        self._shapes: dict[int, bytes] = {}  # number to `ShapeProto`
        self._unique = UniqueNames()
        schedules = self._schedules(module)
        entry = module.number("entry_computation_id")
        if entry not in self._names:
            raise ProtoError(
                f"HloModuleProto.entry_computation_id {entry} must be the id of a computation",
                _COMPLETE,
            )
        bodies = ["\n".join(self._computation(one, schedules, entry)) for one in self._computations]
        self.text = "\n\n".join([*self._header(module, bool(schedules)), *bodies]) + "\n"

    # -- the header --------------------------------------------------------------------------------
    def _header(self, module: Message, scheduled: bool) -> Iterator[str]:
        parts = [f"HloModule {legal_name(module.text('name') or 'module')}"]
        if scheduled:
            parts.append("is_scheduled=true")
        if (aliases := module.message("input_output_alias", schema.ALIASES)) is not None:
            entries = [_alias(entry) for entry in aliases.messages("entries", schema.ALIAS)]
            parts += [f"input_output_alias={input_output_alias_text(entries)}"] if entries else []
        if (donors := module.message("buffer_donor", schema.DONORS)) is not None:
            pairs = [
                (one.number("parameter_number"), tuple(one.numbers("parameter_shape_index")))
                for one in donors.messages("entries", schema.DONOR)
            ]
            parts += [f"buffer_donor={buffer_donor_text(pairs)}"] if pairs else []
        if (
            shape := module.message("host_program_shape", schema.PROGRAM_SHAPE)
        ) is not None and shape.has("result"):
            parameters = ", ".join(
                [shape_text(one) for one in shape.messages("parameters", schema.SHAPE)]
            )
            parts.append(
                f"entry_computation_layout={{({parameters})->{shape_text(shape.message('result', schema.SHAPE))}}}"
            )
        given = module.message("frontend_attributes", schema.FRONTEND_ATTRIBUTES)
        if given is not None and (text := frontend_attributes(given)):
            parts.append(f"frontend_attributes={text}")
        table = module.message("original_value_recovery_table", schema.RECOVERY_TABLE)
        if table is not None and (rows := _recovery(table)):
            parts.append(f"origin_recovery_table={{{rows}}}")
        yield ", ".join(parts)
        if (index := module.message("stack_frame_index", schema.FRAME_INDEX)) is not None and (
            frames := frames_text(index)
        ):
            yield frames

    @staticmethod
    def _schedules(module: Message) -> dict[int, list[int]]:
        """Return the instruction numbers of each computation number, in schedule order."""
        found: dict[int, list[int]] = {}
        schedule = module.message("schedule", schema.SCHEDULE)
        for entry in (
            schedule.messages("sequences", schema.SEQUENCE_ENTRY) if schedule is not None else ()
        ):
            sequence = entry.message("value", schema.SEQUENCE)
            found[entry.number("key")] = (
                sequence.numbers("instruction_ids") if sequence is not None else []
            )
        return found

    # -- computations ------------------------------------------------------------------------------
    def _computation(
        self, computation: Message, schedules: dict[int, list[int]], entry: int
    ) -> Iterator[str]:
        number, root = computation.number("id"), computation.number("root_id")
        instructions = {
            one.number("id"): one
            for one in computation.messages("instructions", schema.INSTRUCTION)
        }
        if root not in instructions:
            raise ProtoError(
                f"HloComputationProto.root_id {root}: {self._names[number]} has no such "
                "instruction",
                _COMPLETE,
            )
        for one, i in instructions.items():
            self._instructions[one] = self._unique.unique(
                legal_name(i.text("name") or i.text("opcode") or "instruction")
            )
            self._shapes[one] = i.data("shape")
        order = schedules.get(number) or list(instructions)
        if sorted(order) != sorted(instructions):
            raise ProtoError(
                f"HloScheduleProto: the sequence of {self._names[number]} does not list each "
                "instruction once",
                _COMPLETE,
            )
        yield f"{'ENTRY ' if number == entry else ''}%{self._names[number]} {{"
        for one in order:
            yield f"  {'ROOT ' if one == root else ''}{self._instruction(one, instructions[one])}"
        thread = computation.text("execution_thread")
        yield "}" + (
            f", execution_thread={quoted_string(thread)}" if thread and thread != "main" else ""
        )

    def _instruction(self, number: int, i: Message) -> str:
        name, opcode = self._instructions[number], i.text("opcode")
        spec = OPCODES.get(opcode)
        if spec is None:
            raise ProtoError(
                f"%{name} has the unknown opcode {opcode[:60]!r}",
                "read the file with a newer version of xla_explorer",
            )
        parts = [
            f"%{name} = {shape_field_text(i, 'shape')} {opcode}({self._operands(name, opcode, i)})"
        ]
        parts += [
            f"{one}={text}"
            for one in spec.attributes
            if one in READERS and (text := READERS[one](i)) is not None
        ]
        if opcode == "compare":
            operand = next(iter(i.numbers("operand_ids")), -1)
            if (text := comparison_type(i, self._type(operand))) is not None:
                parts.append(f"type={text}")
        if (
            opcode == "custom-call"
            and (literal := i.message("literal", schema.LITERAL)) is not None
        ):
            parts.append(f"literal={_literal_text(literal)}")
        parts += self._called(name, opcode, spec.called, i)
        parts += [
            f"{one}={text}"
            for one in COMMON
            if one not in spec.attributes and (text := READERS[one](i)) is not None
        ]
        if before := i.numbers("control_predecessor_ids"):
            parts.append(
                f"control-predecessors={{{', '.join(['%' + self._named(name, one) for one in before])}}}"
            )
        metadata = i.message("metadata", schema.METADATA)
        if metadata is not None:
            text = metadata_text(metadata, self._payload(metadata, "metadata_payload"))
            parts += [f"metadata={text}"] if text != "{}" else []
        if text := self._backend_config(i):
            parts.append(f"backend_config={text}")
        return ", ".join(parts)

    def _type(self, number: int) -> str:
        """Return the element type of an instruction's array; empty for a tuple."""
        shape = Message(schema.SHAPE, self._shapes.get(number, b""))
        return element_type(shape) if shape.number("element_type") in TYPE_NAMES else ""

    def _named(self, user: str, number: int) -> str:
        found = self._instructions.get(number)
        if found is None:
            raise ProtoError(
                f"%{user} reads the instruction {number}, which its computation does not have",
                _COMPLETE,
            )
        return found

    def _operands(self, name: str, opcode: str, i: Message) -> str:
        if opcode == "parameter":
            return str(i.number("parameter_number"))
        if opcode == "constant":
            literal = i.message("literal", schema.LITERAL)
            if literal is None:
                return "{...}"
            if is_scalar(i.message("shape", schema.SHAPE)):
                return read_literal(literal).text
            self.constants[name] = literal
            return "{...}"
        return ", ".join(["%" + self._named(name, one) for one in i.numbers("operand_ids")])

    def _called(self, name: str, opcode: str, roles: tuple[str, ...], i: Message) -> list[str]:
        numbers = i.numbers("called_computation_ids")
        for one in numbers:
            if one not in self._names:
                raise ProtoError(
                    f"%{name} calls the computation {one}, which the module does not have",
                    _COMPLETE,
                )
        names = [f"%{self._names[one]}" for one in numbers]
        if not names:
            return []
        roles = _ROLES.get(opcode, roles)
        if opcode == "conditional" and self._type(i.numbers("operand_ids")[0]) == "pred":
            roles = ("true_computation", "false_computation")
        elif opcode in ("conditional", "custom-call"):
            return [
                f"{'branch' if opcode == 'conditional' else 'called'}_computations={{{', '.join(names)}}}"
            ]
        return [f"{role}={one}" for role, one in zip(roles, names, strict=False)]

    def _backend_config(self, i: Message) -> str | None:
        """Return the instruction's own configuration, or the module's one that it refers to."""
        if not i.has("backend_config_payload") or i.has("backend_config"):
            return READERS["backend_config"](i) if i.data("backend_config") else None
        raw = self._payload(i, "backend_config_payload")
        return quoted_string(raw.decode("utf-8", "surrogateescape")) if raw else None

    def _payload(self, holder: Message, field: str) -> bytes:
        """Return the bytes of a payload, or of the module's one that it refers to.

        Empty if none.
        """
        payload = holder.message(field, schema.PAYLOAD)
        if payload is None:
            return b""
        raw, number = payload.data("value"), payload.number("id")
        if not raw and 0 <= number < len(self._payloads):
            raw = self._payloads[number]
        return raw


def _alias(entry: Message) -> InputOutputAlias:
    return InputOutputAlias(
        tuple(entry.numbers("output_shape_index")),
        entry.number("parameter_number"),
        tuple(entry.numbers("parameter_shape_index")),
        "must-alias" if entry.number("kind") == 2 else "may-alias",
    )


def _recovery(table: Message) -> str:
    rows = []
    for entry in table.messages("entries", schema.RECOVERY_ENTRY):
        sides = [
            entry.message(name, schema.ORIGINAL_ARRAY)
            for name in ("old_original_array", "new_original_array")
        ]
        old, new = [original_array(side) if side is not None else "{}" for side in sides]
        recovery = entry.message("recovery_module", schema.MODULE)
        rows.append(
            f"{old} : {new}"
            + (f", {quoted_string(ModuleText(recovery).text)}" if recovery is not None else "")
        )
    return " ".join(rows)


def _literal_text(literal: Message) -> str:
    found = read_literal(literal)
    return f"{found.shape} {found.text}"
