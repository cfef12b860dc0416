"""The rows themselves: complete, consistent, and with the traits that passes rely on."""

from __future__ import annotations

import pickle

import pytest

from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.opcodes import FUSION, OPCODES, Family, OpcodeSpec, opcode
from xla_explorer.hlo.verifier import constraints_of

ROWS = list(OPCODES.values())


def names(test: str) -> set[str]:
    return {row.name for row in ROWS if getattr(row, test)}


def test_every_opcode_of_xla_has_a_row() -> None:
    # 133 in jaxlib 0.10.2, and two of newer XLA only.
    assert len(ROWS) == 135
    for name in (
        "scan",
        "topk",
        "ragged-dot",
        "scaled-dot",
        "mulhi",
        "async-update",
        "ragged-all-to-all",
        "opt-barrier",
    ):
        assert name in OPCODES


def test_every_family_has_rows() -> None:
    assert {row.family for row in ROWS} == set(Family)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_consistent(row: OpcodeSpec) -> None:
    assert row.summary.endswith(".") and row.source
    assert set(row.required) <= set(row.attributes) <= set(CODECS)
    assert len(set(row.attributes)) == len(row.attributes)
    assert not (row.commutative and row.arity != 2)
    assert not (row.infers_in_text and row.shape_rule is None)
    assert ROWS[row.number] is row
    assert pickle.loads(pickle.dumps(row)) is row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_constraints_are_numbered_and_say_what_they_want(row: OpcodeSpec) -> None:
    listed = constraints_of(row)
    assert [code for code, _ in listed] == [f"{row.name}-C{k}" for k in range(1, len(listed) + 1)]
    assert all(sentence.endswith(".") or sentence.endswith(")") for _, sentence in listed)


def test_commutative_opcodes() -> None:
    assert names("commutative") == {
        "add",
        "multiply",
        "maximum",
        "minimum",
        "and",
        "or",
        "xor",
        "mulhi",
    }


def test_elementwise_opcodes() -> None:
    elementwise = names("elementwise")
    assert {
        "add",
        "select",
        "clamp",
        "convert",
        "compare",
        "complex",
        "map",
        "exponential",
        "reduce-precision",
    } <= elementwise
    assert (
        not {"copy", "broadcast", "iota", "reverse", "bitcast-convert", "tuple", "reduce"}
        & elementwise
    )


def test_expensive_opcodes_follow_instruction_fusion() -> None:
    expensive = names("expensive")
    assert {
        "divide",
        "remainder",
        "power",
        "exponential",
        "log",
        "tanh",
        "gather",
        "reduce",
        "dot",
        "sort",
        "while",
    } <= expensive
    assert (
        not {
            "add",
            "multiply",
            "sine",
            "cosine",
            "convert",
            "broadcast",
            "slice",
            "transpose",
            "pad",
            "tuple",
        }
        & expensive
    )


def test_side_effects() -> None:
    effects = names("side_effect")
    assert {"send", "recv", "infeed", "outfeed", "rng", "all-reduce-start"} <= effects
    assert not {"add", "rng-bit-generator", "all-reduce", "custom-call", "after-all"} & effects


def test_what_text_may_leave_out() -> None:
    stated = {row.name for row in ROWS if not row.infers_in_text}
    for name in (
        "reshape",
        "convert",
        "bitcast",
        "constant",
        "slice",
        "dynamic-slice",
        "fusion",
        "all-reduce",
        "copy-start",
        "rng",
    ):
        assert name in stated
    for name in (
        "add",
        "dot",
        "reduce",
        "gather",
        "while",
        "tuple",
        "transpose",
        "select",
        "sort",
        "convolution",
    ):
        assert name not in stated


def test_unknown_opcode_names_its_neighbours() -> None:
    with pytest.raises(KeyError, match="exponential"):
        opcode("exponental")
    assert opcode("fusion") is FUSION
