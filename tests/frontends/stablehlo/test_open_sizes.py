"""StableHLO with dynamic sizes and the user's shapes or values: values, refusals, syntax."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import flatten_value

f32, i32 = np.float32, np.int32
X = np.arange(6, dtype=f32).reshape(2, 3)
ROWS = """    %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %r = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %s = stablehlo.concatenate %r, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
"""


def program(body: str, result: str, arguments: str = "%x: tensor<?x3xf32>") -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n    return %0 : {result}\n}}"


PROGRAMS: dict[str, tuple[str, list[Any], list[Any], Any]] = {
    "elementwise": (program("    %0 = stablehlo.tanh %x : tensor<?x3xf32>", "tensor<?x3xf32>"), [(2, 3)], [X], np.tanh(X)),
    "an array for its shape": (program("    %0 = stablehlo.tanh %x : tensor<?x3xf32>", "tensor<?x3xf32>"), [X], [X], np.tanh(X)),
    "convert": (program("    %0 = stablehlo.convert %x : (tensor<?x3xf32>) -> tensor<?x3xi32>", "tensor<?x3xi32>"), [(2, 3)], [X], X.astype(i32)),
    "bitcast": (program("    %0 = stablehlo.bitcast_convert %x : (tensor<?x3xf32>) -> tensor<?x3x4xi8>", "tensor<?x3x4xi8>"), [(2, 3)], [X], X.view(np.int8).reshape(2, 3, 4)),
    "bounds": (program("    %0 = stablehlo.convert %x : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xi32, #stablehlo.bounds<4>>", "tensor<?xi32, #stablehlo.bounds<4>>",
                       "%x: tensor<?xf32, #stablehlo.bounds<4>>"), [(3,)], [X[0]], X[0].astype(i32)),
    "dynamic_broadcast_in_dim": (program(ROWS + "    %o = stablehlo.constant dense<1.0> : tensor<f32>\n    %0 = stablehlo.dynamic_broadcast_in_dim %o, %s, dims = []"
                                         " : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>", "tensor<?x3xf32>"), [(2, 3)], [X], np.ones((2, 3), f32)),
    "dynamic_iota": (program(ROWS + "    %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x3xi32>", "tensor<?x3xi32>"), [(4, 3)],
                     [np.zeros((4, 3), f32)], np.repeat(np.arange(4, dtype=i32)[:, None], 3, 1)),
    "dynamic_reshape": (program(ROWS + "    %m = stablehlo.multiply %r, %three : tensor<1xi32>\n    %0 = stablehlo.dynamic_reshape %x, %m"
                                " : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>", "tensor<?xf32>"), [(2, 3)], [X], X.reshape(6)),
    "dynamic_pad": (program(ROWS + "    %z = stablehlo.constant dense<0> : tensor<2xi32>\n    %v = stablehlo.constant dense<0.0> : tensor<f32>\n"
                            "    %0 = stablehlo.dynamic_pad %x, %v, %s, %z, %z : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
                            "tensor<?x?xf32>"), [(2, 3)], [X], np.pad(X, ((2, 0), (3, 0)))),
    "real_dynamic_slice": (program(ROWS + "    %z = stablehlo.constant dense<[1, 0]> : tensor<2xi32>\n    %u = stablehlo.constant dense<1> : tensor<2xi32>\n"
                                   "    %0 = stablehlo.real_dynamic_slice %x, %z, %s, %u : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>",
                                   "tensor<?x3xf32>"), [(2, 3)], [X], X[1:]),
    "a slice from where an argument says": (
        program("    %n = stablehlo.constant dense<2> : tensor<1xi32>\n    %u = stablehlo.constant dense<1> : tensor<1xi32>\n    %e = stablehlo.add %i, %n : tensor<1xi32>\n"
                "    %0 = stablehlo.real_dynamic_slice %x, %i, %e, %u : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>", "tensor<?xf32>",
                "%x: tensor<?xf32>, %i: tensor<1xi32>"), [(6,), (1,)], [X.reshape(6), i32([3])], [3, 4]),
    "dynamic_gather": (program("    %n = stablehlo.constant dense<[1, 3]> : tensor<2xi32>\n    %0 = \"stablehlo.dynamic_gather\"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<"
                               "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x3xf32>, tensor<?x1xi32>, tensor<2xi32>)"
                               " -> tensor<?x3xf32>", "tensor<?x3xf32>", "%x: tensor<?x3xf32>, %i: tensor<?x1xi32>"), [(2, 3), (3, 1)], [X, i32([[1], [0], [1]])], X[[1, 0, 1]]),
    "dynamic_conv": (program("    %p = stablehlo.constant dense<0> : tensor<1x2xi32>\n    %k = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>\n    %0 = \"stablehlo.dynamic_conv\"(%x, %k, %p)"
                             " <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}>"
                             " : (tensor<1x?x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>", "tensor<1x?x1xf32>", "%x: tensor<1x?x1xf32>"),
                     [(1, 6, 1)], [X.reshape(1, 6, 1)], np.reshape([1, 3, 5, 7, 9], (1, 5, 1))),
    "a size by value": (program("    %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>", "tensor<?xi32>", "%n: tensor<1xi32>"),
                        [i32([4])], [i32([4])], np.arange(4)),
    "a size by a Python number": (program("    %r = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>\n    %0 = stablehlo.dynamic_iota %r, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>",
                                          "tensor<?xi32>", "%n: tensor<i64>"), [4], [np.int64(4)], np.arange(4)),
    "a size by its use": (program("    %c = stablehlo.convert %n : (tensor<1xi32>) -> tensor<1xi64>\n    %j = stablehlo.dynamic_iota %c, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>\n"
                                  "    %0 = stablehlo.add %j, %x : tensor<?xf32>", "tensor<?xf32>", "%n: tensor<1xi32>, %x: tensor<?xf32>"),
                          [(1,), (3,)], [i32([3]), X[0]], 2 * X[0]),
    "through calls": (program("    %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n    %b = call @twice(%a) : (tensor<1xi32>) -> tensor<1xi32>\n"
                              "    %0 = call @count(%b) : (tensor<1xi32>) -> tensor<?xi32>", "tensor<?xi32>", "%n: tensor<i32>")
                      + "\nfunc.func private @twice(%a: tensor<1xi32>) -> tensor<1xi32> {\n %0 = stablehlo.add %a, %a : tensor<1xi32>\n return %0 : tensor<1xi32> }"
                      + "\nfunc.func private @count(%a: tensor<1xi32>) -> tensor<?xi32> {\n %0 = stablehlo.dynamic_iota %a, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>\n return %0 : tensor<?xi32> }",
                      [2], [i32(2)], np.arange(4)),
    "custom call": (program(ROWS + '    %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}} : (tensor<?x3xf32>) -> tensor<?x3xf32>\n'
                            '    %b = stablehlo.constant dense<true> : tensor<i1>\n    stablehlo.custom_call @shape_assertion(%b, %d) {error_message = "no {0}"} : (tensor<i1>, tensor<i32>) -> ()',
                            "tensor<?x3xf32>"), [(1, 3)], [np.zeros((1, 3), f32)], np.zeros((1, 3))),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_its_value_for_the_given_sizes(name: str) -> None:
    text, shapes, arguments, expected = PROGRAMS[name]
    module = xe.parse_stablehlo(text, shapes=shapes)
    assert "?" not in module.to_text() and "<=" not in module.to_text()
    np.testing.assert_allclose(np.asarray(xe.evaluate(module, *arguments)), expected, rtol=1e-6)


def test_what_only_computed_sizes_is_left_out() -> None:
    text, shapes, _, _ = PROGRAMS["through calls"]
    module = xe.parse_stablehlo(text, shapes=shapes)
    assert {i.opcode.name for i in module.instructions()} <= {
        "parameter",
        "iota",
        "call",
        "add",
        "reshape",
    }
    text, shapes, _, _ = PROGRAMS["dynamic_iota"]
    module = xe.parse_stablehlo(text, shapes=shapes)
    assert [i.opcode.name for i in module.instructions()] == ["parameter", "iota"]


TANH = PROGRAMS["elementwise"][0]
BY_VALUE = PROGRAMS["a size by value"][0]
ASSERTED = program(
    ROWS + "    %five = stablehlo.constant dense<5> : tensor<i32>\n    %b = stablehlo.compare EQ, %d, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    '    stablehlo.custom_call @shape_assertion(%b, %d) {error_message = "expected 5 rows, found {0}"} : (tensor<i1>, tensor<i32>) -> ()\n'
    "    %0 = stablehlo.tanh %x : tensor<?x3xf32>", "tensor<?x3xf32>")  # fmt: skip
REFUSED: dict[str, tuple[str, Any, str]] = {
    "one too few": (TANH, [], r"gives 0, and @main takes 1 argument[\s\S]*shapes=\[\(\?, 3\)\]"),
    "no list": (TANH, 5, "must be a list"),
    "rank": (TANH, [(2, 3, 4)], r"shapes\[0\] is \(2, 3, 4\), but %x is f32\[\?,3\]"),
    "a number for an array": (TANH, [2], r"shapes\[0\] is 2, but %x is f32\[\?,3\]"),
    "a static dimension": (TANH, [(2, 4)], r"shapes\[0\] is \(2, 4\)[\s\S]*only a dynamic dimension"),
    "no size": (TANH, [(-1, 3)], "from 0 up"),
    "a word": (TANH, ["x"], r"shapes\[0\] must be a tuple of sizes or the value"),
    "a static file": ("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }", [(5,)], r"shapes\[0\] is \(5,\), but %a is f32\[4\]"),
    "behind the bound": (PROGRAMS["bounds"][0], [(5,)], r"shapes\[0\] is \(5,\), but %x is f32\[<=4\]"),
    "a value that does not fit": (BY_VALUE, [np.array([1 << 40])], "which s32.1. cannot hold"),
    "a value is missing": (BY_VALUE, [(1,)], r":2:\d+\n.*dynamic_iota[\s\S]*the value of %n \(parameter, line 1\)[\s\S]*given as that value"),
    "nothing was given": (BY_VALUE, None, r"dynamic_iota[\s\S]*xe\.load\(path, shapes=\[\(1,\)\]\)"),
    "left open": (TANH, [None], r"the sizes of stablehlo\.tanh, f32\[\?,3\], do not follow"),
    "an assertion": (ASSERTED, [(2, 3)], "expected 5 rows, found 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_that_do_not_fit_are_refused_with_their_place(name: str) -> None:
    text, shapes, said = REFUSED[name]
    with pytest.raises(xe.XlaExplorerError) as found:
        xe.parse_stablehlo(text, shapes=shapes)
    assert re.search(said, str(found.value))


def test_shapes_of_what_has_its_own_are_refused(tmp_path: Path) -> None:
    hlo = "ENTRY e { ROOT p = f32[4] parameter(0) }"
    (tmp_path / "m.hlo").write_text(hlo)
    for given in (tmp_path / "m.hlo", hlo, xe.parse_hlo(hlo)):
        with pytest.raises(xe.XlaExplorerError, match="`shapes` must be left out"):
            xe.compile(given, shapes=[(4,)])


def test_every_way_to_give_shapes(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(TANH)
    path = tmp_path / "m.mlir"
    sessions = [xe.compile(path, shapes=[(2, 3)]), xe.compile(str(path), "interpreter", shapes=[X]), xe.compile(TANH, shapes=[(2, 3)]),
                xe.compile(xe.load(path, shapes=[(2, 3)]))]  # fmt: skip
    for session in sessions:
        np.testing.assert_allclose(np.asarray(session(X)), np.tanh(X), rtol=1e-6)


def test_the_magic_takes_shapes() -> None:
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.get_ipython() or testing.start_ipython()
    shell.run_line_magic("load_ext", "xla_explorer")
    session = shell.run_cell_magic("hlo", "s --no-run --shapes [(2,3)]", TANH)
    assert session.module.entry.root.shape.text_without_layout == "f32[2,3]"


def exported() -> dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[Any, ...]]]:
    """Functions, the symbolic shapes of their arguments, and arguments."""
    import jax
    import jax.numpy as jnp

    def layers(x: Any, w: Any) -> Any:
        rows = jnp.arange(x.shape[0])
        y = jax.lax.fori_loop(0, 3, lambda _, a: a + jnp.broadcast_to(rows[:, None], a.shape), x)
        return (
            jax.nn.softmax(x @ w),
            jnp.concatenate([x, x]).reshape(-1),
            x[: x.shape[0] // 2].sum(),
            jnp.pad(x, ((x.shape[0], 0), (0, 0))),
            y,
            x.mean(),
        )

    def windows(x: Any, i: Any) -> Any:
        return (jax.lax.dynamic_slice(x, (i, 0), (x.shape[0] // 2, 2)), jax.lax.reduce_window(x, -np.inf, jax.lax.max, (x.shape[0], 1), (1, 1), "SAME"),
                jax.lax.top_k(x[:, 0], x.shape[0] // 2), jnp.sort(x, 0), jnp.cumsum(x, 0), x[jnp.argsort(x[:, 0])],
                jax.lax.map(lambda row: row * x.shape[0], x), jax.lax.cond(i > 0, lambda: jnp.ones(x.shape), lambda: x), x.at[i].set(0.0))  # fmt: skip

    def random(x: Any) -> Any:
        return jax.random.uniform(jax.random.key(0), x.shape), jax.lax.rng_bit_generator(
            jnp.zeros(4, "uint32"), x.shape
        )[1]

    def decompositions(x: Any) -> Any:
        return jnp.linalg.cholesky(jnp.einsum("bi,bj->bij", x, x) + jnp.eye(3))

    r = np.random.default_rng(0)
    x, w = r.standard_normal((6, 3), f32), r.standard_normal((3, 4), f32)
    return {"layers": (layers, ("b, 3", "3, c"), (x, w)), "windows": (windows, ("b, 3", ""), (x, i32(2))), "random": (random, ("b, 3",), (x,)),
            "decompositions": (decompositions, ("b, 3",), (x,))}  # fmt: skip


@pytest.mark.jax
@pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra `jax`")
@pytest.mark.parametrize("form", ["text", "bytecode"])
@pytest.mark.parametrize("name", ["layers", "windows", "random", "decompositions"])
def test_an_export_of_symbolic_shapes(name: str, form: str, tmp_path: Path) -> None:
    import jax
    from jax import export

    function, specs, arguments = exported()[name]
    symbols = dict(zip("bc", export.symbolic_shape("b, c"), strict=True))
    shaped = [jax.ShapeDtypeStruct(tuple([symbols.get(d, d) if d in symbols else int(d) for d in spec.split(", ") if d]), a.dtype)
              for spec, a in zip(specs, arguments, strict=True)]  # fmt: skip
    program = export.export(jax.jit(function))(*shaped)
    path = tmp_path / ("m.mlir" if form == "text" else "m.mlirbc")
    if form == "text":
        path.write_text(program.mlir_module())
    else:
        path.write_bytes(program.mlir_module_serialized)
    found = flatten_value(xe.evaluate(xe.load(path, shapes=arguments), *arguments))
    for have, want in zip(found, jax.tree.leaves(program.call(*arguments)), strict=True):
        np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=1e-4, atol=1e-5)


@pytest.mark.jax
@pytest.mark.skipif(find_spec("jax") is None, reason="needs the extra `jax`")
def test_bytecode_without_its_sizes_says_what_to_give(tmp_path: Path) -> None:
    import jax
    from jax import export

    spec = jax.ShapeDtypeStruct(export.symbolic_shape("b"), f32)
    program = export.export(jax.jit(lambda x: jax.numpy.arange(x.shape[0])))(spec)
    path = tmp_path / "m.mlirbc"
    path.write_bytes(program.mlir_module_serialized)
    with pytest.raises(xe.XlaExplorerError, match="shapes="):
        xe.load(path)
