"""HLO protos made here, field by field: what becomes of them, and of damaged ones."""

from __future__ import annotations

import contextlib
import gzip
import random
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.messages import field, message
from xla_explorer.frontends.hlo_proto import read_hlo_proto, schema
from xla_explorer.frontends.protobuf import Message, ProtoError

F32, S32, PRED = 11, 4, 1


def shape(kind: int, *sizes: int, order: list[int] | None = None) -> bytes:
    layout = message(
        schema.LAYOUT, minor_to_major=order if order is not None else list(range(len(sizes)))[::-1]
    )
    return message(schema.SHAPE, element_type=kind, dimensions=list(sizes), layout=layout)


def instruction(
    number: int, name: str, opcode: str, result: bytes, *operands: int, **values: object
) -> bytes:
    return message(
        schema.INSTRUCTION,
        name=name,
        opcode=opcode,
        shape=result,
        id=number,
        operand_ids=list(operands),
        **values,
    )


def module(*instructions: bytes, root: int, **values: object) -> bytes:
    computation = message(
        schema.COMPUTATION, name="main", instructions=list(instructions), id=7, root_id=root
    )
    return message(
        schema.MODULE, name="m", computations=[computation], entry_computation_id=7, **values
    )


def scaled(**values: object) -> bytes:
    """X * {{1,2,3},{4,5,6}}, the constant with its columns first in memory."""
    literal = message(
        schema.LITERAL,
        shape=shape(F32, 2, 3, order=[0, 1]),
        f32s=np.array([1, 4, 2, 5, 3, 6], "<f4").tobytes(),
    )
    return module(
        instruction(
            1,
            "x",
            "parameter",
            shape(F32, 2, 3),
            metadata=message(schema.METADATA, op_name="f/mul", source_file="f.py", source_line=3),
        ),
        instruction(2, "c", "constant", shape(F32, 2, 3, order=[0, 1]), literal=literal),
        instruction(3, "r", "multiply", shape(F32, 2, 3), 1, 2),
        root=3,
        **values,
    )


def test_a_module_has_its_names_values_and_places() -> None:
    found = read_hlo_proto(scaled()).module
    assert [i.name for i in found.entry.instructions.values()] == [
        "x",
        "c",
        "r",
    ] and found.entry.root.name == "r"
    assert (
        found.find("x").op_metadata.source_line == 3
        and found.find("x").op_metadata.op_name == "f/mul"
    )
    assert found.find("c").shape.layout.minor_to_major == (0, 1)
    np.testing.assert_array_equal(found.find("c").literal.array, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(
        xe.evaluate(found, np.full((2, 3), 2, np.float32)), [[2, 4, 6], [8, 10, 12]]
    )


def test_each_container_is_opened() -> None:
    hlo = message(schema.HLO, hlo_module=scaled())
    argument = message(schema.LITERAL, shape=shape(S32), s32s=[-5])
    snapshot = message(schema.SNAPSHOT, hlo=hlo, arguments=[argument], execution_platform="Host")
    assigned = hlo + message(schema.HLO, buffer_assignment=b"")
    for raw in (scaled(), hlo, assigned, message(schema.UNOPTIMIZED_SNAPSHOT, hlo_module=scaled())):
        assert read_hlo_proto(raw).module.to_text() == read_hlo_proto(snapshot).module.to_text()
    contents = read_hlo_proto(snapshot)
    assert contents.platform == "Host" and contents.arguments[0].scalar == -5


def test_load_reads_a_file_also_gzipped(tmp_path: Path) -> None:
    (tmp_path / "m.hlo.pb").write_bytes(scaled())
    (tmp_path / "m.hlo.pb.gz").write_bytes(gzip.compress(scaled()))
    assert (
        xe.load(tmp_path / "m.hlo.pb").to_text() == xe.load(str(tmp_path / "m.hlo.pb.gz")).to_text()
    )


def test_a_schedule_orders_the_instructions() -> None:
    entry = message(
        schema.SEQUENCE_ENTRY, key=7, value=message(schema.SEQUENCE, instruction_ids=[2, 1, 3])
    )
    found = read_hlo_proto(scaled(schedule=message(schema.SCHEDULE, sequences=[entry]))).module
    assert found.is_scheduled and [i.name for i in found.entry.schedule or ()] == ["c", "x", "r"]


def test_names_cannot_bring_in_text() -> None:
    raw = module(instruction(1, "x = f32[] add(y, z)\n}", "parameter", shape(F32)), root=1)
    found = read_hlo_proto(raw).module
    assert found.instruction_count() == 1 and "\n" not in found.entry.root.name


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no HLO module"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "more than ten bytes"),
        (module(instruction(1, "x", "parameter", shape(F32)), root=2), "root_id 2"),
        (
            module(instruction(1, "x", "frobnicate", shape(F32)), root=1),
            "unknown opcode 'frobnicate'",
        ),
        (module(instruction(1, "x", "negate", shape(F32), 9), root=1), "reads the instruction 9"),
        (
            module(
                instruction(1, "x", "parameter", message(schema.SHAPE, element_type=99)), root=1
            ),
            "element_type 99",
        ),
        (
            module(
                instruction(
                    1,
                    "x",
                    "constant",
                    shape(F32, 2),
                    literal=message(schema.LITERAL, shape=shape(F32, 2), f32s=b"1234"),
                ),
                root=1,
            ),
            "1 elements in [2]",
        ),
        (module(instruction(1, "x", "parameter", shape(F32, 2, order=[3])), root=1), "not valid"),
        (
            module(instruction(1, "x", "call", shape(F32), called_computation_ids=[5]), root=1),
            "calls the computation 5",
        ),
    ],
)
def test_what_is_wrong_is_said(raw: bytes, says: str) -> None:
    with pytest.raises(ProtoError) as caught:
        read_hlo_proto(raw)
    assert says in str(caught.value)
    assert caught.value.hint


