"""Layouts by XLA:CPU's policy: views keep the operand's order, row-major readers get copies."""

from __future__ import annotations

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify


def assigned(text: str, context: PassContext | None = None) -> HloModule:
    module = parse_hlo(text)
    make_pass("layout-assignment", policy="xla").run(module, context or PassContext())
    verify(module)
    return module


def lines(module: HloModule) -> dict[str, str]:
    return {i.name: i.shape.text for i in module.instructions()}


def test_a_transpose_is_its_operand_seen_otherwise_and_its_reader_copies() -> None:
    text = """HloModule m
ENTRY e { x = f32[2,3,4] parameter(0)  t = f32[3,4,2] transpose(x), dimensions={1,2,0}  ROOT n = f32[3,4,2] negate(t) }"""
    journal = Journal("decisions")
    module = assigned(text, PassContext(journal))
    assert (
        lines(module)["t"] == "f32[3,4,2]{1,0,2}" and lines(module)["copy"] == "f32[3,4,2]{2,1,0}"
    )
    assert module.entry.root.operands[0].name == "copy"
    (event,) = [e for e in journal.events if e.by == "layout"]
    assert (
        event.names == ("t",) and event.reason is not None and event.reason.code == "layout-differs"
    )
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(np.asarray(evaluate(module, x)), -x.transpose(1, 2, 0))


def test_dimensions_of_one_element_come_first_unless_the_reader_asked_before() -> None:
    text = """HloModule m
ENTRY e { x = f32[6,4] parameter(0)  r = f32[2,3,1,4] reshape(x)  ROOT n = f32[2,3,1,4] OP }"""
    chosen = assigned(text.replace("OP", "negate(r)"))
    assert (
        lines(chosen)["r"] == "f32[2,3,1,4]{3,1,0,2}"
        and chosen.entry.root.operands[0].opcode.name == "copy"
    )
    asked = assigned(text.replace("OP", "transpose(r), dimensions={0,1,2,3}"))
    assert lines(asked)["r"] == "f32[2,3,1,4]{3,2,1,0}" and "copy" not in lines(asked)


def test_the_entry_gives_what_its_caller_wants_and_a_loop_keeps_its_state_row_major() -> None:
    module = assigned("""HloModule m, entry_computation_layout={(f32[2,3]{0,1})->(f32[3,2]{1,0}, f32[2,3]{1,0})}
body { s = (f32[3,3]) parameter(0)  a = f32[3,3] get-tuple-element(s), index=0  b = f32[3,3] transpose(a), dimensions={1,0}  ROOT t = (f32[3,3]) tuple(b) }
cond { c = (f32[3,3]) parameter(0)  ROOT f = pred[] constant(false) }
ENTRY e { x = f32[2,3] parameter(0)  y = f32[3,2] transpose(x), dimensions={1,0}  z = f32[3,3] constant({{1,2,3},{4,5,6},{7,8,9}})
  i = (f32[3,3]) tuple(z)  w = (f32[3,3]) while(i), condition=cond, body=body  ROOT r = (f32[3,2], f32[2,3]) tuple(y, x) }""")
    shapes = lines(module)
    assert shapes["x"] == "f32[2,3]{0,1}" and shapes["w"] == "(f32[3,3]{1,0})"
    assert module.entry.root.shape.text == "(f32[3,2]{1,0}, f32[2,3]{1,0})"
    body = next(c for c in module.computations.values() if c.name == "body")
    assert body.root.shape.text == "(f32[3,3]{1,0})" and body.root.operands[0].opcode.name == "copy"


CALLED = """HloModule m, entry_computation_layout={(f32[4,4]{1,0})->f32[4,4]{1,0}}
ENTRY e {
  x = f32[4,4]{1,0} parameter(0)
  d = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  half = f32[] constant(0.5)
  halves = f32[4,4] broadcast(half), dimensions={}
  t = f32[4,4] transpose(d), dimensions={1,0}
  s = f32[4,4] add(halves, t)
  call = (f32[4,4]{0,1}, s32[]) custom-call(s), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[4,4]{0,1}},
    output_to_operand_aliasing={{0}: (0, {})}
  f = f32[4,4] get-tuple-element(call), index=0
  ROOT n = f32[4,4] negate(f)
}"""


