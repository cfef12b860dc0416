"""Constructs that survive reading and printing, in XLA's spelling and order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.text import HloParseError, PrintOptions, parse_hlo

CORPUS = SHARED / "xla_corpus" / "dev" / "modules.jsonl.gz"


def entry(*lines: str, header: str = "HloModule m") -> str:
    return "\n".join([header, "", "ENTRY e {", *[f"  {line}" for line in lines], "}", ""])


def names(text: str) -> list[str]:
    return [i.name for i in parse_hlo(text).entry.post_order()]


# (a line of an entry with p = f32[4] parameter(0), what its print must hold)
LINES = [
    ("ROOT r = f32[4] negate(p), statistics={visualizing_index=0,a=1.0,b=-2.5}", "statistics={visualizing_index=0,a=1,b=-2.5}"),
    # sharding, each form
    ("ROOT r = f32[4] negate(p), sharding={replicated}", "sharding={replicated}"),
    ("ROOT r = f32[4] negate(p), sharding={maximal device=1}", "sharding={maximal device=1}"),
    ("ROOT r = f32[4] negate(p), sharding={devices=[2]0,1}", "sharding={devices=[2]0,1}"),
    ("ROOT r = f32[4] negate(p), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}", "sharding={devices=[2,2]<=[4] last_tile_dim_replicate}"),
    ("ROOT r = f32[4] negate(p), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}",
     "sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}"),
    ("ROOT r = (f32[4], f32[4]) tuple(p, p), sharding={{replicated}, {manual}}", "sharding={{replicated}, {manual}}"),
    # strings that look like a dictionary are printed as one; others stay strings
    (r'ROOT r = f32[4] negate(p), backend_config="{\"n\":{\"k\":\"6\"}}"', 'backend_config={"n":{"k":"6"}}'),
    (r'ROOT r = f32[4] negate(p), backend_config="{a}{b}"', 'backend_config="{a}{b}"'),
    (r'ROOT r = f32[4] negate(p), backend_config="{a\"}"', r'backend_config="{a\"}"'),
    (r'ROOT r = f32[4] negate(p), backend_config="{(}"', 'backend_config="{(}"'),
    (r'ROOT r = f32[4] negate(p), backend_config="{\"\\\n}\"}"', r'backend_config="{\"\\\n}\"}"'),
    (r'ROOT r = f32[4] negate(p), frontend_attributes={a="{\"\\\n}\"}"}', r'frontend_attributes={a="{\"\\\n}\"}"}'),
    (r"""ROOT r = f32[4] negate(p), backend_config="{'}" """, """backend_config="{'}\""""),
    ('ROOT r = f32[4] negate(p), frontend_attributes={z="1",a="{{1,0}}",k={"x": [1]}}', 'frontend_attributes={a={{1,0}},k={"x": [1]},z="1"}'),
    # what stands where
    ('ROOT r = f32[4] add(p, p), metadata={op_name="x"}, backend_config={}, control-predecessors={p}, sharding={manual}',
     'add(%p, %p), sharding={manual}, control-predecessors={%p}, metadata={op_name="x"}, backend_config={}'),
    ("ROOT r = f32[4] all-gather(p), dimensions={0}, replica_groups={{0}}, use_global_device_ids=true, channel_id=1",
     "all-gather(%p), channel_id=1, replica_groups={{0}}, dimensions={0}, use_global_device_ids=true"),
    ("ROOT r = f32[4] all-to-all(p), dimensions={0}", "all-to-all(%p), replica_groups={}, dimensions={0}"),
    ("ROOT r = f32[4,4] dot(p, p)", "dot(%p, %p), lhs_contracting_dims={}, rhs_contracting_dims={}"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_an_attribute_survives_in_the_spelling_of_xla(line: str, wanted: str) -> None:
    module = parse_hlo(entry("p = f32[4] parameter(0)", line))
    printed = module.to_text()
    assert wanted in printed
    for preset in (PrintOptions.default, PrintOptions.short_parsable, PrintOptions.long):
        again = parse_hlo(module.to_text(preset))
        assert modules_equal(module, again, ignore_metadata=not preset.metadata) is None
    assert parse_hlo(printed).to_text() == printed


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("input_output_alias={ {}:(0,{}) }", "input_output_alias={ {}: (0, {}, may-alias) }"),
        ("buffer_donor={(0,{})}", "buffer_donor={ (0, {}) }"),
        (
            "replica_count=1, num_partitions=1",
            "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n",
        ),
        ("replica_count=2, num_partitions=4", "replica_count=2, num_partitions=4"),
        ('frontend_attributes={b="x",a="{}"}', 'frontend_attributes={a={},b="x"}'),
        # XLA goes by sizes here: real texts hold headers of earlier types
        (
            "entry_computation_layout={(s32[4]{0:T(256)})->s32[4]{0}}",
            "entry_computation_layout={(s32[4]{0:T(256)})->s32[4]{0}}",
        ),
    ],
)
def test_header_attributes_survive(given: str, wanted: str) -> None:
    module = parse_hlo(
        entry(
            "p = f32[4] parameter(0)", "ROOT r = f32[4] negate(p)", header=f"HloModule m, {given}"
        )
    )
    assert wanted in module.to_text()
    assert modules_equal(module, parse_hlo(module.to_text())) is None


