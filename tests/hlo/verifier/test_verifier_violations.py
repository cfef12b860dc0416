"""Each kind of violation, from text that XLA's parser accepts (or from a graph broken by hand)."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES, opcode
from xla_explorer.hlo.primitive_type import F32, S32
from xla_explorer.hlo.shape import array_shape, tuple_shape
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import HloVerifyError, Violation, constraints_of, verify, violations

REGIONS = """
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
isum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
neg { a = f32[4] parameter(0)  ROOT c = f32[4] negate(a) }
"""


def found_in(body: str, regions: str = REGIONS) -> list[Violation]:
    return violations(
        parse_hlo(f"HloModule m\n{regions}\nENTRY e {{\n{body}\n}}\n", filename="bad.hlo")
    )


# (what is wrong, body, code)
CASES = [
    ("stated result", "p = f32[2] parameter(0)\nROOT r = f32[3] add(p, p)", "add-C5"),
    (
        "operands",
        "p = f32[2] parameter(0)\nq = f32[3] parameter(1)\nROOT r = f32[2] add(p, q)",
        "add-C4",
    ),
    (
        "contracting dimension",
        "p = f32[2,2] parameter(0)\nROOT r = f32[2,2] dot(p, p), lhs_contracting_dims={5}, rhs_contracting_dims={0}",
        "dot-C4",
    ),
    (
        "slice out of bounds",
        "p = f32[4] parameter(0)\nROOT r = f32[9] slice(p), slice={[0:9]}",
        "slice-C4",
    ),
    (
        "element of no tuple",
        "p = f32[4] parameter(0)\nROOT r = f32[] get-tuple-element(p), index=0",
        "get-tuple-element-C4",
    ),
    ("convert", "p = f32[2] parameter(0)\nROOT r = s32[3] convert(p)", "convert-C7"),
    ("reshape", "p = f32[4] parameter(0)\nROOT r = f32[2,3] reshape(p)", "reshape-C7"),
    ("reshape type", "p = f32[4] parameter(0)\nROOT r = s32[2,2] reshape(p)", "reshape-C7"),
    (
        "broadcast",
        "p = f32[4] parameter(0)\nROOT r = f32[5,3] broadcast(p), dimensions={0}",
        "broadcast-C7",
    ),
    (
        "broadcast range",
        "p = f32[4] parameter(0)\nROOT r = f32[4] broadcast(p), dimensions={1}",
        "broadcast-C7",
    ),
    (
        "broadcast twice",
        "p = f32[4,4] parameter(0)\nROOT r = f32[4,4] broadcast(p), dimensions={0,0}",
        "broadcast-C7",
    ),
    (
        "broadcast count",
        "p = f32[4] parameter(0)\nROOT r = f32[4,4] broadcast(p), dimensions={0,1}",
        "broadcast-C7",
    ),
    ("iota", "ROOT r = s32[4] iota(), iota_dimension=1", "iota-C7"),
    ("bitcast", "p = f32[4] parameter(0)\nROOT r = f32[5] bitcast(p)", "bitcast-C7"),
    (
        "bitcast-convert",
        "p = f32[4] parameter(0)\nROOT r = u8[4,3] bitcast-convert(p)",
        "bitcast-convert-C7",
    ),
    (
        "reduce-precision",
        "p = f32[4] parameter(0)\nROOT r = f32[4] reduce-precision(p), exponent_bits=0, mantissa_bits=3",
        "reduce-precision-C7",
    ),
    (
        "stochastic-convert",
        "p = f32[4] parameter(0)\nq = u8[4] parameter(1)\nROOT r = s8[4] stochastic-convert(p, q)",
        "stochastic-convert-C7",
    ),
    (
        "reducer type",
        "p = f32[4] parameter(0)\nz = f32[] constant(0)\nROOT r = s32[] reduce(p, z), dimensions={0}, to_apply=isum",
        "reduce-C7",
    ),
    (
        "reducer arity",
        "p = f32[4] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[4] reduce(p, z), dimensions={}, to_apply=neg",
        "reduce-C7",
    ),
    (
        "comparator",
        "p = f32[4] parameter(0)\nROOT r = f32[4] sort(p), dimensions={0}, to_apply=sum",
        "sort-C7",
    ),
    (
        "condition",
        "p = f32[4] parameter(0)\nROOT r = f32[4] while(p), condition=neg, body=neg",
        "while-C7",
    ),
    ("callee", "p = f32[5] parameter(0)\nROOT r = f32[4] call(p), to_apply=neg", "call-C7"),
    (
        "fusion result",
        "p = f32[4] parameter(0)\nROOT r = f32[5] fusion(p), kind=kLoop, calls=neg",
        "fusion-C5",
    ),
    (
        "branch operand",
        "i = s32[] parameter(0)\np = f32[5] parameter(1)\nROOT r = f32[4] conditional(i, p), branch_computations={neg}",
        "conditional-C7",
    ),
    (
        "map",
        "p = s32[4] parameter(0)\nROOT r = f32[4] map(p, p), dimensions={0}, to_apply=sum",
        "map-C7",
    ),
    (
        "all-gather",
        "p = f32[4] parameter(0)\nROOT r = f32[9] all-gather(p), replica_groups={{0,1}}, dimensions={0}",
        "all-gather-C8",
    ),
    (
        "replica groups",
        "p = f32[4] parameter(0)\nROOT r = f32[4] all-reduce(p), replica_groups={{0,0}}, to_apply=sum",
        "all-reduce-C7",
    ),
    (
        "all-to-all",
        "p = f32[4] parameter(0)\nROOT r = (f32[4]) all-to-all(p), replica_groups={{0,1}}",
        "all-to-all-C8",
    ),
    (
        "uneven groups",
        "p = f32[4] parameter(0)\nROOT r = f32[2] reduce-scatter(p), replica_groups={{0,1},{2}}, "
        "dimensions={0}, to_apply=sum",
        "reduce-scatter-C7",
    ),
    (
        "composite",
        "p = f32[4] parameter(0)\nROOT r = f32[4] call(p), to_apply=neg, is_composite=true",
        "call-C8",
    ),
    (
        "start without done",
        "p = f32[4] parameter(0)\nROOT r = (f32[4], f32[4], u32[]) copy-start(p)",
        "pair",
    ),
    (
        "pairs",
        "p = f32[4] parameter(0)\nROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{0,2}}",
        "collective-permute-C7",
    ),
    (
        "rng",
        "p = f32[] parameter(0)\nROOT r = s32[4] rng(p, p), distribution=rng_uniform",
        "rng-C7",
    ),
    (
        "done without start",
        "p = (f32[4], f32[4], u32[]) parameter(0)\nROOT r = f32[4] copy-done(p)",
        "pair",
    ),
]


@pytest.fixture(autouse=True)
def modules_that_no_text_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the parser's operand checks, to verify modules that it refuses.

    It refuses them as XLA's does; builders and passes can make them.

    Builders and passes can make them, so that the verifier must check.
    """
    monkeypatch.setattr("xla_explorer.hlo.text.operand_checks.CHECKS", {})


