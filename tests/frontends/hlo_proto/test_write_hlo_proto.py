"""Modules written as protos and read back: every attribute, layout, literal and header field."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

import xla_explorer as xe
from tests.properties.seed_texts import OWN, corpus
from tests.support.opcode_programs import PROGRAMS, module_with
from xla_explorer.frontends.hlo_proto import read_hlo_proto, schema
from xla_explorer.frontends.hlo_proto.attributes import READERS
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.frontends.hlo_proto.writer.attributes import _MESSAGES, _ROWS
from xla_explorer.frontends.protobuf import Message, MessageType, ProtoError
from xla_explorer.frontends.protobuf.writing import message
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule

# Options of a compile stand in HloModuleConfigProto; channel 0 is no channel in a proto.
OUTSIDE = re.compile(
    r", (?:num_partitions|replica_count|allow_spmd_sharding_propagation_to_\w+|alias_passthrough_params)=(?:\{[^}]*\}|\w+)"
    r"|, channel_id=0(?=[,\n])"
)


def canonical(module: HloModule) -> str:
    """Return the text of a module without what a proto leaves out, constants spelled in full."""
    for i in module.instructions():
        if i.opcode.name == "constant" and i.shape.is_array:
            i.parent.set_payload(i, literal_from_array(i.literal.array, i.shape))
    return OUTSIDE.sub("", module.to_text())


def check(text: str) -> None:
    """Assert that a module is the same after it was written and read."""
    module = xe.parse_hlo(text)
    assert canonical(read_hlo_proto(write_hlo_proto(module)).module) == canonical(module)


@pytest.mark.parametrize("opcode", sorted(PROGRAMS))
def test_a_program_of_each_opcode_survives(opcode):
    check(module_with(opcode).to_text())


def test_programs_of_the_project_survive():
    with gzip.open(OWN, "rt") as file:
        texts = json.load(file)
    for text in (*texts[::7], *corpus(shared=False).texts[::31]):
        check(text)


def test_every_attribute_has_a_row():
    inside = {name for names, _ in _MESSAGES for name in names}
    inside |= {*schema.GATHER_DIMENSIONS.numbers, *schema.SCATTER_DIMENSIONS.numbers}
    inside |= {
        f"{side}_{what}_dims" for side in ("lhs", "rhs") for what in ("batch", "contracting")
    }
    inside |= {"lhs_ragged_dims", "rhs_group_dims", "left_side", "unit_diagonal", "transpose_a"}
    assert set(READERS) - inside - set(_ROWS) == set()


HEADERS = """HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias), {1}: (1, {}, may-alias) }, buffer_donor={ (2, {}) }, entry_computation_layout={(f32[4,8]{0,1:T(4,128)S(1)}, s4[8]{0:E(4)}, f32[<=16]{0})->(f32[4,8]{0,1:T(4,128)S(1)}, s4[8]{0:E(4)})}, frontend_attributes={a="x y",b={"k":1}}

FileNames
1 "train.py"

FunctionNames
1 "step"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=2 end_column=9}
2 {file_name_id=1 function_name_id=2 line=20 end_line=21 column=0 end_column=4}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


