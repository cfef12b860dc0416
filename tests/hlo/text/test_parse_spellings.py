"""The grammar, rule by rule: blanks and comments, shapes, layouts, attributes, operands."""

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
        "ROOT c = f32[2] constant({1, 18446744073709551616})",
        "ROOT c = f32[] constant(-9223372036854775809)",
        "ROOT c = pred[] constant(18446744073709551616)",
        "ROOT r = f32[4,6] negate(p), foo=1",  # an attribute that no opcode has
        "ROOT r = f32[4,6]{1,0:L(0)} negate(p)",
        "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=2,'y'=2], [{'x'}, {'x'}]}",
        "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=2,'y'=2], [{'x'}, {}], replicated={'x'}}",
        "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=12], [{'x':(1)3}, {'x':(2)2}]}",
        "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=4], [{'x':(1)4}, {}]}",
        "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=4], [{'x':(1)2,'x':(2)2}, {}]}",
        "ROOT r = f32[4,6] all-reduce(p), replica_groups=mesh['x'=4] {}, to_apply=sum",
        "ROOT r = f32[4,6] all-reduce(p), replica_groups=mesh['x'=4] {'x','x'}, to_apply=sum",
        "s = f32[4,6] all-reduce-start(p), to_apply=sum\nROOT r = f32[4,6] all-reduce-done(s), to_apply=sum",
        "ROOT r = f32[4,6] collective-broadcast(p), replica_groups={{0}}, constrain_layout=true",
        "k = f32[6,3] parameter(2)\nROOT r = f32[4,3] convolution(p, k), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=3}}",
        "t = token[] after-all()\nROOT r = pred[] compare(t, t), direction=EQ",
        "t = token[] after-all()\ns = (f32[4,6], u32[], token[]) send(p, t), channel_id=1\nROOT d = token[] send-done(s), channel_id=2",
    ],
)
def test_what_xla_refuses_or_aborts_on_is_refused(body: str) -> None:
    with pytest.raises(xe.errors.HloParseError):
        xe.parse_hlo(module(body))


@pytest.mark.parametrize(
    ("spelled", "plain"),
    [
        ("ROOT r = f32[4,6]{1,0:T(-9223372036854775808,2)} negate(p)", "ROOT r = f32[4,6]{1,0:T(*,2)} negate(p)"),
        ("ROOT r = f32[4,6]{1,0:SC(0:2,3} negate(p)", "ROOT r = f32[4,6]{1,0:SC(0:2,3)} negate(p)"),
        ("ROOT r = f32[4,6] negate(p), frontend_attributes={}, statistics={visualizing_index=0}", "ROOT r = f32[4,6] negate(p)"),
        ("ROOT t = opaque[] after-all()", "ROOT t = token[] after-all()"),
        ("ROOT r = f32[4,6] negate(p), origin={({\"a\"}, {\"b\"}}", "ROOT r = f32[4,6] negate(p), origin={({\"a\"}, {\"b\"})}"),
        ('ROOT r = f32[4,6] negate(p), origin={({"a" {}},, ({"c"} {"b"}),)}', 'ROOT r = f32[4,6] negate(p), origin={({"a"}, (), ({"b"}))}'),
        ("ROOT r = f32[4,6] negate(p), sharding={mesh['x'=2],, [{'x'}]}", "ROOT r = f32[4,6] negate(p), sharding={mesh['x'=2], [{'x'}]}"),
        ("ROOT r = f32[4,6] negate(p), origin={}", "ROOT r = f32[4,6] negate(p), origin={()}"),
        (
            "t = token[] after-all()\nROOT s = (f32[4,6]{0,1}, u32[], token[]) send(p, t), channel_id=1",
            "t = token[] after-all()\nROOT s = (f32[4,6]{1,0}, u32[], token[]) send(p, t), channel_id=1",
        ),
        (
            "ROOT r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}, algorithm=unset",
            "ROOT r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        ),
    ],
)  # fmt: skip
def test_what_xla_reads_as_the_same(spelled: str, plain: str) -> None:
    assert modules_equal(xe.parse_hlo(module(spelled)), xe.parse_hlo(module(plain))) is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            "input_output_alias={ {1}: (1, {}), {0}: (0, {}), {0}: (1, {}) }",
            "input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }, ",
        ),
        ("buffer_donor={ (1, {}), (0, {}), (1, {}) }", "buffer_donor={ (0, {}), (1, {}) }, "),
        (
            "buffer_donor={}, input_output_alias={}, frontend_attributes={}, origin_recovery_table={}",
            "",
        ),
        (
            "allow_spmd_sharding_propagation_to_output={false}, is_scheduled=false, replica_count=1",
            "",
        ),
    ],
)
def test_a_header_keeps_what_xla_keeps(given: str, kept: str) -> None:
    body = "ENTRY e {\np = f32[2] parameter(0)\nq = f32[2] parameter(1)\nROOT r = (f32[2], f32[2]) tuple(p, q)\n}"
    head = xe.parse_hlo(f"HloModule m, {given}\n{body}").to_text().split("\n")[0]
    assert (
        head
        == f"HloModule m, {kept}entry_computation_layout={{(f32[2]{{0}}, f32[2]{{0}})->(f32[2]{{0}}, f32[2]{{0}})}}"
    )