@pytest.mark.parametrize(
    ("body", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_violation_has_its_code(body: str, code: str) -> None:
    assert code in [violation.code for violation in found_in(body)]


def test_all_violations_are_listed_with_their_place() -> None:
    found = found_in(
        "p = f32[2] parameter(0)\nq = f32[3] add(p, p)\nROOT r = f32[2] add(p, q)", regions=""
    )
    assert [(v.code, v.instruction) for v in found] == [("add-C5", "q"), ("add-C4", "r")]
    assert found[0].span is not None and (found[0].span.filename, found[0].span.line) == (
        "bad.hlo",
        5,
    )
    assert "f32[3]" in found[0].message and "f32[2]" in found[0].message
    assert found[0].to_json()["line"] == 5
    with pytest.raises(HloVerifyError, match="2 violations") as caught:
        verify(
            parse_hlo(
                "ENTRY e { p = f32[2] parameter(0)\nq = f32[3] add(p, p)\nROOT r = f32[2] add(p, q) }"
            )
        )
    assert len(caught.value.violations) == 2


def test_well_formed_module_passes() -> None:
    assert (
        found_in(
            "p = f32[4] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=sum"
        )
        == []
    )


def test_dot_may_state_its_accumulation_type() -> None:
    body = "p = s8[2,2] parameter(0)\nROOT r = s32[2,2] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    assert found_in(body) == []
    assert [v.code for v in found_in(body.replace("s32[2,2]", "s32[2,3]"))] == ["dot-C5"]


# -- graphs broken by hand -------------------------------------------------------------------------
def small() -> HloModule:
    module = HloModule("m")
    entry = module.add_computation("e", entry=True)
    p = entry.add_parameter(0, F32[4], "p")
    q = entry.add_parameter(1, F32[4], "q")
    entry.set_root(entry.add("add", None, (p, q), name="r"))
    return module


def codes(module: HloModule) -> set[str]:
    return {violation.code for violation in violations(module)}


def test_small_is_sound() -> None:
    verify(small())


def test_parameter_numbers() -> None:
    module = small()
    module.entry.set_payload(module.find("q"), 2)
    assert codes(module) == {"parameter-gap"}
    module.entry.set_payload(module.find("q"), 0)
    assert codes(module) == {"parameter-repeated"}
    module.entry.set_payload(module.find("q"), -1)
    assert "parameter-number" in codes(module)


def test_cycle() -> None:
    module = small()
    n = module.entry.add("negate", None, (module.find("r"),), name="n")
    module.entry.set_root(n)
    module.entry.replace_operand(module.find("r"), 0, n)
    found = violations(module)
    assert (
        [v.code for v in found] == ["cycle"]
        and "%n" in found[0].message
        and "%r" in found[0].message
    )


def test_out_of_order_is_no_cycle() -> None:
    module = small()
    n = module.entry.add("negate", None, (module.find("p"),), name="n")
    module.entry.replace_operand(module.find("r"), 0, n)
    verify(module)


def test_operand_of_another_computation() -> None:
    module = small()
    other = module.add_computation("o")
    other.set_root(other.add_parameter(0, F32[4], "x"))
    module.entry.replace_operand(module.find("r"), 0, module.find("x"))
    assert codes(module) == {"operand-elsewhere"}


def test_removed_operand() -> None:
    module = small()
    del module.entry.instructions[module.find("q").id]
    assert "operand-elsewhere" in codes(module)


@pytest.mark.parametrize("order", [(0, 0), (1, 2), (0,), (2, 1, 0)])
def test_layout_is_a_permutation(order: tuple[int, ...]) -> None:
    module = small()
    q = module.find("q")
    module.entry.set_shape(q, array_shape(F32, (4,), layout((0,))))
    verify(module)
    p = module.entry.add_parameter(2, array_shape(F32, (2, 3), layout(order)), "bad")
    assert [(v.code, v.instruction_id) for v in violations(module)] == [("parameter-C6", p.id)]
    module.entry.set_shape(p, tuple_shape((F32[2], array_shape(F32, (2, 3), layout(order)))))
    assert codes(module) == {"parameter-C6"}


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ({"input_output_alias": "{ {}: (0, {}, may-alias) }"}, set()),
        ({"input_output_alias": "{ {0}: (0, {}, may-alias) }"}, {"alias"}),
        ({"input_output_alias": "{ {}: (2, {}, may-alias) }"}, {"alias"}),
        ({"input_output_alias": "{ {}: (0, {}), {}: (1, {}) }"}, {"alias"}),
        ({"buffer_donor": "{ (1, {}) }"}, set()),
        ({"buffer_donor": "{ (1, {0}) }"}, {"donor"}),
        ({"input_output_alias": "{ {}: (0, {}) }", "buffer_donor": "{ (0, {}) }"}, {"donor"}),
        ({"entry_computation_layout": "{(f32[4]{0}, f32[4])->f32[4]}"}, set()),
        ({"entry_computation_layout": "{(f32[4]{0})->f32[4]}"}, {"entry-layout"}),
        ({"entry_computation_layout": "{(f32[4], f32[5])->f32[4]}"}, {"entry-layout"}),
        ({"entry_computation_layout": "{(f32[4], f32[4])->s32[4]}"}, {"entry-layout"}),
    ],
)
def test_header_goes_with_the_entry(header: dict[str, str], code: set[str]) -> None:
    module = small()
    module.attributes.update(header)
    assert codes(module) == code


