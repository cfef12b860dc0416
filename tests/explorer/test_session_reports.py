"""Reports of the views beyond passes: rewrites, scopes, layers, formulas, source lines, paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.support.dag import dag_text
from xla_explorer.explorer.code import code_panes, hot_kernels
from xla_explorer.explorer.display import code_pane
from xla_explorer.explorer.measures.kernel_formula import kernel_formula
from xla_explorer.explorer.page import side_by_side_data
from xla_explorer.explorer.page.buffer_view import buffer_view
from xla_explorer.explorer.page.code_rows import ptx_count_rows
from xla_explorer.explorer.page.graph_columns import graph_columns, own_column
from xla_explorer.explorer.page.search_items import search_items
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.page.what_if import MEASURES, what_if
from xla_explorer.explorer.pictures.picture import PictureNode
from xla_explorer.explorer.pictures.scopes import repeated_layers, scope_paths
from xla_explorer.explorer.questions.rewrite_rows import RuleText
from xla_explorer.hlo.text import parse_hlo

SMALL = """HloModule small
ENTRY e {
  x = f32[8,16] parameter(0)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  zeros = f32[8,16] broadcast(zero), dimensions={}
  ones = f32[8,16] broadcast(one), dimensions={}
  a = f32[8,16] add(x, zeros)
  m = f32[8,16] multiply(a, ones)
  ROOT t = f32[8,16] tanh(m)
}"""


def test_a_rewrite_is_done_again_alone() -> None:
    session = xe.compile(SMALL)
    source = session._explorer_source_()
    step = next(s.index for s in source.steps() if s.rewrites)
    rows = source.rewrites(step)
    names = [row.rule for row in rows if row.verdict == "accepted"]
    assert {"add-zero", "multiply-one"} <= set(names)
    for number, row in enumerate(rows):
        if row.verdict != "accepted":
            continue
        one = source.rewrite(step, number)
        before, after = (
            [line.text.strip() for line in one.before],
            [line.text.strip() for line in one.after],
        )
        assert before != after
        assert any(f"%{row.subject_name} = " in line for line in before), row
        assert not any(f"%{row.subject_name} = " in line for line in after), row
        assert one.picture_before.nodes and one.picture_after.nodes
        shown = [
            {node.id for node in picture.nodes}
            for picture in (one.picture_before, one.picture_after)
        ]
        assert (
            row.subject in one.removed
            and not {*one.added} & shown[0]
            and not {*one.removed} & shown[1]
        )
        assert len(one.added) <= 1, (
            "one instruction at most is new; what one picture alone shows is not"
        )
    with pytest.raises(ValueError, match="rewrites, so rewrite 99 does not exist"):
        source.rewrite(step, 99)
    rule = RuleText(*source.view().rules(names)["add-zero"])
    assert "def add_zero" in rule.code and rule.place.startswith("algebraic/")


def test_scopes_come_from_op_names() -> None:
    text = """HloModule s
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] tanh(x), metadata={op_name="jit(f)/model/layer_0/tanh"}
  b = f32[4] negate(a), metadata={op_name="jit(f)/model/layer_1/neg"}
  ROOT c = f32[4] add(a, b), metadata={op_name="jit(f)/model/layer_1/add"}
}"""
    module = parse_hlo(text)
    records = module.snapshot().computations[0].instructions
    paths = {module.find(key).name: path for key, path in scope_paths(records).items()}
    assert paths == {"x": ("layer_0",), "a": ("layer_0",), "b": ("layer_1",), "c": ("layer_1",)}
    assert {g.label for g in xe.compile(text).passes[0].picture().groups if g.kind == "scope"} == {
        "layer_0",
        "layer_1",
    }


def test_repeated_layers_are_found_without_names() -> None:
    lines = ["  x0 = f32[4,4] parameter(0)"]
    for k in range(5):
        lines += [
            f"  a{k} = f32[4,4] tanh(x{k})",
            f"  b{k} = f32[4,4] dot(a{k}, x{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"  c{k} = f32[4,4] negate(b{k})",
            f"  d{k} = f32[4,4] add(c{k}, a{k})",
            f"  g{k} = f32[4,4] multiply(d{k}, b{k})",
            f"  h{k} = f32[4,4] subtract(g{k}, a{k})",
            f"  x{k + 1} = f32[4,4] maximum(h{k}, g{k})",
        ]
    module = parse_hlo(
        "HloModule layers\nENTRY e {\n" + "\n".join(lines) + "\n  ROOT r = f32[4,4] abs(x5)\n}"
    )
    found = repeated_layers(module.snapshot().computations[0].instructions)
    assert set(found.values()) == {("layer × 5", f"layer {k} of 5") for k in range(1, 6)}
    names = {module.find(key).name: path[1] for key, path in found.items()}
    assert (
        names["a0"] == names["x1"] == "layer 1 of 5"
        and names["b4"] == "layer 5 of 5"
        and "r" not in names
    )


def test_formulas_of_kernels() -> None:
    module = parse_hlo("""HloModule k
add { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT r = f32[] add(p, q) }
f { p = f32[8,16] parameter(0)
 q = f32[8] parameter(1)
 qb = f32[8,16] broadcast(q), dimensions={0}
 s = f32[8,16] subtract(p, qb)
 e = f32[8,16] exponential(s)
 z = f32[] constant(0)
 ROOT r = f32[8] reduce(e, z), dimensions={1}, to_apply=add }
ENTRY e { x = f32[8,16] parameter(0)
 y = f32[8] parameter(1)
 ROOT k = f32[8] fusion(x, y), kind=kLoop, calls=f }""")
    assert kernel_formula(module.find("k")) == "sum over 1 of exp(x - y{0})"
    assert kernel_formula(module.find("k"), longest=12).startswith(
        "broadcast"
    )  # too long: what is in it, by name


def test_the_users_python_lines(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import x\n\n\ndef f(v):\n    w = v * 2\n    return w + v\n", encoding="utf-8")
    text = f"""HloModule m
ENTRY e {{
  v = f32[4] parameter(0)
  two = f32[] constant(2)
  twos = f32[4] broadcast(two), dimensions={{}}, metadata={{source_file="{file}" source_line=5}}
  w = f32[4] multiply(v, twos), metadata={{source_file="{file}" source_line=5}}
  ROOT r = f32[4] add(w, v), metadata={{source_file="{file}" source_line=6}}
}}"""
    session = xe.compile(text)
    pane = session._explorer_source_().panes()[0]
    assert (
        pane.name == "source"
        and pane.producer == "model.py"
        and str(tmp_path) not in pane.producer + pane.note
    )
    assert pane.sections == () and [line.number for line in pane.lines] == [1, 2, 3, 4, 5, 6, 7]
    lines = {
        line.text: {line.instruction, *line.also}
        for line in pane.lines
        if line.instruction is not None
    }
    assert lines == {
        "    w = v * 2": {session.passes.find("twos"), session.passes.find("w")},
        "    return w + v": {session.passes.find("r")},
    }
    gone = xe.compile(text.replace(str(file), str(tmp_path / "missing.py")))
    assert (
        gone._explorer_source_().panes()[0].lines[0].text.startswith("HloModule")
    )  # what was given, where the file is not here


FRAMES = """HloModule m

FileNames
1 "{model}"
2 "{linear}"
3 "{main}"

FunctionNames
1 "apply"
2 "main"

FileLocations
1 {{file_name_id=2 function_name_id=1 line=3 end_line=3 column=1 end_column=9}}
2 {{file_name_id=1 function_name_id=1 line=12 end_line=12 column=1 end_column=9}}
3 {{file_name_id=3 function_name_id=2 line=1 end_line=1 column=1 end_column=9}}

StackFrames
1 {{file_location_id=3 parent_frame_id=1}}
2 {{file_location_id=2 parent_frame_id=2}}
3 {{file_location_id=1 parent_frame_id=3}}

ENTRY e {{
  x = f32[64,64] parameter(0)
  n = f32[64,64] negate(x), metadata={{op_name="jit(f)/neg" stack_frame_id=2}}
  t = f32[64,64] tanh(n), metadata={{op_name="jit(f)/tanh" stack_frame_id=3}}
  ROOT d = f32[64,64] dot(t, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="jit(f)/dot" stack_frame_id=3}}
}}"""


@pytest.fixture
def placed(tmp_path: Path) -> xe.Session:
    """Return a module with instructions of a library that the user's script calls."""
    files = {
        "model": tmp_path / "model.py",
        "linear": tmp_path / "site-packages" / "flax" / "linear.py",
        "main": tmp_path / "main.py",
    }
    for name, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join([f"{name} {k}\n" for k in range(1, 31)]), encoding="utf-8")
    return xe.compile(FRAMES.format(**files), threads=1)


def test_the_users_own_lines_come_first_and_have_their_numbers(placed: xe.Session) -> None:
    pane = placed._explorer_source_().panes()[0]
    assert [title for _, title in pane.sections] == ["model.py", "main.py", "flax/linear.py"]
    assert [pane.lines[at].text for at, _ in pane.sections] == [
        "# model.py",
        "# main.py",
        "# flax/linear.py",
    ]
    for line in pane.lines:
        assert (
            line.number == 0 if line.text[0] in "#…" else line.text.split()[1] == str(line.number)
        )
    find = placed.passes.find
    at = {
        line.text: {line.instruction, *line.also}
        for line in pane.lines
        if line.instruction is not None
    }
    assert at == {"model 12": {find("n"), find("t"), find("d")}, "linear 3": {find("t"), find("d")}}
    assert "main 1" in [line.text for line in pane.lines], "a caller's line is shown"


