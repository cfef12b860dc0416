"""Modules that the parser makes of each spelling that XLA accepts."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.metadata import StackFrameTables
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions, parse_hlo
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    parse_buffer_donor,
    parse_input_output_alias,
)
from xla_explorer.hlo.text.parser import _Parser

ADD = "f { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y) }\n"


def entry(body: str, before: str = "") -> HloModule:
    return parse_hlo(f"HloModule m\n{before}ENTRY e {{\n{body}\n}}\n")


def root_line(module: HloModule) -> str:
    return str(module.entry.root)


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        (
            "%p = f32[2]{0} parameter(0)\n ROOT %r = f32[2]{0} add(f32[2]{0} %p, f32[2]{0} %p)",
            "ROOT %r = f32[2]{0} add(%p, %p)",
        ),
        ("p = f32[2] parameter(0)\n ROOT r = add(p, p)", "ROOT %r = f32[2]{0} add(%p, %p)"),
        (
            "p = f32[2] parameter(0)\n ROOT r = add(negate(p), f32[2] exponential(p))",
            "ROOT %r = f32[2]{0} add(%negate.anon, %exponential.anon)",
        ),
        ("ROOT p = f32[<=8,4] parameter(0)", "ROOT %p = f32[<=8,4]{1,0} parameter(0)"),
        ("ROOT p = f32[?,4] parameter(0)", "ROOT %p = f32[?,4]{1,0} parameter(0)"),
        (
            "ROOT p = bf16[8,128]{1,0:T(8,128)(2,1)S(5)} parameter(0)",
            "ROOT %p = bf16[8,128]{1,0:T(8,128)(2,1)S(5)} parameter(0)",
        ),
        (
            "ROOT p = f32[4]{0:T(*,2)L(16)S(1)} parameter(0)",
            "ROOT %p = f32[4]{0:T(*,2)L(16)S(1)} parameter(0)",
        ),
        (
            "ROOT p = (f32[2], (s32[], token[])) parameter(0)",
            "ROOT %p = (f32[2]{0}, (s32[], token[])) parameter(0)",
        ),
        ("ROOT p = b(f32[4]) parameter(0)", "ROOT %p = b(f32[4]{0}) parameter(0)"),
        ("ROOT p = () parameter(0)", "ROOT %p = () parameter(0)"),
        ("ROOT %ROOT = f32[] parameter(0)", "ROOT %ROOT = f32[] parameter(0)"),
        ("p =f32[] parameter(0)", "ROOT %p = f32[] parameter(0)"),
        (
            "ROOT p = f32[2] parameter( /* first */ 0 ) // the end",
            "ROOT %p = f32[2]{0} parameter(0)",
        ),
        (
            "p = f32[] parameter(0)\n ROOT r = f32[2,3] broadcast(p)",
            "ROOT %r = f32[2,3]{1,0} broadcast(%p), dimensions={}",
        ),
        (
            "p = f32[4,4] parameter(0)\n ROOT r = f32[2,4] slice(p), slice={[0:4:2], [0:4]}",
            "ROOT %r = f32[2,4]{1,0} slice(%p), slice={[0:4:2], [0:4:1]}",
        ),
        (
            "p = f32[1,2] parameter(0)\n k = f32[2,2] parameter(1)\n ROOT d = f32[1,2] convolution(p, k), dim_labels=bf_io->bf, "
            "sparsity_config={rhs={stride=1 sparsity=3x4} lhs={}}, convolution_kind=unset",
            "ROOT %d = f32[1,2]{1,0} convolution(%p, %k), dim_labels=bf_io->bf, "
            "sparsity_config={lhs={sparsity=0x0 dimension=0 stride=0} rhs={sparsity=3x4 dimension=0 stride=1}}",
        ),
        (
            'p = f32[2] parameter(0), sharding={devices=[2]<=[2]}, metadata={op_name="a, metadata=b" source_line=3}, '
            'backend_config={"x":{"y":2}}',
            "ROOT %p = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}, "
            'metadata={op_name="a, metadata=b" source_line=3}, '
            'backend_config={"x":{"y":2}}',
        ),
        (
            "a = f32[] parameter(0)\n b = f32[] negate(a)\n ROOT c = f32[] abs(a), control-predecessors={b}",
            "ROOT %c = f32[] abs(%a), control-predecessors={%b}",
        ),
    ],
)
def test_spellings(body: str, printed: str) -> None:
    module = entry(body)
    assert root_line(module) == printed
    assert modules_equal(module, parse_hlo(module.to_text())) is None


def test_called_computations_are_no_attributes() -> None:
    module = entry(
        "p = f32[4] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=f",
        ADD,
    )
    root = module.entry.root
    assert root.called == (module.computations["f"],)
    assert "to_apply" not in root.attributes
    assert root.attribute("dimensions") == (0,)


def test_conditional_prints_as_its_selector_wants() -> None:
    branch = "b { ROOT x = f32[] parameter(0) }\nc { ROOT x = f32[] parameter(0) }\n"
    two = entry(
        "p = pred[] parameter(0)\n x = f32[] parameter(1)\n"
        " ROOT r = f32[] conditional(p, x, x), true_computation=b, false_computation=c",
        branch,
    )
    assert [c.name for c in two.entry.root.called] == ["b", "c"]
    assert root_line(two).endswith("true_computation=%b, false_computation=%c")
    many = entry(
        "p = s32[] parameter(0)\n x = f32[] parameter(1)\n"
        " ROOT r = f32[] conditional(p, x, x), branch_computations={b, %c}",
        branch,
    )
    assert root_line(many).endswith("branch_computations={%b, %c}")
    assert many.entry.root.called == (many.computations["b"], many.computations["c"])


def test_names_become_unique_in_the_module() -> None:
    module = entry(
        "x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z.1 = f32[] add(x, y)",
        ADD + ADD.replace("f {", "g {"),
    )
    names = [i.name for i in module.instructions()]
    assert len(names) == len(set(names))
    assert names[:3] == ["x", "y", "z"]
    assert names[3:] == ["x.1", "y.1", "z.1", "x.2", "y.2", "z.2"]
    assert module.entry.root.name == "z.2"


def test_inlined_computation() -> None:
    module = entry(
        "p = f32[4] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply={\n"
        " a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}"
    )
    assert list(module.computations) == ["_", "e"]
    assert module.entry.root.to_apply.root.opcode.name == "add"
    assert modules_equal(module, parse_hlo(module.to_text())) is None


def test_asynchronous_sugar_round_trips() -> None:
    text = (
        'p = f32[4] parameter(0)\n s = ((f32[4], f32[4]), f32[4], s32[]) add-start(p, p), async_execution_thread="t"\n'
        " u = ((f32[4], f32[4]), f32[4], s32[]) add-update(s)\n ROOT d = f32[4] add-done(u)"
    )
    module = entry(text)
    start = next(i for i in module.entry.instructions.values() if i.opcode.name == "async-start")
    assert start.to_apply.root.opcode.name == "add"
    assert start.to_apply.execution_thread == '"t"'
    printed = module.to_text()
    assert (
        'add-start(%p, %p), async_execution_thread="t"' in printed
        and "async_computation" not in printed
    )
    assert modules_equal(module, parse_hlo(printed)) is None


def test_headers() -> None:
    text = (
        "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, replica_count=2, "
        'frontend_attributes={a="b"}\n'
        '\nFileNames\n1 "a.py"\n\nFunctionNames\n1 "f"\n\n'
        "FileLocations\n1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}\n\n"
        "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
        "ENTRY e {\n p = f32[2] parameter(0), metadata={stack_frame_id=1}\n ROOT r = (f32[2]) tuple(p)\n}"
    )
    module = parse_hlo(text)
    assert module.is_scheduled
    assert module.attributes["replica_count"] == "2"
    assert module.frames is not None and module.frames.stack(1) == [("a.py", "f", 3)]
    assert module.to_text().startswith(
        "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, "
        "entry_computation_layout={(f32[2]{0})->(f32[2]{0})}, replica_count=2"
    )
    assert modules_equal(module, parse_hlo(module.to_text())) is None
    assert parse_input_output_alias("{ {0}: (1, {2}), {}: (0, {}, must-alias) }") == (
        InputOutputAlias((0,), 1, (2,), "may-alias"),
        InputOutputAlias((), 0, (), "must-alias"),
    )
    assert parse_buffer_donor("{ (2, {}), (3, {1,0}) }") == ((2, ()), (3, (1, 0)))


@pytest.mark.parametrize(
    "text",
    [
        "p = f32[4] parameter(0)",
        "f32[4] add(f32[4] x, f32[4] y)",
        "ROOT r = f32[4] add(f32[4] %x, f32[4] %y)",
        "%m = f32[2,4]{1,0} multiply(f32[2,4]{1,0}, f32[2,4]{1,0})",
    ],
)
def test_a_single_instruction_is_a_module(text: str) -> None:
    module = parse_hlo(text)
    assert len(module.computations) == 1
    assert module.is_scheduled
    assert modules_equal(module, parse_hlo(module.to_text())) is None


def test_without_header_and_without_root() -> None:
    module = parse_hlo("e {\n p = f32[2] parameter(0)\n r = f32[2] add(p, p)\n}")
    assert module.name == "module_e"
    assert module.entry.root.name == "r"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_and_bytes(end: str) -> None:
    text = "HloModule m\n// note\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p)\n}\n"
    module = parse_hlo(text.replace("\n", end).encode())
    assert [i.line for i in module.instructions()] == [4, 5]
    assert module.source_text == text


def test_lines_are_those_of_the_source() -> None:
    text = (
        "HloModule m\n\nENTRY e { // here\n  p = f32[2] parameter(0)\n\n  /* two\n lines */\n"
        "  q = f32[2]\n    negate(p)\n  ROOT r = f32[2] abs(q)\n}\n"
    )
    module = parse_hlo(text)
    assert {i.name: i.line for i in module.instructions()} == {"p": 4, "q": 8, "r": 10}
    for i in module.instructions():
        assert i.name in text.split("\n")[i.line - 1]


FAST_AND_SLOW = """HloModule m
f {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY %e (a: f32[4,2], b: (s32[], f32[2])) -> (f32[2], f32[4,2]) {
  %a = f32[4,2]{1,0} parameter(0), metadata={op_name="jit(f)/{a}" source_line=3}
  %b = (s32[], f32[2]{0}) parameter(1), sharding={{replicated}, {devices=[2]<=[2]}}
  %c = f32[] constant(-inf)
  %d = f32[2]{0} reduce(%a, %c), dimensions={0}, to_apply=%f, metadata={op_name="r"}, backend_config={"k":[1,{"z":2}]}
  %g = f32[4,2]{1,0} get-tuple-element((s32[], f32[2]{0}) %b), index=1, frontend_attributes={a="b,c"}
  %h = f32[4,2]{1,0} add(f32[4,2]{1,0} %a, f32[4,2]{1,0} %g), control-predecessors={%d}
  %k = f32[2,2]{1,0} constant({ { 1, 2 }, { 3, nan } })
  %n = (f32[4,2], f32[4,2], f32[4,2], f32[4,2], f32[4,2], /*index=5*/f32[4,2]) tuple(%a, %g, %h, %a, %a, /*index=5*/%a)
  ROOT %t = (f32[2]{0}, f32[4,2]{1,0}) tuple(%d, %h)
}
"""


def test_fast_and_slow_path_agree() -> None:
    fast = _Parser(FAST_AND_SLOW, None)
    slow = _Parser(FAST_AND_SLOW, None, careful=True)
    assert modules_equal(fast.parse(), slow.parse()) is None
    assert fast.body.fast_lines > fast.body.slow_lines
    assert slow.body.fast_lines == 0


def test_printing_settles_after_one_round() -> None:
    once = parse_hlo(FAST_AND_SLOW).to_text()
    assert parse_hlo(once).to_text() == once


def test_canonical_text_ignores_names() -> None:
    module = parse_hlo(FAST_AND_SLOW)
    renamed = parse_hlo(FAST_AND_SLOW.replace("%d", "%other").replace("%h", "%some.3"))
    assert module.to_text(PrintOptions.canonical) == renamed.to_text(PrintOptions.canonical)
    assert module.to_text(PrintOptions.fingerprint) == renamed.to_text(PrintOptions.fingerprint)
    difference = modules_equal(module, renamed)
    assert difference is not None and difference.what in ("name", "instruction")
    assert modules_equal(module, renamed, ignore_names=True) is None


def test_parents_of_stack_frames_are_counted_from_one_more() -> None:
    tables = StackFrameTables(
        'FileNames\n1 "a.py"\n\nFunctionNames\n1 "main"\n2 "layer"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=3}\n'
        "2 {file_name_id=1 function_name_id=2 line=9}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
        "2 {file_location_id=2 parent_frame_id=1}\n3 {file_location_id=2 parent_frame_id=2}\n"
    )
    assert tables.stack(2) == [("a.py", "layer", 9)], "1 is no parent"
    assert tables.stack(3) == [("a.py", "layer", 9), ("a.py", "main", 3)]


@pytest.mark.parametrize(
    ("written", "printed"),
    [("{{0 , 1 }: ( 0,{ } ) , {0,}:(1,{2}),}", "{{0,1}: (0, {}), {0}: (1, {2})}"), ("{}", "")],
)
def test_aliases_of_custom_calls(written: str, printed: str) -> None:
    """A comma may stand behind the last one, as XLA has it; an empty list says nothing."""
    body = f'p = f32[] parameter(0)\nROOT c = f32[] custom-call(p), custom_call_target="f", output_to_operand_aliasing={written}'
    line = root_line(entry(body))
    assert line.partition(", output_to_operand_aliasing=")[2] == printed