def test_damaged_bytes_raise_nothing_but_our_errors() -> None:
    whole, chance = scaled(), random.Random(1)
    for _ in range(300):
        raw = bytearray(
            whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.5 else whole
        )
        for _ in range(chance.randrange(4)):
            if raw:
                raw[chance.randrange(len(raw))] = chance.randrange(256)
        with contextlib.suppress(xe.XlaExplorerError):
            read_hlo_proto(bytes(raw))


def test_packed_numbers_and_single_ones_are_the_same() -> None:
    numbers = [0, 1, 127, 128, -1, -(1 << 63), (1 << 63) - 1]
    single = b"".join(
        [field(schema.INSTRUCTION.numbers["dimensions"], number) for number in numbers]
    )
    for raw in (
        single,
        message(schema.INSTRUCTION, dimensions=numbers),
        single + message(schema.INSTRUCTION, dimensions=[]),
    ):
        found = Message(schema.INSTRUCTION, raw)
        assert found.numbers("dimensions") == numbers
        assert found.integers("dimensions").view(np.int64).tolist() == numbers


def test_a_field_of_another_type_is_refused() -> None:
    with pytest.raises(ProtoError, match=r"HloModuleProto\.name must be bytes, got a varint"):
        Message(schema.MODULE, field(1, 5)).text("name")


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        (F32, {"comparison_order": "TOTAL"}, "TOTALORDER"),  # as jaxlib 0.12 writes it
        (F32, {"comparison_order": "PARTIAL"}, None),
        (F32, {"comparison_type": "TOTALORDER"}, "TOTALORDER"),  # and older ones
        (S32, {"comparison_order": "TOTAL"}, None),
    ],
)
def test_the_order_of_a_comparison_is_read(
    kind: int, values: dict[str, str], wanted: str | None
) -> None:
    x = instruction(1, "x", "parameter", shape(kind, 2))
    compared = instruction(
        2, "r", "compare", shape(PRED, 2), 1, 1, comparison_direction="LT", **values
    )
    assert (
        read_hlo_proto(module(x, compared, root=2)).module.entry.root.attributes.get("type")
        == wanted
    )