def test_stale_users() -> None:
    module = small()
    module.find("q").users = ()
    assert codes(module) == {"users-stale"}


def test_repeated_names() -> None:
    module = small()
    module.find("q").name = "p"
    assert codes(module) == {"name-repeated"}


def test_root_and_entry() -> None:
    module = small()
    module.entry.root = None  # type: ignore[assignment]
    assert codes(module) == {"root-absent"}
    module = small()
    module.entry.root = small().find("r")
    assert codes(module) == {"root-elsewhere"}
    module = small()
    module.entry = small().entry
    assert "entry-elsewhere" in codes(module)
    module = HloModule("m")
    assert codes(module) == {"entry-absent"}


def test_schedule() -> None:
    module = small()
    p, q, r = (module.find(name) for name in "pqr")
    module.entry.set_schedule((p, q, r))
    verify(module)
    module.entry.set_schedule((p, r, q))
    assert codes(module) == {"schedule-order"}
    module.entry.set_schedule((p, r))
    assert codes(module) >= {"schedule-incomplete"}
    module.entry.set_schedule((p, p, q, r))
    assert codes(module) == {"schedule-repeats"}
    module.entry.set_schedule((p, q, r, small().find("p")))
    assert codes(module) == {"schedule-stranger"}


def test_recursion_and_strangers() -> None:
    module = small()
    other = module.add_computation("o")
    x = other.add_parameter(0, F32[4], "x")
    other.set_root(other.add("call", F32[4], (x,), called=(other,), name="again"))
    module.entry.set_root(
        module.entry.add("call", F32[4], (module.find("p"),), called=(other,), name="c")
    )
    assert codes(module) == {"recursion"}
    module.remove_computation(other)
    assert codes(module) == {"callee-elsewhere"}


def test_control_predecessors() -> None:
    module = small()
    module.entry.set_control_predecessors(module.find("p"), (module.find("r"),))
    assert codes(module) == {"cycle"}
    module.entry.set_control_predecessors(module.find("p"), (small().find("r"),))
    assert "control-predecessor-elsewhere" in codes(module)


def test_operand_count_and_attributes_and_calls() -> None:
    module = small()
    p = module.find("p")
    for name, code in (
        ("add", "add-C1"),
        ("transpose", "transpose-C4"),
        ("reduce-precision", "reduce-precision-C2"),
        ("call", "call-C3"),
    ):
        other = module.clone()
        i = other.entry.add(name, F32[4], (other.find("p"),))
        other.entry.set_root(i)
        assert codes(other) == {code}
    assert p.users


def test_literal_shape() -> None:
    module = small()
    c = module.entry.add("constant", S32[4], name="c")
    module.entry.set_root(c)
    assert codes(module) == {"constant-C7"}


def test_every_own_constraint_is_documented() -> None:
    for row in OPCODES.values():
        assert len(constraints_of(row)) >= 6
    assert constraints_of(opcode("while"))[6][0] == "while-C7"
