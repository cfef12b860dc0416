"""Files of public reports in the forms of other compilers, and of their kinds."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import flatten_value

CASES = Path(__file__).parents[1] / "data" / "hunt"
WITH_VALUES = (
    "22_dynamic_stack.hlo", "40_crossing_alias.hlo", "52b_mhlo_constant_with_parens.mlir", "53_arith_constant_generic.mlir",
    "54_dynamic_generic.mlir", "58_several_functions.mlir", "60b_splat_over_4_gib.mlir", "64_sdy_constant.mlir", "73_topk_gpu_call.hlo",
)  # fmt: skip
OPEN_SIZES = ("54_dynamic_generic.mlir",)


def stated(name: str) -> tuple[list[Any], list[Any]]:
    """Return the arguments and the right value in the head of a file."""
    text = (CASES / name).read_text()
    arguments = re.search(r"ARGS: (.*)", text)
    expected = re.search(r"EXPECT: (.*)", text)
    assert arguments is not None and expected is not None
    values = eval(expected.group(1), {"np": np})
    return list(eval(arguments.group(1), {"np": np})), list(values) if isinstance(
        values, tuple
    ) else [values]


@pytest.mark.parametrize("name", WITH_VALUES)
@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_a_reported_file_has_the_right_value(name: str, backend: str) -> None:
    arguments, expected = stated(name)
    module = xe.load(CASES / name, shapes=arguments if name in OPEN_SIZES else None)
    got = (
        xe.compile(module, backend=backend).run_flat(flatten_value(tuple(arguments)))
        if backend == "cpu"
        else flatten_value(xe.evaluate(module, *arguments))
    )
    assert len(got) == len(expected)
    for have, want in zip(got, expected, strict=True):
        np.testing.assert_allclose(np.asarray(have, want.dtype), want, rtol=1e-6)


def test_elided_weights_are_filled_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="leaves out the values of 1 constant"):
        session = xe.compile(xe.load(CASES / "59_elided_weights.mlir"))
    assert session.module.entry.root is not None


BODY = "(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.OP %a, %a : tensor<4xf32>\n return %0 : tensor<4xf32> }\n"
SEVERAL = (
    "module {\n" + "".join(f"func.func {kind}@{name}{BODY.replace('OP', op)}" for kind, name, op in (
        ("", "t1", "add"), ("", "t2", "multiply"), ("private ", "h", "subtract"))) + "}\n"
)  # fmt: skip


@pytest.mark.parametrize(("name", "want"), [("t1", 6), ("@t2", 9), ("h", 0), ("@h", 0)])
def test_a_function_is_chosen_by_name(tmp_path: Path, name: str, want: float) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(SEVERAL)
    for module in (xe.load(path, function=name), xe.parse_stablehlo(SEVERAL, function=name)):
        assert np.asarray(xe.evaluate(module, np.full(4, 3, np.float32))).tolist() == [want] * 4


def test_choices_that_cannot_be_made_name_the_functions(tmp_path: Path) -> None:
    path, hlo = tmp_path / "m.mlir", tmp_path / "m.hlo"
    path.write_text(SEVERAL)
    hlo.write_text("ENTRY e { ROOT p = f32[4] parameter(0) }")
    with pytest.raises(xe.XlaExplorerError, match=r"no function @t9[\s\S]*@t1"):
        xe.load(path, function="t9")
    with pytest.raises(
        xe.XlaExplorerError,
        match=r"several functions could run first: @t1, @t2[\s\S]*function='t1'",
    ):
        xe.load(path)
    with pytest.raises(
        xe.XlaExplorerError, match="HLO text has one entry: `function` must be left out, got 'e'"
    ):
        xe.load(hlo, function="e")


@pytest.mark.parametrize("dialect", ["stablehlo", "mhlo"])
@pytest.mark.parametrize("form", [
    "NAME() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>", '"NAME"() <{value = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>',
    '"NAME"() {value = dense<2.0> : tensor<4xf32>} : () -> tensor<4xf32>', "NAME dense<2.0> : tensor<4xf32>", "NAME {a = 1 : i32} dense<2.0> : tensor<4xf32>",
])  # fmt: skip
def test_every_form_of_a_constant(dialect: str, form: str) -> None:
    for name in (f"{dialect}.constant", "arith.constant", "sdy.constant"):
        text = f"func.func @main() -> tensor<4xf32> {{ %c = {form.replace('NAME', name)}\n return %c : tensor<4xf32> }}"
        assert np.asarray(xe.evaluate(xe.parse_stablehlo(text))).tolist() == [2] * 4


REFUSED = {
    "index": ("func.func @main() -> tensor<i32> { %c0 = arith.constant 0 : index\n return %c0 : index }", "constant 0 : index is a scalar"),
    "index, generic": ('func.func @main() -> tensor<i32> { %c = "arith.constant"() <{value = 0 : index}> : () -> index\n return %c : index }', "constant 0 is a scalar"),
    "two modules": ("module @first { }\nmodule @second { }", "holds 2 modules: @first, @second"),
    "affine": ("#set = affine_set<(d0) : (d0 - 1 >= 0)>\n#map = affine_map<(d0) -> (d0)>\nmodule { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {"
               " %0 = linalg.generic %a : tensor<4xf32>\n return %0 : tensor<4xf32> } }", "the dialect linalg is not StableHLO"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str) -> None:
    text, said = REFUSED[name]
    with pytest.raises(xe.XlaExplorerError, match=said):
        xe.parse_stablehlo(text)


@pytest.mark.jax
@pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra `jax`")
def test_what_jaxlib_reads_is_handed_to_it(tmp_path: Path) -> None:
    path = tmp_path / "fused.mlir"
    path.write_text("""module { func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mhlo.fusion"(%a, %b) ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %1 = mhlo.add %x, %y : tensor<4xf32>
    "mhlo.return"(%1) : (tensor<4xf32>) -> ()
  }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32> } }""")
    a = np.arange(4, dtype=np.float32)
    assert np.asarray(xe.compile(xe.load(path))(a, a)).tolist() == (2 * a).tolist()


@pytest.mark.parametrize("rest", ["", ", metadata={}"])
@pytest.mark.parametrize(("call", "said"), [
    ('custom-call(x), custom_call_target="a", api_version=API_VERSION_UNSPECIFIED', "API_VERSION_TYPED_FFI) but sees: API_VERSION_UNSPECIFIED"),
    ('custom-call(x), custom_call_target="a", schedule=LATER', "SCHEDULE_EARLIEST) but sees: LATER"),
    ("compare(x, x), direction=XX", "GE) but sees: XX"),
])  # fmt: skip
def test_a_word_that_no_attribute_takes_is_named_wherever_it_stands(
    call: str, said: str, rest: str
) -> None:
    with pytest.raises(xe.XlaExplorerError, match=re.escape(said)):
        xe.parse_hlo(f"ENTRY e {{ x = f32[4] parameter(0)\n ROOT r = f32[4] {call}{rest} }}")


PAYLOAD = """HloModule m
ENTRY e { x = f32[4] parameter(0)
 ROOT r = f32[4] negate(x), metadata={op_name="a" metadata_payload="p\\n\\"q" source_line=3} }"""


def test_the_payload_of_metadata_is_kept() -> None:
    assert (
        r'metadata={op_name="a" source_line=3 metadata_payload="p\n\"q"}'
        in xe.parse_hlo(PAYLOAD).to_text()
    )


@pytest.mark.jax
def test_the_payload_of_metadata_is_read_from_a_proto() -> None:
    jaxlib = pytest.importorskip("jaxlib._jax", reason="needs the extra `jax`")
    parse = (
        getattr(jaxlib, "hlo_module_from_text", None)
        or pytest.importorskip("jaxlib._hlo").hlo_module_from_text
    )
    proto = parse(PAYLOAD).as_serialized_hlo_module_proto()
    assert (
        r'metadata_payload="p\n\"q"'
        in xe.compile(proto, passes="none", backend="interpreter").module.to_text()
    )
