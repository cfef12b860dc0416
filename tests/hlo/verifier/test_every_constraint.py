"""Every numbered constraint of every opcode: a module that breaks it is refused under its code.

C1 to C6 are broken mechanically, starting from a well-formed module for each opcode; those of an
opcode's own row by a text each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.opcode_programs import module_with
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import F32, S32
from xla_explorer.hlo.shape import Shape, array_shape, parse_shape, tuple_shape
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import (
    MODULE_CONSTRAINTS,
    VerifierOptions,
    constraints_of,
    structure,
    violations,
)
from xla_explorer.hlo.verifier.constraints import STANDARD, reasons_against
from xla_explorer.hlo.verifier.layouts import option_checks

REGIONS = """
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
isum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
neg { a = f32[4] parameter(0)  ROOT c = f32[4] negate(a) }
three { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)  ROOT t = (f32[], f32[]) tuple(a, b) }
"""
P = "p = f32[4] parameter(0)\n"
Z = "z = f32[] constant(0)\n"
TWICE = "replica_groups={{0,0}}"
# code -> body of an entry that breaks it
OWN = {
    "constant-C7": "",  # a literal of another shape cannot be written; see the graph test below
    "convert-C7": "p = f32[2] parameter(0)\nROOT r = s32[3] convert(p)",
    "stochastic-convert-C7": P + "b = u8[4] parameter(1)\nROOT r = s8[4] stochastic-convert(p, b)",
    "stochastic-convert-C8": P + "b = u32[4] parameter(1)\nROOT r = s8[5] stochastic-convert(p, b)",
    "reduce-precision-C7": P
    + "ROOT r = f32[4] reduce-precision(p), exponent_bits=0, mantissa_bits=3",
    "iota-C7": "ROOT r = s32[4] iota(), iota_dimension=1",
    "broadcast-C7": P + "ROOT r = f32[5,3] broadcast(p), dimensions={0}",
    "reshape-C7": P + "ROOT r = f32[2,3] reshape(p)",
    "dynamic-reshape-C7": P + "n = s32[] parameter(1)\nROOT r = f32[<=5] dynamic-reshape(p, n)",
    "dynamic-reshape-C8": P + "n = f32[] parameter(1)\nROOT r = f32[<=4] dynamic-reshape(p, n)",
    "bitcast-C7": P + "ROOT r = f32[5] bitcast(p)",
    "bitcast-convert-C7": P + "ROOT r = s8[4,2] bitcast-convert(p)",
    "scatter-C7": P
    + "i = s32[2,1] parameter(1)\nu = f32[2] parameter(2)\nROOT r = f32[4] scatter(p, i, u), update_window_dims={}, "
    "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=less",
    "scaled-dot-C7": "a = f32[2,8] parameter(0)\nb = f32[8,2] parameter(1)\ns = f32[2,4] parameter(2)\nt = f32[2,2] parameter(3)\n"
    "ROOT r = (f32[2,2]) scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "scaled-dot-C8": "a = f32[2,8] parameter(0)\nb = f32[8,2] parameter(1)\ns = f32[2,3] parameter(2)\nt = f32[2,2] parameter(3)\n"
    "ROOT r = f32[2,2] scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "reduce-C7": P + Z + "ROOT r = s32[] reduce(p, z), dimensions={0}, to_apply=isum",
    "reduce-window-C7": P
    + Z
    + "ROOT r = f32[3] reduce-window(p, z), window={size=2}, to_apply=isum",
    "select-and-scatter-C7": P + Z + "s = f32[2] parameter(1)\n"
    "ROOT r = f32[4] select-and-scatter(p, s, z), window={size=2 stride=2}, select=sum, scatter=sum",
    "map-C7": "p = s32[4] parameter(0)\nROOT r = f32[4] map(p, p), dimensions={0}, to_apply=sum",
    "scan-C7": P
    + Z
    + "ROOT r = (f32[4], f32[]) scan(p, z), dimensions={0}, num_carries=1, to_apply=three",
    "sort-C7": P + "ROOT r = f32[4] sort(p), dimensions={0}, to_apply=sum",
    "while-C7": P + "ROOT r = f32[4] while(p), condition=neg, body=neg",
    "conditional-C7": "i = s32[] parameter(0)\np = f32[5] parameter(1)\nROOT r = f32[4] conditional(i, p), branch_computations={neg}",
    "call-C7": "p = f32[5] parameter(0)\nROOT r = f32[4] call(p), to_apply=neg",
    "call-C8": P + "ROOT r = f32[4] call(p), to_apply=neg, is_composite=true",
    "fusion-C7": "p = f32[5] parameter(0)\nROOT r = f32[4] fusion(p), kind=kLoop, calls=neg",
    "async-start-C7": "p = f32[5] parameter(0)\ns = ((f32[5]), f32[4], s32[]) async-start(p), calls=neg\nROOT r = f32[4] async-done(s)",
    "all-gather-C7": P + f"ROOT r = f32[8] all-gather(p), {TWICE}, dimensions={{0}}",
    "all-gather-C8": P + "ROOT r = f32[9] all-gather(p), replica_groups={{0,1}}, dimensions={0}",
    "all-gather-start-C7": P
    + f"s = (f32[4], f32[8]) all-gather-start(p), {TWICE}, dimensions={{0}}\nROOT r = f32[8] all-gather-done(s)",
    "all-gather-start-C8": P
    + "s = (f32[4], f32[9]) all-gather-start(p), replica_groups={{0,1}}, dimensions={0}\n"
    "ROOT r = f32[9] all-gather-done(s)",
    "all-reduce-C7": P + f"ROOT r = f32[4] all-reduce(p), {TWICE}, to_apply=sum",
    "all-reduce-C8": P + "ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=neg",
    "all-reduce-start-C7": P
    + f"s = f32[4] all-reduce-start(p), {TWICE}, to_apply=sum\nROOT r = f32[4] all-reduce-done(s)",
    "all-reduce-start-C8": P
    + "s = f32[4] all-reduce-start(p), replica_groups={}, to_apply=neg\nROOT r = f32[4] all-reduce-done(s)",
    "reduce-scatter-C7": P
    + f"ROOT r = f32[2] reduce-scatter(p), {TWICE}, dimensions={{0}}, to_apply=sum",
    "reduce-scatter-C8": P
    + "ROOT r = f32[3] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=sum",
    "reduce-scatter-C9": P
    + "ROOT r = f32[2] reduce-scatter(p), replica_groups={{0,1}}, dimensions={0}, to_apply=neg",
    "all-to-all-C7": P + f"ROOT r = f32[4] all-to-all(p), {TWICE}, dimensions={{0}}",
    "all-to-all-C8": P + "ROOT r = (f32[4]) all-to-all(p), replica_groups={{0,1}}",
    "ragged-all-to-all-C7": P + "o = f32[4] parameter(1)\ni = s32[2] parameter(2)\n"
    f"ROOT r = f32[4] ragged-all-to-all(p, o, i, i, i, i), {TWICE}",
    "collective-permute-C7": P
    + "ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{0,2}}",
    "collective-permute-start-C7": P
    + "s = (f32[4], f32[4], u32[], u32[]) collective-permute-start(p), "
    "source_target_pairs={{0,1},{2,1}}\nROOT r = f32[4] collective-permute-done(s)",
    "collective-permute-start-C8": P
    + "ROOT s = (f32[4]) collective-permute-start(p), source_target_pairs={{0,1}}",
    "collective-broadcast-C7": P + f"ROOT r = f32[4] collective-broadcast(p), {TWICE}",
    "collective-reduce-C7": P + f"ROOT r = f32[4] collective-reduce(p), {TWICE}, to_apply=sum",
    "collective-reduce-C8": P
    + "ROOT r = f32[4] collective-reduce(p), replica_groups={}, to_apply=neg",
    "send-done-C7": P
    + "t = token[] after-all()\ns = (f32[4], u32[], token[]) send(p, t), channel_id=1\n"
    "d = token[] send-done(s), channel_id=2\nROOT r = f32[4] negate(p)",
    "recv-done-C7": "t = token[] after-all()\ns = (f32[4], u32[], token[]) recv(t), channel_id=1\n"
    "ROOT d = (f32[4], token[]) recv-done(s)",
    "infeed-C7": P + "ROOT r = (f32[4], token[]) infeed(p)",
    "outfeed-C7": P + "ROOT r = token[] outfeed(p, p)",
    "recv-C7": P + "ROOT r = (f32[4], u32[], token[]) recv(p), channel_id=1",
    "rng-C7": "p = f32[] parameter(0)\nROOT r = s32[4] rng(p, p), distribution=rng_uniform",
    "rng-bit-generator-C7": "s = u64[2] parameter(0)\nROOT r = (u64[3], u32[4]) rng-bit-generator(s), algorithm=rng_philox",
    "rng-get-and-update-state-C7": "ROOT r = u64[3] rng-get-and-update-state(), delta=1",
}


def test_each_own_constraint_has_a_module_that_breaks_it() -> None:
    own = {code for row in OPCODES.values() for code, _ in constraints_of(row)[len(STANDARD) :]}
    assert own == set(OWN)


@pytest.fixture(autouse=True)
def modules_that_no_text_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the parser's operand checks, to verify modules that it refuses.

    It refuses them as XLA's does; builders and passes can make them.

    Builders and passes can make them, so that the verifier must check.
    """
    monkeypatch.setattr("xla_explorer.hlo.text.operand_checks.CHECKS", {})