def test_every_view_names_the_users_line_of_a_kernel_not_the_librarys(placed: xe.Session) -> None:
    placed.profile(repeats=1)
    source = placed._explorer_source_()
    named = {row.line for row in source.view().rows()} | {
        row.line for row in source.timings() if row.instruction is not None
    }
    named |= {
        moment.line
        for moment in buffer_view(placed, with_reasons=False).schedule
        if moment.name.startswith(("d", "t"))
    }
    named |= set(placed.profile(repeats=1)["line"][1:])
    assert {line.rpartition("/")[2] for line in named if line} == {"model.py:12"}
    found = {
        item["name"]: item["line"]
        for item in search_items(source, 0)
        if item["what"] == "instruction"
    }
    assert (
        "linear.py:3" in found["t"] and "model.py:12" in found["t"] and "main.py:1" in found["t"]
    ), "a search finds every caller"


def test_the_picture_between_two_instructions() -> None:
    session = xe.compile(SMALL)
    view, find = session._explorer_source_().view(), session.passes.find
    column = PictureNode._fields.index("name")
    for ends in (("a", "t"), ("t", "a")):
        nodes = view.between(0, *[find(end) for end in ends])["nodes"]
        assert {node[column] for node in nodes} == {"a", "m", "t"}


ROWS = """HloModule rows
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[8,16] parameter(0)
  e = f32[8,16] exponential(x)
  zero = f32[] constant(0)
  s = f32[8] reduce(e, zero), dimensions={1}, to_apply=sum
  sb = f32[8,16] broadcast(s), dimensions={0}
  ROOT d = f32[8,16] divide(e, sb)
}"""


def test_lines_of_ptx_are_counted_on_the_emulator() -> None:
    session = xe.compile(ROWS)
    assert session.last_emulation is None
    rows = ptx_count_rows(session)
    lines = session.gpu().stage("ptx").text.splitlines()
    assert rows and all(row.warps > 0 and 0 < row.share <= 1 for row in rows)
    assert any("ex2" in lines[row.line - 1] or "fma" in lines[row.line - 1] for row in rows)
    assert session.last_emulation is not None


def test_what_would_take_long_on_the_emulator_says_so_first() -> None:
    session = xe.compile(ROWS.replace("16", "1600").replace("8", "8000"))
    with pytest.raises(ValueError, match=r"about \d+ s on the emulator: run session.emulation"):
        ptx_count_rows(session)


def test_codes_of_decisions_come_with_what_they_mean() -> None:
    from xla_explorer.explorer.page.payload import build_payload

    payload = build_payload(xe.compile(ROWS)._explorer_source_())
    assert "reduce-is-root-only" in payload["reasons"]
    assert all(" " in sentence for sentence in payload["reasons"].values())


def test_one_kernel_side_by_side() -> None:
    session = xe.compile(ROWS)
    shown = session.side_by_side(kernel="%s")
    assert len(shown.kernels) == 1 and any("reduce(" in line for line in shown.kernels[0].hlo)
    with pytest.raises(xe.XlaExplorerError, match="no kernel computes %x"):
        session.side_by_side(kernel="%x")


def test_a_page_carries_the_lines_of_a_kernel_that_its_panes_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (code_pane, hot_kernels):
        monkeypatch.setattr(module, "MOST_PANE_LINES", 5)
    session = xe.compile(ROWS)
    shown = {
        line.number
        for pane in session._explorer_source_().panes()
        if pane.name == "llvm-ir-optimized"
        for line in pane.lines
    }
    made = side_by_side_data.summary(session, (), live=False)["made"]
    kernel = next(iter(made.values()))
    runs = [
        run
        for _, _, cells in kernel["rows"]
        for run in cells[kernel["stages"].index("llvm-ir-optimized")]
    ]
    wanted = {
        number
        for first, count in runs
        for number in range(first, first + count)
        if number not in shown
    }
    lines, text = kernel["beyond"]["llvm-ir-optimized"], session.llvm_ir().split("\n")
    assert wanted and {int(number): line for number, line in lines.items()} == {
        number: text[number - 1] for number in wanted
    }