ENTRY %main (a: f32[4,8], b: s4[8], c: f32[<=16]) -> (f32[4,8], s4[8]) {
  %a = f32[4,8]{0,1:T(4,128)S(1)} parameter(0), parameter_replication={true}, sharding={devices=[2,2]<=[2,2]T(1,0)}
  %b = s4[8]{0:E(4)} parameter(1)
  %c = f32[<=16]{0} parameter(2)
  %n = f32[4,8]{0,1:T(4,128)S(1)} negate(%a), control-predecessors={%b}, frontend_attributes={empty="",note="says \\"hi\\""}, metadata={op_type="neg" op_name="jit(f)/neg" source_file="a b.py" source_line=3 stack_frame_id=2}
  ROOT %t = (f32[4,8]{0,1:T(4,128)S(1)}, s4[8]{0:E(4)}) tuple(%n, %b), sharding={{devices=[1,4]0,2,1,3 metadata={op_name="q"}}, {replicated}}, origin={({"a"}, {"t" {1}})}
}
"""

INSTRUCTIONS = [
    "s = f32[8] parameter(0), sharding={mesh['x'=2,'y'=4], [{'x', 'y':(1)2}], replicated={'y':(2)2}}",
    "s = f32[8] parameter(0), sharding={mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'x', ?}], unreduced={'y'}}",
    "s = f32[8] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dims={manual}}",
    "s = f32[8] parameter(0), sharding={maximal device=3}",
    "s = f32[8] parameter(0), sharding={manual}",
    "s = f32[8] parameter(0), sharding={devices=[2]0,1 shard_as 5}",
    "s = f32[8] parameter(0), statistics={visualizing_index=1,first=0.5,second=2}",
    "s = f32[8] parameter(0), origin={[synthetic_call]}",
    'p = f32[8] parameter(0)\n  s = f32[8] custom-call(p), custom_call_target="", operand_layout_constraints={f32[8]{0}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{}: (0, {})}, literal=s32[2]{0} {1,2}, schedule=SCHEDULE_LATEST, api_version=API_VERSION_TYPED_FFI, backend_config={"a":[1,2]}',
    'p = f32[8] parameter(0)\n  s = f32[8] exponential(p), result_accuracy={tolerance={atol=0.5,rtol=0,ulps=3}}, backend_config="raw \\"text\\""',
    "p = f32[8] parameter(0)\n  s = f32[8] domain(p), domain={kind=\"sharding\", entry={devices=[2]<=[2]}, exit={replicated}}",
    "p = f64[8] parameter(0)\n  s = pred[8] compare(p, p), direction=LT, type=TOTALORDER",
    "p = f32[8,8] parameter(0)\n  s = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,highest}, algorithm=dot_tf32_tf32_f32_x3",
    "p = f32[8,8] parameter(0)\n  s = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={packed_nibble,default}",
    "p = f32[8]{0} parameter(0)\n  s = f32[8]{0:L(8)#(s32)*(u32)SC(0:4)M(8)} copy(p)",
]  # fmt: skip


def test_a_header_survives():
    check(HEADERS)


@pytest.mark.parametrize("lines", INSTRUCTIONS)
def test_an_instruction_survives(lines):
    *before, last = lines.split("\n")
    check("\n".join(["HloModule m", "", "ENTRY e {", *before, f"  ROOT {last.strip()}", "}", ""]))


@pytest.mark.parametrize(
    "groups", ["{{0,1},{2,3}}", "{}", "[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)", "mesh['x'=2,'y'=2] {'y'}"]
)
def test_groups_of_devices_survive(groups):
    check(
        "HloModule m\n\nadd { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }\n\n"
        f"ENTRY e {{ p = f32[8] parameter(0) ROOT r = f32[8] all-reduce(p), channel_id=1, replica_groups={groups}, use_global_device_ids=true, to_apply=add }}\n"
    )


TYPES = ["pred", "s1", "s2", "s4", "s8", "s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64",
         "c64", "c128", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3", "f8e3m4", "f4e2m1fn", "f8e8m0fnu"]  # fmt: skip


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}"])
def test_the_bits_of_constants_survive(element_type, layout):
    shape = xe.parse_hlo(f"ENTRY e {{ ROOT p = {element_type}[3,5]{layout} parameter(0) }}").entry.root.shape  # fmt: skip
    kind = shape.element_type
    random = np.random.default_rng(0)
    if kind.is_pred:
        values = random.integers(0, 2, (3, 5)).astype(bool)
    elif kind.is_float or kind.is_complex:
        raw = random.integers(0, 256, (3, 5 * kind.dtype.itemsize), np.uint8)
        if kind.bits < 8:
            raw &= (1 << kind.bits) - 1
        values = raw.view(kind.dtype)
    else:
        low, high = (
            (-(1 << kind.bits - 1), 1 << kind.bits - 1) if kind.is_signed else (0, 1 << kind.bits)
        )
        values = np.array([random.integers(low, high - 1, dtype=np.int64) if high <= 1 << 62 else low + k for k in range(15)],
                          object).reshape(3, 5).astype(kind.dtype)  # fmt: skip
    module = xe.parse_hlo("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }")
    module.entry.set_root(module.entry.add_constant(literal_from_array(values, shape), "k"))
    found = read_hlo_proto(write_hlo_proto(module)).module.entry.root
    assert found.shape is shape and found.literal.array.dtype == values.dtype
    assert found.literal.array.tobytes() == np.ascontiguousarray(values).tobytes()


def test_signs_of_zero_and_payloads_of_nan_survive():
    values = np.array([0x80000000, 0x7FC00001, 0xFF800000, 0x7F800001], np.uint32).view(np.float32)
    module = xe.parse_hlo("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }")
    module.entry.set_root(module.entry.add_constant(literal_from_array(values), "k"))
    found = read_hlo_proto(write_hlo_proto(module)).module.entry.root.literal.array
    assert found.tobytes() == values.tobytes()


def test_scalars_within_tuples_stay_scalars():
    module = xe.parse_hlo(
        "ENTRY e { ROOT c = ((f32[], pred[]), s32[2]) constant(((7, true), {1, 2})) }"
    )
    written = write_hlo_proto(module)
    again = read_hlo_proto(written).module
    inside = again.entry.root.literal.parts[0].parts
    assert [part.array.shape for part in inside] == [(), ()]
    assert write_hlo_proto(again) == written


def test_a_placeholder_is_refused():
    module = xe.parse_hlo("ENTRY e { ROOT k = f32[4] constant({...}) }")
    with pytest.raises(ProtoError, match=r"%k has no values"):
        write_hlo_proto(module)


def test_varints_of_every_length_are_read_back():
    kind = MessageType("Numbers", packed=1, single=2)
    values = np.array(
        [0, 1, 127, 128, 300, 1 << 31, 1 << 35, (1 << 63) - 1, (1 << 64) - 1, 1 << 56], np.uint64
    )
    found = Message(kind, message(kind, packed=values, single=-5))
    np.testing.assert_array_equal(found.integers("packed"), values)
    assert found.number("single") == -5
    signed = np.array([-1, 0, 5, -(1 << 63)], np.int64)
    np.testing.assert_array_equal(
        Message(kind, message(kind, packed=signed)).integers("packed").view(np.int64), signed
    )


def test_callees_come_first_for_computations_that_nothing_calls_too():
    text = """HloModule m

a { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }
unused { x = f32[4] parameter(0) ROOT c = f32[4] call(x), to_apply=a }
ENTRY e { x = f32[4] parameter(0) ROOT c = f32[4] call(x), to_apply=a }
"""
    module = xe.parse_hlo(text)
    module.computations = {name: module.computations[name] for name in ("e", "unused", "a")}
    found = Message(schema.MODULE, write_hlo_proto(module)).messages(
        "computations", schema.COMPUTATION
    )
    assert [one.text("name") for one in found] == ["a", "e", "unused"]
