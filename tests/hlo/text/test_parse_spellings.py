"""What the grammar allows and what it does not, rule by rule: blanks and comments, shapes, layouts, attributes, operands."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.hlo.analysis.module_equality import modules_equal

REGION = "sum { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y) }\n"


def module(body: str) -> str:
    return f"HloModule m\n{REGION}ENTRY e {{\np = f32[4,6] parameter(0)\ni = s32[] parameter(1)\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        ("ROOT r = f32[4, 6] {1, 0} negate(p)", "ROOT r = f32[4,6]{1,0} negate(p)"),
        ("ROOT %r=f32 [ 4 /* c */ ,\n6 ] // c\n{ 1 , 0 : T ( 8 , 128 ) } negate ( p )", "ROOT r = f32[4,6]{1,0:T(8,128)} negate(p)"),
        ("ROOT %r/**/=/**/f32[<= 4,6]/**/negate(/**/p/**/)", "ROOT r = f32[<=4,6] negate(p)"),
        ("ROOT r = f32[6,4] transpose(p), dimensions=/* c */{ 1 /* c */,0 }", "ROOT r = f32[6,4] transpose(p), dimensions={1,0}"),
        ("ROOT r = f32[4,6] negate(p) , sharding= { replicated }", "ROOT r = f32[4,6] negate(p), sharding={replicated}"),
        ("ROOT r = f32[2] constant( { 1 /* c */ , // c\n 2 } )", "ROOT r = f32[2] constant({1, 2})"),
        ("ROOT r = f32[4,6] negate(p), metadata={source_line=3, op_name='n'}", 'ROOT r = f32[4,6] negate(p), metadata={op_name="n" source_line=3}'),
        ('ROOT r = f32[4,6] negate(p), backend_config="\\x61\\142"', 'ROOT r = f32[4,6] negate(p), backend_config="ab"'),
    ],
)  # fmt: skip
def test_blanks_and_comments_say_nothing(spelled: str, plain: str) -> None:
    assert modules_equal(xe.parse_hlo(module(spelled)), xe.parse_hlo(module(plain))) is None


@pytest.mark.parametrize(
    "body",
    [
        "ROOT r = f32[4,6] negate(p), dimensions={0}",  # an attribute of other opcodes
        "ROOT r = f32[4,6] negate(p), metadata={foo=1}",
        'ROOT r = f32[4,6] negate(p), metadata={op_name="a" op_name="b"}',
        "ROOT r = f32[4,6] negate(p), metadata={}, metadata={}",
        "ROOT r = f32[4,6] negate(p), sharding={maximal}",
        "ROOT r = f32[4,6] negate(p), sharding={devices=[2,1]<=[2]T(0)}",
        "ROOT r = f32[4,6] negate(p), parameter_replication={true,false}",
        "ROOT r = f32[6,4] transpose(p), dimensions={1 0}",
        "ROOT r = f32[4,6] negate(p), control-predecessors={}",
        "ROOT r = f32[4] reduce(p, i), dimensions={1}, to_apply=%sum %sum",
        "ROOT r = f32[4,6]{1,0:S()} negate(p)",
        "ROOT r = f32[4,6]{1,0:E(4)T(2)} negate(p)",  # properties have an order
        "ROOT r = f32[4,6]{1,0:T(2,-1)} negate(p)",
        "ROOT r = f32[4,6]{1,0:SC(0:2,)} negate(p)",
        "ROOT r = f32[4,6]{1,0:SC(0)} negate(p)",
        "ROOT r = f32[4,6] parameter(٣)",
        "ROOT r = f32[3] dynamic-reshape(p)",
        "ROOT r = f32[<=4,6] dynamic-reshape(p, i)",
        "ROOT r = f32[5] reshape(p)",
        "ROOT r = f32[1,1] dynamic-slice(p, i), dynamic_slice_sizes={1,1}",
        "ROOT r = f32[4,6] dynamic-update-slice(p, p, i)",
        "ROOT r = f32[4] reduce(p, i, i), dimensions={1}, to_apply=sum",
        "ROOT r = f32[4,6] concatenate(p), dimensions={0,1}",
        "ROOT r = f32[4,6] broadcast(p)",
        "ROOT r = f32[4] tuple(p)",
        "ROOT r = f32[4,6] all-reduce(p), use_global_device_ids=true, to_apply=sum",
        'ROOT r = f32[4,6] custom-call(p), custom_call_target="t", operand_layout_constraints={f32[6,4]{1,0}}',
        "t = token[] after-all()\nROOT r = pred[] compare(t, t), direction=EQ",
        "t = token[] after-all()\ns = (f32[4,6], u32[], token[]) send(p, t), channel_id=1\nROOT d = token[] send-done(s), channel_id=2",
    ],
)
def test_what_xla_refuses_or_aborts_on_is_refused(body: str) -> None:
    with pytest.raises(xe.HloParseError):
        xe.parse_hlo(module(body))


def test_a_computation_without_a_header_has_no_signature() -> None:
    with pytest.raises(xe.HloParseError):
        xe.parse_hlo("e (p: f32[]) -> f32[] { ROOT p = f32[] parameter(0) }")
    assert xe.parse_hlo("e { ROOT p = f32[] parameter(0) }").name == "module_e"


def test_a_convolution_without_spatial_dimensions_is_printed_as_it_is_read() -> None:
    body = "k = f32[6,3] parameter(2)\nROOT r = f32[4,3] convolution(p, k), dim_labels=bf_io->bf"
    printed = xe.parse_hlo(module(body)).to_text()
    assert "window" not in printed and "dim_labels=bf_io->bf" in printed