@pytest.mark.parametrize(
    ("operands", "result", "step"),
    [("q, z", "(f32[])", "sum"), ("p, q", "(s32[4])", "sum"), ("p, z", "(f32[4], f32[])", "mixed")],
)
def test_a_scan_hands_its_step_what_the_step_takes(operands: str, result: str, step: str) -> None:
    mixed = "mixed { a = f32[] parameter(0)  b = f32[] parameter(1)  n = s32[] constant(1)  ROOT t = (f32[], s32[]) tuple(a, n) }"
    body = f"{P}{Z}q = s32[4] parameter(1)\nROOT r = {result} scan({operands}), dimensions={{0}}, num_carries=1, to_apply={step}"
    assert "scan-C7" in {
        v.code
        for v in violations(parse_hlo(f"HloModule m\n{REGIONS}\n{mixed}\nENTRY e {{\n{body}\n}}\n"))
    }


@pytest.mark.parametrize("code", [code for code, body in OWN.items() if body])
def test_own_constraint(code: str) -> None:
    found = violations(parse_hlo(f"HloModule m\n{REGIONS}\nENTRY e {{\n{OWN[code]}\n}}\n"))
    assert code in {violation.code for violation in found}, found


def test_a_literal_of_another_shape() -> None:
    module = module_with("constant")
    module.entry.root.shape = F32[3]
    assert [violation.code for violation in violations(module)] == ["constant-C7"]