def test_what_a_lapack_call_asks_for_reaches_those_who_compute_its_operand() -> None:
    """A LAPACK call's layout reaches up to the transpose of its operand, not into the product.

    Real XLA does so for `cholesky(d.T + 0.5)`: the transpose then moves no bytes.
    """
    module = assigned(CALLED)
    shapes = lines(module)
    assert {name: shapes[name] for name in ("d", "halves", "t", "s", "f", "n")} == {
        "d": "f32[4,4]{1,0}", "halves": "f32[4,4]{0,1}", "t": "f32[4,4]{0,1}", "s": "f32[4,4]{0,1}", "f": "f32[4,4]{0,1}", "n": "f32[4,4]{1,0}"}  # fmt: skip
    root = module.entry.root
    assert (
        root.operands[0].opcode.name == "copy"
        and module.find("call").operands[0].opcode.name == "copy"
    )
    assert module.find("call").operands[0].operands == (module.find("s"),) and module.find(
        "t"
    ).operands == (module.find("d"),)
    assert sum(i.opcode.name == "copy" for i in module.instructions()) == 2


def test_what_a_loop_carries_lies_as_a_call_in_its_body_asks() -> None:
    """Loop state has the layout that a call in the body requires.

    As in real XLA's solve by one matrix: the matrix is transposed once before the loop, the vector
    in each iteration.
    """
    state = "(s32[], f32[2,2], f32[2,2])"
    module = assigned(f"""HloModule m
body {{ s = {state} parameter(0)
  k = s32[] get-tuple-element(s), index=0  a = f32[2,2] get-tuple-element(s), index=1  b = f32[2,2] get-tuple-element(s), index=2
  one = s32[] constant(1)  n = s32[] add(k, one)
  x = f32[2,2] custom-call(a, b), custom_call_target="lapack_strsm_ffi", operand_layout_constraints={{f32[2,2]{{0,1}}, f32[2,2]{{1,0}}}}
  ROOT t = {state} tuple(n, a, x) }}
cond {{ c = {state} parameter(0)  i = s32[] get-tuple-element(c), index=0  end = s32[] constant(3)  ROOT p = pred[] compare(i, end), direction=LT }}
ENTRY e {{ zero = s32[] constant(0)  m = f32[2,2] parameter(0)  v = f32[2,2] parameter(1)
  first = {state} tuple(zero, m, v)  w = {state} while(first), condition=cond, body=body
  u = f32[2,2] get-tuple-element(w), index=1  ROOT r = f32[2,2] negate(u) }}""")
    shapes, carried = lines(module), "(s32[], f32[2,2]{0,1}, f32[2,2]{1,0})"
    assert [shapes[name] for name in ("s", "c", "w", "t")] == [carried] * 4 and shapes[
        "a"
    ] == shapes["u"] == "f32[2,2]{0,1}"
    assert module.find("x").operands[0] is module.find("a"), "nothing is copied in a turn"
    assert {i.operands[0].name for i in module.instructions() if i.opcode.name == "copy"} == {
        module.find("w").operands[0].operands[1].operands[0].name, "u"}  # fmt: skip


def test_a_window_or_a_scatter_into_one_dimension_asks_before_a_reshape_chooses() -> None:
    text = """HloModule m
a { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
ENTRY e { x = f32[6,4] parameter(0)  zero = f32[] constant(0)  r = f32[2,3,1,4] reshape(x)
  ROOT n = f32[2,3,1,2] reduce-window(r, zero), window={size=1x1x1x3}, to_apply=a }"""
    assert lines(assigned(text))["r"] == "f32[2,3,1,4]{3,2,1,0}"
    text = """HloModule m
a { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
ENTRY e { x = f32[9] parameter(0)  k = s32[6,4] parameter(1)  u = f32[24,1] parameter(2)  r = s32[24,1] reshape(k)
  ROOT n = f32[9] scatter(x, r, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=a }"""
    assert lines(assigned(text))["r"] == "s32[24,1]{1,0}"
    updates = text.replace("k = s32[6,4] parameter(1)  u = f32[24,1] parameter(2)  r = s32[24,1] reshape(k)",
                           "r = s32[24,1] parameter(1)  k = f32[6,4] parameter(2)  u = f32[24,1] reshape(k)")  # fmt: skip
    assert lines(assigned(updates))["u"] == "f32[24,1]{0,1}", "of what it adds a scatter asks later"
