"""Two modules without common history beside each other."""

from __future__ import annotations

import xla_explorer as xe

OLD = """HloModule old
ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[8,8] parameter(1)
  d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  two = f32[] constant(2)
  twos = f32[4,8] broadcast(two), dimensions={}
  m = f32[4,8] multiply(d, twos)
  ROOT r = f32[4,8] tanh(m)
}"""
NEW = """HloModule new
ENTRY main {
  p.0 = f32[4,8] parameter(0)
  p.1 = f32[8,8] parameter(1)
  dot.3 = f32[4,8] dot(p.0, p.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  c = f32[] constant(3)
  b = f32[4,8] broadcast(c), dimensions={}
  mul = f32[4,8] multiply(dot.3, b)
  n = f32[4,8] negate(mul)
  ROOT out = f32[4,8] tanh(n)
}"""


def test_each_instruction_is_on_one_list() -> None:
    found = xe.compare.structure(OLD, NEW)
    rows = {(row.left, row.right): row for row in found.rows}
    assert (
        rows["%d", "%dot.3"].status == "changed"
        and "rhs_contracting_dims" in rows["%d", "%dot.3"].what
    )
    assert rows["%two", "%c"].what == "value: 2 -> 3"
    assert rows["", "%n"].status == "only right" and rows["", "%n"].flops_right == 32
    assert rows["%r", "%out"].what == "operand 0: %m -> %n"
    assert rows["%x", "%p.0"].status == rows["%m", "%mul"].status == "same"
    assert found.counts == {"changed": 3, "moved": 0, "only left": 0, "only right": 1, "same": 4}
    assert (
        "only right" in str(found)
        and len(found.to_frame()) == 4
        and len(found.to_frame(same=True)) == 8
    )


def test_the_picture_marks_what_differs() -> None:
    found = xe.compare.structure(OLD, NEW).graph()
    labels = {node.name: node.label for node in found.picture.nodes}
    assert labels == {
        "d → dot.3": "● dot", "two → c": "● constant", "n": "+ negate", "r → out": "● tanh", "x → p.0": "parameter", "w → p.1": "parameter",
        "twos → b": "broadcast", "m → mul": "multiply",
    }  # fmt: skip
    names = {node.id: node.name for node in found.picture.nodes}
    (only_left,) = [edge for edge in found.picture.edges if edge.kind == "control"]
    assert (names[only_left.source], names[only_left.target]) == (
        "m → mul",
        "r → out",
    ) and "+ negate" in found.to_svg()


def test_a_module_differs_from_itself_in_nothing() -> None:
    found = xe.compare.structure(OLD, OLD)
    assert found.same and "only" not in str(found)


def test_what_went_into_a_fusion_has_moved() -> None:
    session = xe.compile(OLD, verify=False)
    found = xe.compare.structure(session.source, session.module, by_name=True)
    moved = [row for row in found.rows if "computation: entry -> fusion" in row.what]
    assert moved, str(found)


def test_parameters_of_reducers_follow_what_reads_them() -> None:
    """`parameter(0)` of a maximum and of a sum look alike."""

    def reducer(name: str, opcode: str) -> str:
        return f"{name} {{ {name}.a = f32[] parameter(0)\n {name}.b = f32[] parameter(1)\n ROOT {name}.r = f32[] {opcode}({name}.a, {name}.b) }}\n"

    def module(*reducers: tuple[str, str]) -> str:
        calls = "\n".join(
            f" {n}.c = f32[] reduce(x, z), dimensions={{0}}, to_apply={n}" for n, _ in reducers
        )  # fmt: skip
        root = f" ROOT t = ({', '.join(['f32[]'] * len(reducers))}) tuple({', '.join(f'{n}.c' for n, _ in reducers)})"
        head = "".join(reducer(*one) for one in reducers)
        return f"HloModule m\n{head}ENTRY e {{ x = f32[8] parameter(0)\n z = f32[] constant(0)\n{calls}\n{root} }}\n"

    found = xe.compare.structure(
        module(("max", "maximum")), module(("sum", "add"), ("max", "maximum"))
    )
    pairs = {row.left: row.right for row in found.rows if row.left}
    assert pairs["%max.a"] == "%max.a" and pairs["%max.b"] == "%max.b"
    assert not [row for row in found.rows if row.status == "changed" and "max" in row.left]