TABLES = """HloModule m

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  p = f32[4] parameter(0), metadata={op_name="x" stack_frame_id=1}
  ROOT r = f32[4] negate(p), metadata={op_type="neg" op_name="y" source_file="old.py" source_line=7}
}
"""


def test_both_forms_of_sources_survive(tmp_path: Path) -> None:
    module = parse_hlo(TABLES)
    again = parse_hlo(module.to_text())
    assert modules_equal(module, again) is None
    assert again.frames is not None and again.frames.stack(
        again.find("p").op_metadata.stack_frame_id
    )[0] == ("model.py", "f", 3)
    assert again.find("r").op_metadata[2:4] == ("old.py", 7)
    packed = tmp_path / "module.hlo.gz"
    packed.write_bytes(gzip.compress(TABLES.encode()))
    assert modules_equal(xe.load(packed), module) is None
    without = module.to_text(PrintOptions.default.but(metadata=False))
    assert "FileNames" not in without and "metadata" not in without


def test_instructions_stand_in_the_order_of_xla() -> None:
    """Printed order is depth first from unused instructions, as in XLA.

    Operands go from left to right; control predecessors come before them, the last one first.
    """
    body = ("d = f32[] parameter(1)", "p = f32[] parameter(0)", "unused = f32[] negate(d)", "a = f32[] negate(p)", "b = f32[] exponential(d)",
            "c = f32[] add(b, a)", "w = f32[] cosine(p), control-predecessors={a, b}", "ROOT r = f32[] multiply(w, c)")  # fmt: skip
    assert names(entry(*body)) == ["d", "unused", "b", "p", "a", "w", "c", "r"]
    scheduled = entry(*body, header="HloModule m, is_scheduled=true")
    printed = [
        line.split(" = ")[0].split("%")[1]
        for line in parse_hlo(scheduled).to_text().splitlines()
        if " = " in line
    ]
    assert printed == ["d", "p", "unused", "a", "b", "c", "w", "r"]


def test_the_order_is_that_of_its_own_text() -> None:
    text = parse_hlo(
        entry(
            "a = f32[] parameter(0)",
            "b = f32[] negate(a)",
            "x = f32[] add(b, a)",
            "ROOT y = f32[] add(x, b)",
        )
    ).to_text()
    assert parse_hlo(text).to_text() == text


def test_a_cycle_has_no_order() -> None:
    module = parse_hlo(
        entry(
            "p = f32[] parameter(0)",
            "a = f32[] negate(p)",
            "b = f32[] negate(a)",
            "ROOT r = f32[] add(b, p)",
        )
    )
    a, b = module.find("a"), module.find("b")
    module.entry.replace_operand(a, 0, b)
    with pytest.raises(ValueError, match="depends on itself"):
        module.entry.post_order()
    module.entry.replace_operand(
        module.entry.root, 0, module.find("p")
    )  # now nothing outside reaches the cycle
    with pytest.raises(ValueError, match="depends on itself"):
        module.entry.post_order()


def test_the_body_of_a_loop_stands_before_its_condition() -> None:
    module = parse_hlo("""
c { s = s32[] parameter(0)
  n = s32[] constant(3)
  ROOT l = pred[] compare(s, n), direction=LT }
b { ROOT s = s32[] parameter(0) }
ENTRY e { p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=c, body=b }""")
    printed = module.to_text()
    assert printed.index("%b ") < printed.index("%c ") < printed.index("ENTRY")


