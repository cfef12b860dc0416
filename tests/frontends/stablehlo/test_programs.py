"""Whole programs: modules, functions, aliases, locations, headers, resources, files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.stablehlo import StablehloError

LOCATED = """#loc1 = loc("x")
#map = affine_map<(d0) -> (d0)>
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<4xf32> loc(unknown)) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32> loc(#loc)
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32> loc(#loc5)
    %1 = stablehlo.multiply %arg0, %0 : tensor<4xf32> loc(#loc5)
    %2 = stablehlo.add %1, %arg1 : tensor<4xf32> loc(fused["sum", "model.py":9:1])
    %3 = stablehlo.tanh %2 : tensor<4xf32> loc("plain.py":12:3)
    return %3 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("model.py":7:11 to :24)
#loc3 = loc("layer"(#loc2))
#loc4 = loc(callsite(#loc3 at "main.py":3:1))
#loc5 = loc("jit(f)/layer/mul"(#loc4))
"""


def test_locations_become_metadata_and_lines() -> None:
    module = xe.parse_stablehlo(LOCATED, "f.mlir")
    assert module.name == "jit_f" and module.filename == "f.mlir"
    by_opcode = {i.opcode.name: i for i in module.instructions()}
    said = {name: i.op_metadata for name, i in by_opcode.items()}
    assert (
        said["multiply"].op_name,
        said["multiply"].source_file,
        said["multiply"].source_line,
    ) == ("jit(f)/layer/mul", "model.py", 7)
    assert (said["add"].op_name, said["add"].source_line) == ("sum", 9)
    assert (said["tanh"].source_file, said["tanh"].source_line) == ("plain.py", 12)
    assert said["constant"].source_line == 7, "a constant takes the place of who reads it"
    assert by_opcode["multiply"].line == 7 and by_opcode["tanh"].line == 9
    assert [p.name for p in module.entry.parameters()] == ["x", "arg1"]


def test_without_locations_nothing_is_said() -> None:
    module = xe.parse_stablehlo(
        "func.func @main(%value: tensor<f32>) -> tensor<f32> { return %value : tensor<f32> }"
    )
    assert module.entry.parameters()[0].name == "value" and all(
        i.metadata is None for i in module.instructions()
    )


def test_arguments_results_and_header() -> None:
    text = """module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.frontend_attributes = {who = "me"}} {
  func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}", tf.aliasing_output = 1 : i32}, %arg1: tensor<4xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default"})
      -> (tensor<4xf32> {jax.result_info = "a", mhlo.sharding = "{replicated}"}, tensor<4xf32> {jax.result_info = "b"}) {
    %0 = stablehlo.add %arg0, %arg1 {mhlo.sharding = "{replicated}", mhlo.frontend_attributes = {note = "say \\22hello\\22"}} : tensor<4xf32>
    return %arg1, %0 : tensor<4xf32>, tensor<4xf32>
  }
}"""
    module = xe.parse_stablehlo(text)
    printed = module.to_text()
    assert (
        "input_output_alias={ {1}: (0, {}, may-alias) }" in printed
        and "buffer_donor={ (1, {}) }" in printed
    )
    assert 'frontend_attributes={who="me"}' in printed and "num_partitions=2" in printed
    assert "parameter(0), sharding={devices=[2]<=[2]}" in printed
    assert "ROOT" in printed and "sharding={{replicated}, {replicated}}" in printed
    add = next(i for i in module.instructions() if i.opcode.name == "add")
    assert (
        add.attributes["sharding"] == "{replicated}"
        and add.attributes["frontend_attributes"] == r'{note="say \"hello\""}'
    )
    assert xe.parse_hlo(printed).to_text() == printed


def test_a_module_in_the_generic_form_and_functions_without_a_module() -> None:
    generic = """"builtin.module"() <{sym_name = "g"}> ({
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main", sym_visibility = "public", arg_attrs = [{mhlo.sharding = "{replicated}"}]}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()"""
    module = xe.parse_stablehlo(generic)
    assert module.name == "g" and "sharding={replicated}" in module.to_text()
    np.testing.assert_array_equal(xe.evaluate(module, np.float32([1, -2])), [-1, 2])
    old = "func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = mhlo.negate %arg0 : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}"
    np.testing.assert_array_equal(
        xe.evaluate(xe.parse_stablehlo(old), np.float32([1, -2])), [-1, 2]
    )


def test_the_entry_is_main_or_the_only_public_function_or_the_only_one() -> None:
    body = "(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.abs %x : tensor<f32>\n return %0 : tensor<f32> }\n"
    assert (
        xe.parse_stablehlo(
            f"func.func @other{body} func.func private @hidden{body}"
        ).entry.root.opcode.name
        == "abs"
    )
    with pytest.raises(StablehloError, match="several functions"):
        xe.parse_stablehlo(f"func.func @a{body} func.func @b{body}")
    assert xe.parse_stablehlo(f"func.func private @a{body}").entry.root.opcode.name == "abs"
    with pytest.raises(StablehloError, match="several functions"):
        xe.parse_stablehlo(f"func.func private @a{body} func.func private @b{body}")
    with pytest.raises(StablehloError, match="no function"):
        xe.parse_stablehlo("func.func private @a(%x: tensor<f32>) -> tensor<f32>")


def test_a_function_is_one_computation_for_each_combination_of_shapes() -> None:
    text = """func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = call @twice(%a) : (tensor<2xf32>) -> tensor<?xf32>
  %1 = call @twice(%b) : (tensor<3xf32>) -> tensor<?xf32>
  %2 = call @twice(%1) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}
func.func private @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
    module = xe.parse_stablehlo(text)
    assert len(module.computations) == 3
    assert str(module.result_shape()) == "(f32[2]{0}, f32[3]{0})", (
        "open dimensions are closed by what the function is called with"
    )
    got = xe.evaluate(module, np.float32([1, 2]), np.float32([1, 2, 3]))
    np.testing.assert_array_equal(got[1], [4, 8, 12])


def test_regions_may_read_from_far_outside_and_reuse_names() -> None:
    text = """func.func @main(%a: tensor<f32>, %p: tensor<i1>, %n: tensor<i32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<f32>
  cond {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %i, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %i, %c : tensor<i32>
    %2 = "stablehlo.if"(%p) ({
      %3 = "stablehlo.if"(%p) ({
        %4 = stablehlo.add %x, %a : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }, {
        stablehlo.return %a : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }, {
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}"""
    module = xe.parse_stablehlo(text)
    assert xe.evaluate(module, np.float32(2), np.bool_(True), np.int32(3)) == 8
    assert (
        xe.compile(module, backend="interpreter")(np.float32(2), np.bool_(False), np.int32(3)) == 2
    )


def test_types_that_stablehlo_has() -> None:
    kinds = {
        "i1": "pred",
        "i2": "s2",
        "i4": "s4",
        "i8": "s8",
        "i16": "s16",
        "i32": "s32",
        "i64": "s64",
        "ui2": "u2",
        "ui4": "u4",
        "ui8": "u8",
        "ui16": "u16",
        "ui32": "u32",
        "ui64": "u64",
        "f16": "f16",
        "bf16": "bf16",
        "f32": "f32",
        "f64": "f64",
        "complex<f32>": "c64",
        "complex<f64>": "c128",
        "f8E4M3FN": "f8e4m3fn",
        "f8E5M2": "f8e5m2",
        "f8E4M3B11FNUZ": "f8e4m3b11fnuz",
        "f8E4M3FNUZ": "f8e4m3fnuz",
        "f8E5M2FNUZ": "f8e5m2fnuz",
        "f8E3M4": "f8e3m4",
        "f8E4M3": "f8e4m3",
        "f8E8M0FNU": "f8e8m0fnu",
        "f4E2M1FN": "f4e2m1fn",
        "f6E2M3FN": "f6e2m3fn",
        "f6E3M2FN": "f6e3m2fn",
    }
    for mlir, hlo in kinds.items():
        module = xe.parse_stablehlo(
            f"func.func @main(%a: tensor<2x3x{mlir}>) -> tensor<2x3x{mlir}> {{ return %a : tensor<2x3x{mlir}> }}"
        )
        assert str(module.result_shape()) == f"{hlo}[2,3]{{1,0}}"
    dynamic = xe.parse_stablehlo(
        "func.func @main(%a: tensor<2x?xf32, #stablehlo.bounds<?, 4>>) -> tensor<2x?xf32, #stablehlo.bounds<?, 4>> {\n"
        "  return %a : tensor<2x?xf32, #stablehlo.bounds<?, 4>>\n}"
    )
    assert str(dynamic.result_shape()) == "f32[2,<=4]{1,0}"


def test_constants_as_buffers_splats_and_resources() -> None:
    text = """#pad = dense<"0x0000803F0000004000004040"> : tensor<3xf32>
func.func @main() -> (tensor<3xf32>, tensor<10xi1>, tensor<2x2xi32>, tensor<2xf32>, tensor<2xi4>, tensor<20xi1>) {
  %0 = stablehlo.constant #pad
  %1 = stablehlo.constant dense<"0x0502"> : tensor<10xi1>
  %2 = stablehlo.constant dense<"0x07000000"> : tensor<2x2xi32>
  %3 = stablehlo.constant dense_resource<blob> : tensor<2xf32>
  %4 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %5 = stablehlo.constant dense<"0xFF"> : tensor<20xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<10xi1>, tensor<2x2xi32>, tensor<2xf32>, tensor<2xi4>, tensor<20xi1>
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F000000C0"
    }
  }
#-}
"""
    a, b, c, d, e, f = xe.evaluate(xe.parse_stablehlo(text))
    np.testing.assert_array_equal(a, [1, 2, 3])
    np.testing.assert_array_equal(np.flatnonzero(b), [0, 2, 9])
    np.testing.assert_array_equal(c, np.full((2, 2), 7))
    np.testing.assert_array_equal(d, [1, -2])
    np.testing.assert_array_equal(e.astype(int), [-8, 7])
    assert f.all()


def test_composites_and_custom_calls_keep_what_they_carry() -> None:
    text = """func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.composite "my.op" %a {composite_attributes = {k = 3 : i64}, decomposition = @g, version = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.custom_call @foo(%0) {api_version = 4 : i32, backend_config = {a = 1 : i32, s = "q"}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { return %a : tensor<2x3xf32> }"""
    printed = xe.parse_stablehlo(text).to_text()
    assert (
        "is_composite=true" in printed
        and 'frontend_attributes={composite.attributes={k = 3 : i64},composite.name="my.op",composite.version="1"}'
        in printed
    )
    assert (
        'custom_call_target="foo", operand_layout_constraints={f32[2,3]{0,1}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{}: (0, {})}'
        in printed
    )
    assert "->f32[2,3]{1,0}}" in printed, "results of the program lie as its callers expect"
    assert (
        "api_version=API_VERSION_TYPED_FFI" in printed
        and 'backend_config={a = 1 : i32, s = "q"}' in printed
    )


def test_files_are_read_by_load(tmp_path: Path) -> None:
    (tmp_path / "f.mlir").write_text(LOCATED)
    (tmp_path / "f.mlir.gz").write_bytes(gzip.compress(LOCATED.encode()))
    assert (
        xe.load(tmp_path / "f.mlir").to_text()
        == xe.load(tmp_path / "f.mlir.gz").to_text()
        == xe.parse_stablehlo(LOCATED).to_text()
    )
    (tmp_path / "bad.mlir").write_text("module { func.func @main() { stablehlo.add } }")
    with pytest.raises(StablehloError, match=r"bad\.mlir"):
        xe.load(tmp_path / "bad.mlir")


def test_text_in_hand_is_known_by_how_it_begins(tmp_path: Path) -> None:
    session = xe.compile(LOCATED, backend="interpreter")
    x, y = np.float32([1, 2, 3, 4]), np.float32([0, 1, 0, 1])
    np.testing.assert_allclose(session(x, y), np.tanh(2 * x + y), rtol=1e-6)
    (tmp_path / "dump.txt").write_text("// a comment\n" + LOCATED)
    assert xe.load(tmp_path / "dump.txt").name == "jit_f"
    hlo = xe.parse_stablehlo(LOCATED).to_text()
    assert xe.optimize(hlo).module.name == "jit_f"


APPROXIMATE = """module @m {
  func.func @comparator(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%x: tensor<5x7xf32>, %places: tensor<5x7xi32>) -> (tensor<2x7xf32>, tensor<2x7xi32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %places, %low, %none) {called_computations = [@comparator], mhlo.backend_config = {
      aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = DIMENSION : i64, top_k = 2 : i64}}
      : (tensor<5x7xf32>, tensor<5x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x7xf32>, tensor<2x7xi32>)
    return %0#0, %0#1 : tensor<2x7xf32>, tensor<2x7xi32>
  }
}"""


def test_an_approximate_top_k_is_an_exact_one() -> None:
    x = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)
    places = np.broadcast_to(np.arange(5, dtype=np.int32)[:, None], (5, 7))
    module = xe.parse_stablehlo(APPROXIMATE.replace("DIMENSION", "0"))
    values, chosen = xe.evaluate(module, x, places)
    np.testing.assert_array_equal(values, -np.sort(-x, axis=0)[:2])
    np.testing.assert_array_equal(chosen, np.argsort(-x, axis=0)[:2])


@pytest.mark.parametrize("dimension", ["2", "-1", "7"])
def test_an_approximate_top_k_along_no_dimension(dimension: str) -> None:
    with pytest.raises(StablehloError, match="is not a dimension of"):
        xe.parse_stablehlo(APPROXIMATE.replace("DIMENSION", dimension))


def test_a_custom_call_names_functions_of_other_types_than_its_operands() -> None:
    text = APPROXIMATE.replace("@ApproxTopK", "@somebody.reduces").replace("DIMENSION", "0")
    (call,) = [i for i in xe.parse_stablehlo(text).instructions() if i.opcode.name == "custom-call"]
    assert [[str(p.shape) for p in c.parameters()] for c in call.called] == [
        ["f32[]", "f32[]", "s32[]", "s32[]"]
    ]
