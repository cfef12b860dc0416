"""Passes of one rewrite each: the values stay, and the graph is the wanted one."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import PassTrace, optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
SCATTER = (
    "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add"
)


def run(module: HloModule, passes: str) -> PassTrace:
    """Run passes; the result must be well formed and have the values of the input."""
    trace = optimize(module, passes, verify=True)
    random = np.random.default_rng(3)
    given = [
        random.integers(0, 8, p.shape.dimensions).astype(
            np.int32 if p.shape.element_type.name == "s32" else np.float32
        )
        for p in module.entry.parameters()
    ]
    wanted, got = evaluate(module, *given), evaluate(trace.module, *given)
    for x, y in zip(flatten_value(wanted), flatten_value(got), strict=True):
        np.testing.assert_array_equal(x, y)
    return trace


def opcodes(module: HloModule) -> list[str]:
    return sorted([i.opcode.name for i in module.entry.instructions.values()])


CASES = {
    "truncated-scatter": (
        "scatter-slice-simplifier",
        ADD + "ENTRY e {\n i = s32[4,1] parameter(0)\n u = f32[4,1] parameter(1)\n"
        " z = f32[9] parameter(2)\n"
        f" s = f32[9] scatter(z, i, u), {SCATTER}\n a = f32[9] abs(s)\n"
        " ROOT c = f32[5] slice(a), slice={[0:5]}\n}\n",
        ["abs", "parameter", "parameter", "parameter", "scatter", "slice"],
    ),
    "dead-update": (
        "dead-dus-elimination,dce",
        "ENTRY e {\n x = f32[8] parameter(0)\n u = f32[2] parameter(1)\n k = s32[] constant(5)\n"
        " d = f32[8] dynamic-update-slice(x, u, k)\n ROOT s = f32[5] slice(d), slice={[0:5]}\n}\n",
        ["parameter", "parameter", "slice"],
    ),
    "constant-of-each-reader": (
        "hlo-constant-splitter{split_expressions=true}",
        "ENTRY e {\n x = f32[4] parameter(0)\n c = f32[] constant(2)\n"
        " b = f32[4] broadcast(c), dimensions={}\n m = f32[4] multiply(x, b)\n"
        " ROOT a = f32[4] add(m, b)\n}\n",
        ["add", "broadcast", "broadcast", "constant", "constant", "multiply", "parameter"],
    ),
    "constant-in-fusion": (
        "fusion_constant_sinking",
        "f {\n x = f32[8] parameter(0)\n i = s32[] parameter(1)\n"
        " ROOT d = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}\n}\n"
        "ENTRY e {\n x = f32[8] parameter(0)\n c = s32[] constant(3)\n"
        " ROOT f = f32[4] fusion(x, c), kind=kLoop, calls=f\n}\n",
        ["fusion", "parameter"],
    ),
    "copies-in-fusion": (
        "copy_fusion",
        "f {\n x = f32[8] parameter(0)\n ROOT n = f32[8] negate(x)\n}\n"
        "ENTRY e {\n x = f32[8] parameter(0)\n f = f32[8] fusion(x), kind=kLoop, calls=f\n"
        " a = f32[8] copy(f)\n b = f32[8] copy(f)\n"
        " ROOT t = (f32[8], f32[8], f32[8]) tuple(a, b, f)\n}\n",
        [
            "fusion",
            "get-tuple-element",
            "get-tuple-element",
            "get-tuple-element",
            "parameter",
            "tuple",
        ],
    ),
    "call-without-idle-parameters": (
        "call-parameter-cleanup",
        "g {\n a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n c = f32[4] parameter(2)\n"
        " s = f32[4] add(a, c)\n ROOT t = (f32[4], f32[4]) tuple(c, s)\n}\n"
        "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n z = f32[4] negate(y)\n"
        " ROOT c = (f32[4], f32[4]) call(x, y, z), to_apply=g\n}\n",
        ["call", "get-tuple-element", "negate", "parameter", "parameter", "tuple"],
    ),
    "reduce-in-own-layout": (
        "reduce-decomposer",
        ADD + "ENTRY e {\n x = f32[5,3,4]{2,1,0} parameter(0)\n z = f32[] constant(0)\n"
        " ROOT r = f32[5,4]{0,1} reduce(x, z), dimensions={1}, to_apply=add\n}\n",
        ["constant", "copy", "parameter", "reduce"],
    ),
    "softmax-in-one-fusion": (
        "triton-softmax-rewriter",
        ADD + "ENTRY e {\n x = f32[6,8] parameter(0)\n z = f32[] constant(0)\n"
        " y = f32[6,8] multiply(x, x)\n r = f32[6] reduce(y, z), dimensions={1}, to_apply=add\n"
        " c = f32[] constant(2)\n d = f32[6] broadcast(c), dimensions={}\n"
        " m = f32[6] multiply(r, d)\n b = f32[6,8] broadcast(m), dimensions={0}\n"
        " ROOT s = f32[6,8] subtract(x, b)\n}\n",
        ["fusion", "parameter"],
    ),
    "tasks": (
        "cpu-parallel-task-assigner",
        "ENTRY e {\n x = f32[1024,1024] parameter(0)\n ROOT s = f32[1024,1024] negate(x)\n}\n",
        ["negate", "parameter"],
    ),
    "inverse-permutation": (
        "permutation_sort_simplifier",
        "less {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n"
        " d = s32[] parameter(3)\n ROOT l = pred[] compare(a, b), direction=LT\n}\n"
        "fewer {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n"
        " d = s32[] parameter(3)\n ROOT l = pred[] compare(a, b), direction=LT\n}\n"
        "ENTRY e {\n x = f32[3,8] parameter(0)\n i = s32[3,8] iota(), iota_dimension=1\n"
        " s = (f32[3,8], s32[3,8]) sort(x, i), dimensions={1}, is_stable=true, to_apply=less\n"
        " p = s32[3,8] get-tuple-element(s), index=1\n"
        " t = (s32[3,8], s32[3,8]) sort(p, i), dimensions={1}, to_apply=fewer\n"
        " ROOT r = s32[3,8] get-tuple-element(t), index=1\n}\n",
        ["broadcast", "concatenate", "constant", "get-tuple-element", "get-tuple-element"]
        + ["iota"] * 3
        + ["parameter", "reshape", "reshape", "scatter", "sort", "tuple"],
    ),
    "dot-to-contract": (
        "dot_normalizer",
        "ENTRY e {\n x = f32[3] parameter(0)\n y = f32[4] parameter(1)\n"
        " ROOT d = f32[3,4] dot(x, y), lhs_contracting_dims={}, rhs_contracting_dims={}\n}\n",
        ["dot", "parameter", "parameter", "reshape", "reshape"],
    ),
    "dot-of-one-type": (
        "operand_converter",
        "ENTRY e {\n x = f32[2,3] parameter(0)\n y = s32[3,4] parameter(1)\n"
        " ROOT d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        ["convert", "dot", "parameter", "parameter"],
    ),
    "integers-without-dot": (
        "dot-strength-reduction",
        "ENTRY e {\n x = s32[2,3] parameter(0)\n y = f32[3] parameter(1)\n"
        " z = s64[3] convert(y)\n"
        " ROOT d = s32[2] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        [
            "broadcast",
            "constant",
            "convert",
            "convert",
            "multiply",
            "parameter",
            "parameter",
            "reduce",
        ],
    ),
    "first-of-sorted": (
        "topk-rewriter",
        "more {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT l = pred[] compare(a, b), direction=GT, type=TOTALORDER\n}\n"
        "ENTRY e {\n x = f32[3,64] parameter(0)\n"
        " s = f32[3,64] sort(x), dimensions={1}, to_apply=more\n"
        " ROOT t = f32[3,5] slice(s), slice={[0:3], [0:5]}\n}\n",
        ["custom-call", "get-tuple-element", "parameter"],
    ),
    "top-of-tops": (
        "topk-splitter{split_threshold=2048}",
        "more {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n"
        " d = s32[] parameter(3)\n ROOT l = pred[] compare(a, b), direction=GT\n}\n"
        "ENTRY e {\n x = f32[4096] parameter(0)\n"
        ' t = (f32[5], s32[5]) custom-call(x), custom_call_target="TopK", to_apply=more\n'
        " ROOT v = f32[5] get-tuple-element(t), index=0\n}\n",
        ["add", "broadcast", "constant", "custom-call"]
        + ["get-tuple-element"] * 5
        + ["iota", "multiply", "parameter"]
        + ["reshape"] * 3
        + ["slice", "slice", "sort", "tuple"],
    ),
    "products-for-a-library": (
        "dot-library-rewriter",
        ADD + "ENTRY e {\n x = f32[64,64] parameter(0)\n y = f32[64,64] parameter(1)\n"
        " d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        " z = f32[] constant(0)\n"
        " ROOT r = f32[64] reduce(d, z), dimensions={1}, to_apply=add\n}\n",
        ["fusion", "fusion", "parameter", "parameter"],
    ),
    "row-major-reduce": (
        "reduction-layout-normalizer",
        ADD + "ENTRY e {\n x = f32[5,3,4]{0,2,1} parameter(0)\n z = f32[] constant(0)\n"
        " ROOT r = f32[5,4]{1,0} reduce(x, z), dimensions={1}, to_apply=add\n}\n",
        ["bitcast", "bitcast", "constant", "parameter", "reduce"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_graph_is_rewritten_and_its_values_stay(case: str) -> None:
    passes, text, wanted = CASES[case]
    trace = run(parse_hlo("HloModule m\n" + text), passes)
    assert trace.changed and opcodes(trace.module) == sorted(wanted)


@pytest.mark.parametrize(
    ("passes", "text"),
    [
        (
            "scatter-slice-simplifier",  # the slice starts later
            ADD + "ENTRY e {\n i = s32[4,1] parameter(0)\n u = f32[4,1] parameter(1)\n"
            f" z = f32[9] parameter(2)\n s = f32[9] scatter(z, i, u), {SCATTER}\n"
            " ROOT c = f32[5] slice(s), slice={[1:6]}\n}\n",
        ),
        (
            "dead-dus-elimination",  # the slice reads the last element that is written
            "ENTRY e {\n x = f32[8] parameter(0)\n u = f32[2] parameter(1)\n"
            " k = s32[] constant(9)\n d = f32[8] dynamic-update-slice(x, u, k)\n"
            " ROOT s = f32[8] slice(d), slice={[0:8]}\n}\n",
        ),
        (
            "copy_fusion",  # another layout is work of its own
            "f {\n x = f32[4,8] parameter(0)\n ROOT n = f32[4,8] negate(x)\n}\n"
            "ENTRY e {\n x = f32[4,8] parameter(0)\n f = f32[4,8] fusion(x), kind=kLoop, calls=f\n"
            " ROOT a = f32[4,8]{0,1} copy(f)\n}\n",
        ),
    ],
)
def test_other_graphs_stay(passes: str, text: str) -> None:
    assert not run(parse_hlo("HloModule m\n" + text), passes).changed


def test_reductions_of_two_layouts_are_refused() -> None:
    module = parse_hlo(
        "HloModule m\nmax {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " c = f32[] parameter(2)\n d = f32[] parameter(3)\n"
        " ROOT t = (f32[], f32[]) tuple(a, b)\n}\n"
        "ENTRY e {\n x = f32[2,3]{1,0} parameter(0)\n y = f32[2,3]{0,1} parameter(1)\n"
        " z = f32[] constant(0)\n"
        " ROOT r = (f32[2], f32[2]) reduce(x, y, z, z), dimensions={1}, to_apply=max\n}\n"
    )
    with pytest.raises(XlaExplorerError, match="Layout assignment"):
        optimize(module, "reduction-layout-normalizer")


def test_the_sort_is_a_call_of_the_device_that_is_faster() -> None:
    text = (
        "HloModule m\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT c = pred[] compare(b, a), direction=LT\n}\n"
        "ENTRY e {\n x = f32[3,100000] parameter(0)\n"
        " ROOT s = f32[3,100000] sort(x), dimensions={1}, to_apply=less\n}\n"
    )
    assert not optimize(parse_hlo(text), "sort-rewriter{device=h100}").changed
    trace = optimize(parse_hlo(text), "sort-rewriter{mode=always}", verify=True)
    [call] = [i for i in trace.module.instructions() if i.opcode.name == "custom-call"]
    assert call.attributes["backend_config"] == '{"descending":true}'


def test_early_and_late_steps_of_the_schedule() -> None:
    text = (
        "HloModule m, is_scheduled=true\nENTRY e {\n x = f32[4] parameter(0)\n"
        " n = f32[4] negate(x)\n a = f32[4] add(n, x)\n b = f32[4] bitcast(n)\n"
        " ROOT m = f32[4] multiply(a, b)\n}\n"
    )
    trace = optimize(parse_hlo(text), "instruction-hoister{hoist_bitcasts=true}", verify=True)
    schedule = trace.module.entry.schedule
    assert schedule is not None and [i.name for i in schedule] == ["x", "n", "b", "a", "m"]


def test_returned_parameters_are_aliased_once() -> None:
    text = (
        "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n"
        " s = f32[4] add(x, y)\n"
        " ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(x, s, x, y)\n}\n"
    )
    trace = optimize(parse_hlo(text), "alias_passthrough_params", verify=True)
    aliases = trace.module.attributes["input_output_alias"]
    assert aliases == "{ {0}: (0, {}, may-alias), {3}: (1, {}, may-alias) }"


@pytest.mark.parametrize(
    ("left", "right", "result", "reshaped"),
    [
        ("f32[65]", "f32[65,3]", "f32[3]", "f32[65,1]"),
        ("f32[65,1,7]", "f32[65,3]", "f32[1,7,3]", "f32[65,1,7,1]"),  # as XLA: no free one, or two
        ("f32[65,3]", "f32[65,3]", "f32[3,3]", ""),
        ("f32[65]", "f32[65]", "f32[]", ""),
    ],
)
def test_a_product_with_a_vector_becomes_one_with_a_matrix(
    left: str, right: str, result: str, reshaped: str
) -> None:
    module = parse_hlo(f"""ENTRY e {{ x = {left} parameter(0)  y = {right} parameter(1)
      ROOT d = {result} dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}} }}""")
    found = run(module, "gemv-rewriter").module
    (dot,) = [i for i in found.instructions() if i.opcode.name == "dot"]
    assert dot.operands[0].shape.text_without_layout == (reshaped or left)


@pytest.mark.parametrize("initial", [0, 3])
def test_a_window_of_a_vector_becomes_one_of_a_matrix(initial: int) -> None:
    module = parse_hlo(
        ADD
        + f"""ENTRY e {{ x = f32[9] parameter(0)  z = f32[] constant({initial})
      ROOT w = f32[4] reduce-window(x, z), window={{size=3 stride=2}}, to_apply=add }}"""
    )
    found = run(module, "reduce-window-rewriter").module
    (window,) = [i for i in found.instructions() if i.opcode.name == "reduce-window"]
    assert window.shape.text_without_layout == "f32[4,1]"


def test_batch_dimensions_that_are_not_in_front_stay() -> None:
    text = """ENTRY e {{ x = f32[{left}] parameter(0)  y = f32[1,4] parameter(1)
      ROOT d = f32[1,3] dot(x, y), lhs_batch_dims={{{batch}}}, lhs_contracting_dims={{{other}}}, rhs_batch_dims={{0}}, rhs_contracting_dims={{1}} }}"""
    behind = parse_hlo(text.format(left="3,4,1", batch=2, other=1))
    assert not run(behind, "batch-dot-simplification").changed
    in_front = parse_hlo(text.format(left="1,3,4", batch=0, other=2))
    assert run(in_front, "batch-dot-simplification").changed


@pytest.mark.parametrize(("native", "groups"), [((), 1), (("f32",), 2)])
def test_groups_of_native_types_stay(native: tuple[str, ...], groups: int) -> None:
    module = parse_hlo("""ENTRY e { x = f32[1,5,4] parameter(0)  k = f32[3,2,6] parameter(1)
      ROOT c = f32[1,3,6] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2 }""")
    hlo_pass = make_pass("convolution-group-converter", native_types=native)
    found = optimize(module, PassPipeline("one", (hlo_pass,))).module
    (convolution,) = [i for i in found.instructions() if i.opcode.name == "convolution"]
    assert convolution.attributes.value("feature_group_count") == groups