def test_names_are_numbered_as_xla_numbers_them() -> None:
    """Names are numbered as by jaxlib: `add` and `add.0` are both number 0 of add.

    Leading zeros do not count.
    """
    body = ("_p = f32[] parameter(0)", "add.0 = f32[] add(_p, _p)", "add = f32[] add(add.0, _p)", "x.007 = f32[] add(add, add.0)",
            "ROOT x.7 = f32[] negate(x.007)")  # fmt: skip
    assert names(entry(*body)) == ["_p", "add.0", "add.1", "x.7", "x.0"]
    module = parse_hlo(
        "f.0 { ROOT a = f32[] parameter(0) }\nf { ROOT a = f32[] parameter(0) }\nENTRY e { p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=f }"
    )
    assert (
        list(module.computations) == ["f.0", "f.1", "e"]
        and module.entry.root.to_apply.name == "f.1"
    )


def test_the_operation_of_a_short_asynchronous_form_takes_no_name_that_stands_in_the_text() -> None:
    """The operation of a short async form takes a name that the text does not use.

    XLA calls it `negate` and renumbers the text's name by their places: names would change with the
    printed order.
    """
    short = entry(
        "negate = f32[2] parameter(0)",
        "s = ((f32[2]), f32[2], s32[]) negate-start(negate)",
        "ROOT d = f32[2] negate-done(s)",
    )
    assert names(short) == ["negate", "s", "d"]
    two = entry("p = f32[2] parameter(0)", "s = ((f32[2]), f32[2], s32[]) negate-start(p)", "t = ((f32[2]), f32[2], s32[]) negate-start(p)",
                "d = f32[2] negate-done(s)", "e = f32[2] negate-done(t)", "ROOT r = (f32[2], f32[2]) tuple(e, d)")  # fmt: skip
    module = parse_hlo(two)
    assert modules_equal(module, parse_hlo(module.to_text())) is None


def test_short_asynchronous_forms_stay_short_where_two_computations_give_them_one_name() -> None:
    inner = "{ p = f32[2] parameter(0)\n s = ((f32[2]), f32[2], s32[]) negate-start(p)\n ROOT d = f32[2] negate-done(s) }"
    module = parse_hlo(
        entry(
            "p = f32[2] parameter(0)",
            f"a = f32[2] call(p), to_apply={inner}",
            f"ROOT b = f32[2] call(a), to_apply={inner}",
        )
    )
    printed = module.to_text()
    assert (
        printed.count(" negate-start(") == printed.count(" negate-done(") == 2
        and "async_computation" not in printed
    )
    assert parse_hlo(printed).to_text() == printed


def test_what_a_short_asynchronous_form_wraps_is_called_after_the_last_name_of_its_start() -> None:
    """The wrapped operation is named after the last name of its start, not the text's.

    Both computations have an `s`, and the second an `s.1` besides, which then gives way.
    """
    start = "s = ((f32[2]), f32[2]) negate-start(p)\n d = f32[2] negate-done(s)"
    one = f"{{ p = f32[2] parameter(0)\n {start} }}"
    two = one.replace(
        "}", "\n s.1 = ((f32[2]), f32[2]) sine-start(d)\n e = f32[2] sine-done(s.1) }"
    )
    module = parse_hlo(
        entry(
            "p = f32[2] parameter(0)",
            f"a = f32[2] call(p), to_apply={one}",
            f"ROOT b = f32[2] call(a), to_apply={two}",
        )
    )
    wrapped = {
        i.name: i.called[0].name for i in module.instructions() if i.opcode.name == "async-start"
    }
    assert wrapped == {name: f"{name}.async_computation" for name in ("s", "s.1", "s.2")}
    assert modules_equal(module, parse_hlo(module.to_text())) is None


PRESETS = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[8,4] parameter(0), metadata={op_name="x"}
  z = f32[] constant(0.5)
  k = s32[2] constant({3, 1})
  o = f32[2] constant({1, 1})
  w = f32[8] reduce(p, z), dimensions={1}, to_apply=add, control-predecessors={k}, backend_config={"a":1}
  g = f32[4,4,16] reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=add
  ROOT t = (f32[8], f32[8], f32[8], f32[8], f32[8], f32[8]) tuple(w, w, w, w, w, w) }