@pytest.mark.parametrize("stage", ["source", "llvm-ir", "llvm-ir-optimized", "assembly"])
def test_of_a_long_text_the_hottest_kernels_are_kept(
    monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    most = 60
    session = xe.compile(dag_text(300), verify=False)
    for module in (code_pane, code_panes, hot_kernels):
        monkeypatch.setattr(module, "MOST_PANE_LINES", most)
    pane = next(pane for pane in session._explorer_source_().panes() if pane.name == stage)
    text = (
        session.source.source_text or ""
        if stage == "source"
        else session.stage(stage).text.removesuffix("\n")
    ).split("\n")
    lines = [line for line in pane.lines if line.number]
    assert len(text) > most >= len(lines) > most // 2 and all(
        text[line.number - 1] == line.text for line in lines
    )
    gaps = [line for line in pane.lines if not line.number]
    assert sum([int(gap.text.split()[1]) for gap in gaps]) == len(text) - len(lines)
    hottest = next(iter(hot_kernels.kernel_times(session)))
    ids = {
        hottest,
        *[
            i.id
            for called in session.module.find(hottest).called
            for i in called.instructions.values()
        ],
    }
    ids |= {origin for key in list(ids) for origin in session.passes.lineage.origins(key)}
    assert ids & {line.instruction for line in lines}, "the hottest kernel has no line"


def test_times_of_a_profile_colour_the_graph_also_as_measured_by_predicted() -> None:
    session = xe.compile(ROWS)
    assert "measured / predicted" not in [column.title for column in graph_columns(session)]
    times = session.profile(repeats=2).set_index("kernel")["median_us"]
    columns = {column.title: column.values for column in graph_columns(session)}
    measured, predicted = columns["measured time"], columns["predicted time"]
    assert columns["measured / predicted"] == {
        key: measured[key] / predicted[key] for key in measured if predicted.get(key)
    }
    assert own_column(session, times).values == measured, (
        "the row of the whole program is no instruction"
    )


def test_a_what_if_has_its_measures_with_units_and_its_decisions_as_data() -> None:
    session = xe.compile(
        "HloModule m\nENTRY e { x = f32[64] parameter(0)  n = f32[64] negate(x)  ROOT a = f32[64] abs(n) }"
    )
    other, table = what_if(session, [], [("fusion", "n", "a")])
    assert [
        row.kernel for row in SessionSource(other).timings() if row.instruction is not None
    ] == [
        "%wrapped_negate",
        "%wrapped_abs",
    ], "the new compile has the times of its run"
    rows = {row.what: row for row in table.rows}
    assert [row.what for row in table.rows][:3] == [
        "kernels",
        "bytes read and written (estimate)",
        "predicted time, cost model",
    ]
    assert (
        rows["median time"].unit == "us"
        and rows["median time"].less_is_better
        and rows["median time"].spread == max(rows["iqr time"][3:5])
    )
    assert (
        rows["compile time"].unit == "ms"
        and rows["arena bytes"].unit == "bytes"
        and rows["n"].less_is_better is None
    )
    assert not [
        row.what
        for row in table.rows
        if row.what not in [measure.title for measure in MEASURES.values()]
    ]
    changed = {(d.producer, d.consumer): d for d in table.decisions if d.kind == "fusion"}[
        "%n", "%a"
    ]
    assert (changed.now, changed.now_code, changed.before) == (
        "refused",
        "forbidden-by-user",
        "accepted",
    )
    assert [row.granted for row in table.overrides] == [True]


def test_code_in_static_forms_names_its_font() -> None:
    session = xe.compile("ENTRY main { x = f32[1000] parameter(0) ROOT r = f32[1000] tanh(x) }")
    pre = re.findall(r"<pre[^>]*>", session._repr_mimebundle_()["text/html"] + session.to_html())
    assert pre and all("monospace" in tag for tag in pre), "nbconvert's pages do not set one"


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("merge-equal", "a = f32[4] tanh(x)\n  b = f32[4] tanh(x)\n  ROOT r = f32[4] add(a, b)"),
        (
            "constant-folding",
            "c = f32[] constant(2)\n  d = f32[] constant(3)\n  e = f32[] add(c, d)\n"
            "  f = f32[4] broadcast(e), dimensions={}\n  ROOT r = f32[4] add(x, f)",
        ),
        (
            "move-rearrangement",
            "a = f32[2,2] reshape(x)\n  b = f32[2,2] tanh(a)\n  n = f32[2,2] negate(a)\n"
            "  c = f32[2,2] add(b, n)\n  ROOT r = f32[4] reshape(c)",
        ),
    ],
)
def test_what_a_pass_does_without_a_rule_has_a_sentence_and_a_place(rule: str, body: str) -> None:
    session = xe.compile(f"HloModule m\nENTRY e {{\n  x = f32[4] parameter(0)\n  {body}\n}}")
    source = session._explorer_source_()
    rows = [row for step in source.steps() for row in source.rewrites(step.index)]
    assert rule in {row.rule for row in rows}, {row.rule for row in rows}
    assert all(row.sentence.endswith(".") and ".py" in row.place for row in rows), rows
    hot = session.passes.hot_rules()
    assert all(hot.sentence) and all(hot.place), hot
