"""Facts about a selected instruction or pass: tensor, callers, costs, opcodes, control flow."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.code.control_flow import blocks_of
from xla_explorer.explorer.code.stage_functions import CodeLine
from xla_explorer.explorer.page.view import answer_of

TEXT = """HloModule m

FileNames
1 "/a/model.py"

FunctionNames
1 "attn"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=0 end_column=0}
2 {file_name_id=1 function_name_id=2 line=90 end_line=90 column=0 end_column=0}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY e {
  x = f32[256] parameter(0)
  one = f32[] constant(1)
  ones = f32[256] broadcast(one), dimensions={}
  y = f32[256] multiply(x, ones)
  l = f32[256] log(y), metadata={op_name="jit(f)/log" stack_frame_id=2}
  ROOT r = f32[256] add(l, x)
}"""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def test_the_tensor_of_an_instruction_has_its_nan_and_its_difference(session: xe.Session) -> None:
    x = np.linspace(-1, 1, 256, dtype=np.float32)
    found = session.passes.value("%l", x)
    facts = found.facts()
    assert (
        facts["nan"] == 128
        and facts["infinite"] == 0
        and facts["largest difference to the module as written"] == 0.0
    )
    assert np.array_equal(found.array[128:], np.log(x[128:].astype(np.float64)).astype(np.float32))
    assert sum(row.number for row in found.histogram()) == 128 and "histogram" in str(found)
    with pytest.raises(xe.XlaExplorerError, match="is not in the module"):
        session.passes.value("%ones", x)
    assert session.passes.value("%ones", x, step=0).facts()["mean"] == 1.0
    live = answer_of(
        session._explorer_source_(),
        "values",
        {"step": 0, "instruction": session.passes.find("%l")},
    )
    assert ["elements", 256] in live["facts"] and len(live["histogram"]) > 1


def test_the_chain_of_callers(session: xe.Session) -> None:
    assert session.passes.callers("%l").values.tolist() == [
        ["/a/model.py", "attn", 40],
        ["/a/model.py", "step", 90],
    ]
    data = answer_of(session._explorer_source_(), "callers")
    innermost = data["frames"][data["of"][str(session.passes.find("%l"))]]
    assert innermost[:3] == ["/a/model.py", "attn", 40] and data["frames"][innermost[3]][:3] == [
        "/a/model.py",
        "step",
        90,
    ]


def test_costs_and_opcodes_by_pass(session: xe.Session) -> None:
    costs = session.passes.costs()
    simplified = costs[costs["pass"] == "algsimp"].iloc[0]
    assert (
        simplified["delta_instructions"] < 0
        and simplified["delta_bytes"] < 0
        and simplified["delta_flops"] == -256
    )
    assert simplified["attempts"] >= simplified["rewrites"] >= 1
    opcodes = session.passes.opcodes().set_index("opcode")
    change = session.passes.opcodes(change=True).set_index("opcode")
    assert opcodes.loc["multiply"].iloc[0] == 1 and change.loc["multiply"].iloc[1:].sum() == -1


@pytest.mark.parametrize("stage", ["llvm-ir", "llvm-ir-optimized", "assembly", "ptx"])
def test_control_flow_of_a_kernel(session: xe.Session, stage: str) -> None:
    found = session.llvm.control_flow(str(session.kernels()["kernel"][0]), stage)
    labels = {block.label for block in found.basic_blocks}
    assert all(target in labels for block in found.basic_blocks for target in block.goes_to)
    assert not found.basic_blocks[-1].goes_to or len(found.basic_blocks) > 1
    assert "<svg" in found.graph.to_svg()


@pytest.mark.parametrize(
    ("stage", "text", "goes_to"),
    [
        ("assembly", "f:\n\txor\n.L1:\n\tdec\n\tjne .L1\n\tret", {"entry": (".L1",), ".L1": ("line 6", ".L1"), "line 6": ()}),
        ("ptx", "{\n@%p1 bra $L2;\nmov;\nbra.uni $L3;\n$L2:\nadd;\n$L3:\nret;", {"entry": ("line 3", "$L2"), "line 3": ("$L3",), "$L2": ("$L3",), "$L3": ()}),
        ("llvm-ir", "define void @f() {\nentry:\n  br i1 %c, label %a, label %b\na:\n  br label %b\nb:\n  ret void\n}", {"entry": ("a", "b"), "a": ("b",), "b": ()}),
        ("sass", "\t/*0000*/ @P0 BRA `(.L_x_1) ;\n\t/*0010*/ IADD ;\n.L_x_1:\n\t/*0020*/ EXIT ;", {"entry": ("line 2", ".L_x_1"), "line 2": (".L_x_1",), ".L_x_1": ()}),
    ],
)  # fmt: skip
def test_blocks_end_at_branches_and_labels(
    stage: str, text: str, goes_to: dict[str, tuple[str, ...]]
) -> None:
    lines = [CodeLine(number, line, None) for number, line in enumerate(text.split("\n"), 1)]
    assert {block.label: block.goes_to for block in blocks_of(stage, lines)} == goes_to


def test_each_rule_and_each_pass_of_llvm_has_its_time_and_all_stand_in_one_flame(
    session: xe.Session,
) -> None:
    frame = session.passes.rule_times(idle=True)
    acted = {
        event.by for event in session.passes.journal.events if event.is_rewrite and event.acted
    }
    made = frame[frame["made"] > 0]
    assert (
        acted <= set(made["rule"])
        and (made["ms"] > 0).all()
        and (made["fitted"] >= made["made"]).all()
    )
    assert abs(frame["share"].sum() - 1) < 1e-6 and (frame["tried"] == 0).any(), (
        "idle rules stand there too"
    )
    twice = session.passes.rule_times(session)
    sums = frame.groupby("rule")["tried"].sum()
    assert all(
        row.tried == 2 * sums[row.rule]
        for row in twice.groupby("rule", as_index=False)["tried"].sum().itertuples()
    )
    flame = session.passes.flame()
    html, flame = flame.to_html(), flame.to_frame()
    passes = flame[flame["depth"] == 2].groupby("name")["ms"].sum()
    assert "algsimp" in passes.index and (flame["share"] <= 1.0000001).all()
    rules = flame[(flame["depth"] == 3) & flame["path"].str.contains("algsimp")]
    assert acted & set(rules["name"]) and rules["ms"].sum() <= passes["algsimp"] * 1.0000001
    assert html.count("<rect") == len(flame)