@pytest.mark.parametrize("output", ["{0,0}", "{2}", "{-1}"])
def test_an_alias_names_an_output_that_there_is(output: str) -> None:
    body = "ENTRY e {\np = f32[2] parameter(0)\nROOT r = (f32[2], f32[2]) tuple(p, p)\n}"
    with pytest.raises(xe.errors.HloParseError, match="names output"):
        xe.parse_hlo(f"HloModule m, input_output_alias={{ {output}: (0, {{}}) }}\n{body}")


@pytest.mark.parametrize(
    "header", ["e (p: opaque[4,6]) -> f32[4,6]", "e (p: token[3]) -> f32[4,6]"]
)
def test_what_has_no_dimensions_has_none_in_a_signature(header: str) -> None:
    with pytest.raises(xe.errors.HloParseError, match="has no dimensions"):
        xe.parse_hlo(f"ENTRY {header} {{\n  ROOT p = f32[4,6] parameter(0)\n}}")


def test_numbers_of_tables_are_64_bits() -> None:
    tables = 'FileNames\n18446744073709551616 "a.py"\n\nFunctionNames\n\nFileLocations\n\nStackFrames\n\n'
    with pytest.raises(xe.errors.HloParseError):
        xe.parse_hlo(
            f"HloModule m\n{tables}ENTRY %e () -> f32[] {{\n  ROOT %c = f32[] constant(1)\n}}"
        )


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("mesh['x'=4,'y'=2] {'x'}", ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['x'=4,'y'=2] {'x':(1)2}", ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['x'=4,'y'=2] {'x':(2)2}", ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['x'=4,'y'=2] {'x':(2)2,'x':(1)2}", ((0, 4, 2, 6), (1, 5, 3, 7))),
        ("mesh['x'=12] {'x':(2)2}", ((0, 3), (1, 4), (2, 5), (6, 9), (7, 10), (8, 11))),
        ("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}", ((0, 2), (1, 3))),
    ],
)
def test_parts_of_axes_group_devices(text: str, groups: tuple[tuple[int, ...], ...]) -> None:
    root = xe.parse_hlo(
        module(f"ROOT r = f32[4,6] all-reduce(p), replica_groups={text}, to_apply=sum")
    ).entry.root
    assert root.attributes["replica_groups"].groups == groups


def test_a_computation_without_a_header_has_no_signature() -> None:
    with pytest.raises(xe.errors.HloParseError):
        xe.parse_hlo("e (p: f32[]) -> f32[] { ROOT p = f32[] parameter(0) }")
    assert xe.parse_hlo("e { ROOT p = f32[] parameter(0) }").name == "module_e"


def test_a_convolution_without_spatial_dimensions_is_printed_as_it_is_read() -> None:
    body = "k = f32[6,3] parameter(2)\nROOT r = f32[4,3] convolution(p, k), dim_labels=bf_io->bf"
    printed = xe.parse_hlo(module(body)).to_text()
    assert "window" not in printed and "dim_labels=bf_io->bf" in printed


def test_the_order_of_a_comparison_is_another_word_for_its_type() -> None:
    def compared(attributes: str) -> str:
        return module(f"ROOT r = pred[4,6] compare(p, p), direction=LT{attributes}")

    for order, kind in ((", order=TOTAL", ", type=TOTALORDER"), (", order=PARTIAL", "")):
        assert modules_equal(xe.parse_hlo(compared(order)), xe.parse_hlo(compared(kind))) is None
    for wrong in (", order=total", ", order=TOTALORDER", ", order=TOTAL, type=FLOAT"):
        with pytest.raises(xe.errors.HloParseError):
            xe.parse_hlo(compared(wrong))


@pytest.mark.parametrize("stable", ["true", "false"])
def test_top_k_says_whether_ties_keep_their_order(stable: str) -> None:
    """As jaxlib writes it from 0.12 on; ours always keeps the lower index."""
    read = xe.parse_hlo(
        module(f"ROOT r = (f32[4,2], s32[4,2]) topk(p), k=2, largest=true, is_stable={stable}")
    )
    assert read.entry.root.attributes.value("is_stable") is (stable == "true")
    assert modules_equal(read, xe.parse_hlo(str(read))) is None