"""


def test_presets_as_xla_prints_them() -> None:
    """The presets `canonical` and `fingerprint`, as jaxlib 0.10.2 prints them.

    Only the order of equal computations may differ.
    """
    module = parse_hlo(PRESETS)
    body = [
        "{",
        "  tmp_0 = f32[] parameter(0)",
        "  tmp_1 = f32[] parameter(1)",
        "  ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)",
        "}",
    ]
    nested = "\n".join(["", *["  " + line for line in body]])
    canonical = module.to_text(PrintOptions.canonical)
    assert canonical.startswith("HloModule m, entry_computation_layout=")
    assert "\n".join(["add " + body[0], *body[1:]]) in canonical and "ENTRY e {" in canonical
    assert (
        f"= f32[8]{{0}} reduce(f32[8,4]{{1,0}} tmp_2, f32[] tmp_4), dimensions={{1}}, to_apply={nested}\n"
        in canonical
    )
    assert (
        f"reduce-scatter(f32[8,4]{{1,0}} tmp_2), replica_groups={{}}, dimensions={{0}}, calls={nested}\n"
        in canonical
    )
    assert (
        "f32[8]{0}, /*index=5*/f32[8]{0}) tuple(" in canonical
        and "metadata" not in canonical
        and "control-pred" not in canonical
    )
    assert "constant({3, 1})" in canonical and "constant(0.5)" in canonical
    fingerprint = module.to_text(PrintOptions.fingerprint)
    assert (
        fingerprint.startswith("HloModule , entry_")
        and "\n{\n" in fingerprint
        and "ENTRY {" in fingerprint
    )
    assert (
        "constant({...})" in fingerprint
        and "constant({3, 1})" in fingerprint
        and "f32[2]{0} constant(1)" in fingerprint
    )
    assert "/*index=5*/w" not in module.to_text(PrintOptions.short_parsable)


def test_what_xla_adds_and_drops_when_it_reads() -> None:
    module = parse_hlo(
        """HloModule m, allow_spmd_sharding_propagation_to_output=true
f { ROOT a = f32[] parameter(0) }
ENTRY e { p = f32[3,4]{1,0:S(0)} parameter(0)
  c = s4[2]{0:E(4)} constant({1, 2})
  m = f32[3,4] map(p), to_apply=f
  x = f32[3,4] exponential(m), result_accuracy={tolerance={rtol=0.5, ulps=2}}
  y = f32[3,4] exponential(x), result_accuracy={mode=DEFAULT}
  t = token[] after-all()
  o = token[] outfeed(y, t)
  s = ((f32[3,4]), f32[3,4], s32[]) async-start(y), calls=g, async_execution_thread="other"
  d = f32[3,4] async-done(s)
  ROOT k = f32[3,4] custom-call(d), custom_call_target="x", operand_layout_constraints={ f32[3,4]{1,0} }
}""".replace(
            "ENTRY",
            "h { q = f32[3,4] parameter(0)\n ROOT n = f32[3,4] negate(q) }\ng { u = f32[3,4] parameter(0)\n ROOT v = f32[3,4] call(u), to_apply=h }\nENTRY",
        )
    )
    printed = module.to_text()
    for wanted in ("allow_spmd_sharding_propagation_to_output={true}", "%p = f32[3,4]{1,0} parameter", "%c = s4[2]{0} constant", "dimensions={0,1}, to_apply=%f",
                   "result_accuracy={tolerance={atol=0,rtol=0.5,ulps=2}}", "exponential(%x)\n", "outfeed(%y, %t), outfeed_shape=f32[3,4]{1,0}",
                   "operand_layout_constraints={f32[3,4]{1,0}}"):  # fmt: skip
        assert wanted in printed, wanted
    assert {c.name for c in module.computations.values() if c.execution_thread == '"other"'} == {
        "g",
        "h",
    }
    assert parse_hlo(printed).to_text() == printed


def test_computations_stand_where_they_stand_in_the_print_of_the_print() -> None:
    """By where their callers are printed, not by where they stood in the text."""
    module = parse_hlo("""