# -- what every opcode has -------------------------------------------------------------------------
def instruction_of(name: str) -> HloInstruction:
    return [i for i in module_with(name).instructions() if i.opcode.name == name][-1]


def codes_against(i: HloInstruction) -> list[str]:
    return [code for code, _ in reasons_against(i)]


@pytest.mark.parametrize("name", [name for name, row in OPCODES.items() if row.arity is not None])
def test_c1_operand_count(name: str) -> None:
    i = instruction_of(name)
    assert codes_against(i) == []
    extra = i.operands[0] if i.operands else i
    i.operands = (*i.operands, extra)
    assert codes_against(i) == [f"{name}-C1"]


def _default(attribute: str) -> object:
    try:
        return NO_ATTRIBUTES.value(attribute)
    except KeyError:
        return None


@pytest.mark.parametrize("name", [name for name, row in OPCODES.items() if row.required])
def test_c2_required_attributes(name: str) -> None:
    i = instruction_of(name)
    i.attributes = NO_ATTRIBUTES
    found = set(codes_against(i))
    if any(_default(a) is None for a in i.opcode.required):
        assert f"{name}-C2" in found
    elif (
        name != "reverse"
    ):  # an absent list means an empty one: the shapes are wrong, but nothing may be reversed
        assert found & {f"{name}-C{k}" for k in (4, 5, 7, 8)}


@pytest.mark.parametrize("name", [name for name in OPCODES if name != "custom-call"])
def test_c3_called_computations(name: str) -> None:
    i = instruction_of(name)
    i.called = () if i.called else (i.parent,)
    if i.opcode.name == "conditional" or i.opcode.called or i.called:
        assert f"{name}-C3" in codes_against(i)


def _broken_operands(i: HloInstruction) -> list[Callable[[Shape], Shape]]:
    return [
        lambda shape: tuple_shape((shape, shape)),
        lambda shape: parse_shape("token[]"),
        lambda shape: array_shape(S32, (3, 5, 7)),
        lambda shape: array_shape(F32, (11,)),
    ]


