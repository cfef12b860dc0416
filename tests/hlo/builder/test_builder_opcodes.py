"""A method for every opcode: each one builds a module that verifies and survives its text."""

from __future__ import annotations

import inspect

import pytest

from tests.support.opcode_programs import WITH_PARTNER, A, Program, module_with
from xla_explorer.hlo.builder import HloBuilder, HloBuilderError, method_name
from xla_explorer.hlo.builder.examples import EXAMPLES
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify


@pytest.mark.parametrize("name", [name for name in OPCODES if name not in WITH_PARTNER])
def test_every_opcode_has_a_method_that_builds_it(name: str) -> None:
    module = module_with(name)
    text = module.to_text()
    assert name in {i.opcode.name for i in module.instructions()}
    again = parse_hlo(text)
    verify(again)
    assert again.to_text() == text


@pytest.mark.parametrize("name", OPCODES)
def test_every_method_has_help(name: str) -> None:
    method = getattr(HloBuilder, method_name(name))
    assert method.__doc__


def test_generated_signature_names_the_attributes() -> None:
    assert "dynamic_slice_sizes" in str(inspect.signature(HloBuilder.dynamic_slice))
    assert "shape" in str(inspect.signature(HloBuilder.custom_call))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda b, x: b.sort(x, dimension=0), "sort needs to_apply="),
        (lambda b, x: b.slice(x, starts=0), "slice has no attribute starts"),
        (lambda b, x: b.custom_call(x, target="foo"), "give shape="),
        (lambda b, x: b.transpose(x, dimensions=(0, 0)), "must be a permutation"),
        (lambda b, x: b.pad(x, 0, padding="nonsense"), "low_high"),
        (lambda b, x: b.fft(x, fft_type="FFT", fft_length=6), "complex"),
        (lambda b, x: b.broadcast(x, (4, 7), (0, 1)), "6 vs 7"),
        (lambda b, x: b.reshape(x, 5, 5), "element counts differ"),
        (
            lambda b, x: b.while_(x, condition=lambda v: v < 9, body=lambda v: v),
            r"it must return pred\[\]",
        ),
        (lambda b, x: b.convolution(x, x, window={"stride": 2}, dim_labels="bf_io->bf"), "size="),
        (lambda b, x: b.convert(x, "f99"), "expected an element type"),
    ],
)
def test_refusals_say_what_to_write(program: Program, message: str) -> None:
    builder = HloBuilder("m")
    x = builder.parameter(A)
    before = len(builder.computation.instructions)
    with pytest.raises(HloBuilderError, match=message):
        program(builder, x)
    assert all(
        i.opcode.name in ("parameter", "constant")
        for i in builder.computation.instructions.values()
    ), before


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_in_the_help_builds_the_opcode(name: str) -> None:
    b = HloBuilder("m")
    shapes = {"x": "f32[4,6]", "y": "f32[6,2]", "i": "s32[]", "rows": "s32[5,1]", "picked": "f32[5,6]", "image": "f32[1,8,8,3]",
              "kernel": "f32[3,3,3,5]", "square": "f32[3,3]", "state": "u64[2]"}  # fmt: skip
    values = {key: b.parameter(shape, key) for key, shape in shapes.items()}
    made = eval(EXAMPLES[name], {"b": b, **values})
    module = b.build(made)
    assert name in {i.opcode.name for i in module.instructions()}
    assert EXAMPLES[name] in (getattr(HloBuilder, method_name(name)).__doc__ or "")


def _public(holder: object) -> list[str]:
    return [
        name for name in dir(holder) if not name.startswith("_") and callable(getattr(holder, name))
    ]


def test_every_method_of_a_value_has_a_signature_and_help() -> None:
    x = HloBuilder("m").parameter(F32[4, 4])
    for name in _public(x):
        method = getattr(x, name)
        assert method.__doc__ and method.__name__, name
        assert not {"attributes", "others", "options"} & set(
            inspect.signature(method).parameters
        ), name


def test_methods_of_values_have_their_help_on_the_builder_too() -> None:
    b = HloBuilder("m")
    assert list(inspect.signature(b.clip).parameters) == ["value", "low", "high"]
    assert "Clamp between two bounds" in (b.clip.__doc__ or "")


def test_an_array_offers_nothing_that_takes_no_array() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4])
    offered = set(dir(x))
    assert not offered & {
        "recv",
        "recv_done",
        "send_done",
        "infeed",
        "domain",
        "async_done",
        "async_update",
        "copy_done",
        "all_reduce_done",
        "get_tuple_element",
    }
    assert {
        "send",
        "outfeed",
        "all_reduce_start",
        "copy_start",
        "scatter",
        "gather",
        "while_",
    } <= offered
    assert "get_tuple_element" in dir(b.tuple(x, x)) and "infeed" in dir(b.after_all())