f { ROOT a = f32[2] parameter(0) }
g { ROOT b = f32[2] parameter(0) }
ENTRY e { p = f32[2] parameter(0)
  x = f32[2] call(p), to_apply=f
  y = f32[2] call(p), to_apply=g
  ROOT r = f32[2] add(y, x) }""")
    printed = module.to_text()
    assert printed.index("%g ") < printed.index("%f ") < printed.index("ENTRY")
    assert parse_hlo(printed).to_text() == printed


@pytest.mark.shared
@pytest.mark.skipif(
    not CORPUS.is_file(), reason="the corpus of XLA's tests is not beside the checkout"
)
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_the_print_of_a_text_of_the_corpus_is_settled(every: int) -> None:
    with gzip.open(CORPUS, "rt") as lines:
        texts = [(row["name"], row["hlo"]) for row in map(json.loads, lines) if row["valid"]]
    for name, text in texts[::every]:
        printed = parse_hlo(text).to_text()
        assert parse_hlo(printed).to_text() == printed, name


def test_comments_in_metadata_hide_what_stands_in_them() -> None:
    """As in XLA; both readers agree, and what is printed is read again as the same."""
    for line in (
        "ROOT r = f32[] negate(p), metadata={//}\n  }",
        'ROOT r = f32[] negate(p), metadata={op_name="a" /* } */ }',
    ):
        for text in (
            entry("p = f32[] parameter(0)", line),
            entry("p = f32[] parameter(0)", line.replace("negate(p)", "negate( p )")),
        ):
            module = parse_hlo(text)
            assert modules_equal(parse_hlo(module.to_text()), module) is None
            assert "/" not in module.to_text()
    web = 'metadata={op_name="https://a/*b" source_line=3}'
    module = parse_hlo(entry("p = f32[] parameter(0)", f"ROOT r = f32[] negate(p), {web}"))
    assert web in module.to_text() and module.entry.root.op_metadata.source_line == 3


def test_names_that_xla_keeps_for_itself() -> None:
    with pytest.raises(HloParseError, match="illegal instruction name: __p"):
        parse_hlo(entry("ROOT __p = f32[] parameter(0)"))
    assert names(entry("ROOT __xla_p = f32[] parameter(0)")) == ["__xla_p"]


def test_a_keyword_as_a_name_is_printed_with_its_percent_sign() -> None:
    module = parse_hlo(
        "ENTRY %replicated { %true = f32[] parameter(0)\n ROOT r = f32[] add(%true, %true) }"
    )
    short = module.to_text(PrintOptions.short_parsable)
    assert "ENTRY %replicated {" in short and "ROOT r = f32[] add(%true, %true)" in short
    assert modules_equal(module, parse_hlo(short)) is None


@pytest.mark.parametrize(
    ("shape", "value", "wanted"),
    [
        ("f32[2,1]", "{{1},{2}}", "{ {1}, {2} }"),
        ("f32[1,2,2]", "{{{1,2},{3,4}}}", "{ { { 1, 2 }, { 3, 4 } } }"),
        (
            "f32[2,1,1,2]",
            "{{{{1,2}}},{{{3,4}}}}",
            "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } } }, { /*i0=1*/ { /*i1=0*/ { 3, 4 } } } }",
        ),
        ("f32[11]", "{1,2,3,4,5,6,7,8,9,10,11}", "{...}"),
    ],
)
def test_constants_as_xla_shows_them(shape: str, value: str, wanted: str) -> None:
    text = entry(f"ROOT c = {shape} constant({value})")
    assert f"constant({wanted})" in parse_hlo(text).to_text(PrintOptions.elided)
    assert modules_equal(parse_hlo(text), parse_hlo(parse_hlo(text).to_text())) is None


@pytest.mark.parametrize("blank", [" ", "\\n", "\u2028", "\x0b"])
def test_white_space_in_front_of_a_configuration_stays(blank: str) -> None:
    module = parse_hlo(
        f'e {{\n  ROOT r = f32[] custom-call(), custom_call_target="t", backend_config="{blank}{{a = 1 : i32}}"\n}}\n'
    )
    assert modules_equal(parse_hlo(module.to_text()), module) is None


def test_white_space_at_the_end_of_a_configuration_stays() -> None:
    module = parse_hlo(
        'HloModule m\nENTRY e {\n  ROOT r = f32[] custom-call(), custom_call_target="t", backend_config="{a = 1 : i32}\\t "\n}\n'.replace(
            "\\t", "\x0b"
        )
    )
    assert modules_equal(parse_hlo(module.to_text()), module) is None


def test_a_thread_is_one_string() -> None:
    text = 'HloModule m\nENTRY e {\n  p = s32[] parameter(0)\n  s = ((s32[]), s32[]) negate-start(p), async_execution_thread="a""b"\n  ROOT d = s32[] negate-done(s)\n}\n'
    with pytest.raises(HloParseError, match="expects the name of an instruction"):
        parse_hlo(text)
    parse_hlo(text.replace('"a""b"', '"a"'))


@pytest.mark.parametrize(
    ("groups", "problem"),
    [("[1,128]<=[128128128]", "more than"), ("[1,128]<=[64]", "128 places for 64 devices")],
)
def test_replica_groups_that_ask_for_too_much_are_refused(groups: str, problem: str) -> None:
    text = f"HloModule m, num_partitions=32\nENTRY e {{\n  p = f32[128] parameter(0)\n  ROOT r = f32[4096] all-gather(p), dimensions={{0}}, channel_id=1, use_global_device_ids=true, replica_groups={groups}\n}}\n"
    with pytest.raises(HloParseError, match=problem):
        parse_hlo(text)