# Anything goes into a tuple, a copy, a barrier; what takes no operand cannot have a wrong one.
TAKES_ANYTHING = frozenset(
    {"tuple", "opt-barrier", "domain", "copy", "copy-start", "send", "replica-id", "partition-id"}
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, row in OPCODES.items()
        if row.shape_rule is not None and name not in TAKES_ANYTHING
    ],
)
def test_c4_operands_fit(name: str) -> None:
    codes: set[str] = set()
    for number in range(len(instruction_of(name).operands)):
        for change in _broken_operands(instruction_of(name)):
            i = instruction_of(name)
            i.operands[number].shape = change(i.operands[number].shape)
            for code, message in reasons_against(i):
                codes.add(code)
                if code == f"{name}-C4" and len(i.operands) > 1:
                    assert i.operands[number].shape.text_without_layout in message, message
    # Callees and outfeeds report it under a number of their own.
    assert codes & {f"{name}-C{k}" for k in (4, 5, 7)}, codes


@pytest.mark.parametrize(
    "name", [name for name, row in OPCODES.items() if row.shape_rule is not None]
)
def test_c5_stated_shape(name: str) -> None:
    i = instruction_of(name)
    i.shape = (
        array_shape(F32, (2, 3, 5, 7, 11))
        if not i.shape.is_tuple
        else tuple_shape((F32[2, 3, 5, 7, 11],))
    )
    assert f"{name}-C5" in codes_against(i)


@pytest.mark.parametrize("name", OPCODES)
def test_c6_layouts(name: str) -> None:
    i = instruction_of(name)
    wrong = F32[4, 6].with_layout(layout((0, 0)))
    i.shape = tuple_shape((wrong, wrong)) if i.shape.is_tuple else wrong
    assert f"{name}-C6" in codes_against(i)


# -- what sees more than one instruction -----------------------------------------------------------
def test_each_module_constraint_is_listed_and_tested() -> None:
    """Every code of the checks is in the catalogue, and a test of this folder expects it."""
    rooms = Path(structure.__file__).parent.glob("*.py")
    checks = [
        path.read_text()
        for path in rooms
        if path.name not in ("module_constraints.py", "constraints.py")
    ]
    given = {
        code
        for text in checks
        for code in re.findall(r'(?:yield|return|append\()[\s(]*"([a-z]+(?:-[a-z]+)*)", f?"', text)
    }
    given |= {
        code for text in checks for code in re.findall(r'[\s(]+"([a-z]+(?:-[a-z]+)+)",\s+f"', text)
    }
    assert given - {code for code, _ in option_checks(STRICTEST)} - REASONS <= set(
        MODULE_CONSTRAINTS
    )
    tests = "".join([path.read_text() for path in Path(__file__).parent.glob("test_*.py")])
    assert [code for code in MODULE_CONSTRAINTS if f'"{code}"' not in tests] == []


# Words of reasons inside checks of one instruction, which have codes of their own.
REASONS = {"unbounded", "dimensions-unordered", "memory-space", "element-size", "mixed-precision"}
STRICTEST = VerifierOptions(
    layout_sensitive=True, allow_unbounded_dynamism=False, ordered_broadcast_dimensions=True
)


def codes_of(module: HloModule) -> set[str]:
    return {violation.code for violation in violations(module)}


def test_the_entry_is_not_called() -> None:
    callee = "f { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }\n"
    module = parse_hlo(
        callee + "ENTRY e { p = f32[4] parameter(0)  ROOT c = f32[4] call(p), to_apply=f }"
    )
    assert codes_of(module) == set()
    module.entry = module.entry.root.called[0]
    assert codes_of(module) == {"entry-called"}


def test_global_ids_come_with_a_channel() -> None:
    body = "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum"
    found = codes_of(parse_hlo(f"HloModule m\n{REGIONS}\nENTRY e {{\n{P}{body}\n}}\n"))
    assert found == {"global-ids-without-channel"}


def test_an_instruction_stands_where_it_says() -> None:
    module = parse_hlo("ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }")
    other = parse_hlo("ENTRY e { ROOT p = f32[4] parameter(0) }")
    module.entry.root.parent = other.entry
    assert "parent-stale" in codes_of(module)
