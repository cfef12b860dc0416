"""A beginner's word gets the right opcode as the first suggestion at every unknown name."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.shape import array_shape

WORDS = {
    "mul": "multiply", "sub": "subtract", "div": "divide", "exp": "exponential", "matmul": "dot", "sum": "reduce", "where": "select",
    "conv": "convolution", "rem": "remainder", "mod": "remainder", "cos": "cosine", "sin": "sine", "shl": "shift-left", "neg": "negate",
    "max": "maximum", "min": "minimum", "concat": "concatenate", "cast": "convert", "astype": "convert", "pow": "power", "round": "round-nearest-even",
    "sigmoid": "logistic", "take": "gather", "einsum": "dot", "clip": "clamp", "cond": "conditional", "permute": "transpose", "flip": "reverse",
    "arange": "iota", "log1p": "log-plus-one", "expm1": "exponential-minus-one", "fmul": "multiply", "addf": "add", "icmp": "compare",
    "psum": "all-reduce", "maxpool": "reduce-window", "clz": "count-leading-zeros", "logical_not": "not", "bitwise_or": "or", "fori_loop": "while",
    "multply": "multiply", "tranpose": "transpose", "stack": "concatenate", "isfinite": "is-finite", "popcount": "popcnt", "ashr": "shift-right-arithmetic",
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_beginners_word_in_hlo_text(word: str) -> None:
    assert nearest(word, OPCODES)[0] == WORDS[word]
    with pytest.raises(xe.XlaExplorerError) as refused:
        xe.parse_hlo(f"ENTRY e {{\n a = f32[4] parameter(0)\n ROOT r = f32[4] {word}(a, a)\n}}")
    assert f"did you mean {WORDS[word]}" in str(refused.value)


def test_every_synonym_is_of_an_opcode_and_none_is_an_opcode_itself() -> None:
    from xla_explorer.foundation import suggestions

    assert set(suggestions._ELSEWHERE) <= set(OPCODES)
    assert not set(suggestions._SYNONYMS) & set(OPCODES)
    words = [word for words in suggestions._ELSEWHERE.values() for word in words.split()]
    assert len(words) == len(set(words)), "one word means two opcodes"


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("mul", "multiply"),
        ("logical_and", "and_"),
        ("expp", "exp"),
        ("ppermute", "collective_permute"),
    ],
)
def test_the_builder_and_its_values_suggest_their_own_spelling(word: str, first: str) -> None:
    b = HloBuilder("m")
    with pytest.raises(AttributeError, match=rf"near: {first}\b"):
        getattr(b, word)
    value = b.parameter(array_shape("f32", (4,)), "p")
    with pytest.raises(AttributeError, match=rf"near: {first}\b"):
        getattr(value, word)


def test_names_are_spelt_as_they_stand_in_the_table_and_unknown_words_get_nothing() -> None:
    assert nearest("Matmul", ["multiply", "dot_general", "dot"]) == ["dot"]
    assert nearest("arith.mulf", ["multiply"]) == ["multiply"]
    assert nearest("qqq", ["multiply", "dot"]) == []
