"""Random well-formed texts with every attribute: parse(print(m)) is m, for each preset."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.drawn import DRAWN
from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.text import PrintOptions, parse_hlo
from xla_explorer.hlo.verifier import violations

# (preset, keeps metadata): what these print is the same module. The others lose names or values on
# purpose.
PROMISES = {
    "default": (PrintOptions.default, True),
    "long": (PrintOptions.long, True),
    "short_parsable": (PrintOptions.short_parsable, False),
    "no comments": (PrintOptions.default.but(index_comments=False), True),
    "no signatures": (PrintOptions.default.but(program_shape=False, percent=False), True),
    "deep indent": (PrintOptions.default.but(indent=7), True),
}
WORDS = st.text(string.ascii_letters + string.digits + "_./ -()[]{}<>=,:'é⟨\\\"", max_size=12)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,10}", fullmatch=True)


def quoted(word: str) -> str:
    """Return a string of HLO text."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def json_texts(draw: st.DrawFn, depth: int = 2) -> str:
    """Draw a JSON object, spelled with and without blanks."""
    gap = draw(st.sampled_from(["", " "]))
    values = st.one_of(
        st.integers(-(2**40), 2**40).map(str),
        st.sampled_from(["true", "null", "1.5e-3"]),
        WORDS.map(quoted),
    )
    if depth:
        values = st.one_of(
            values,
            json_texts(depth - 1),
            st.lists(values, max_size=3).map(lambda v: "[" + ("," + gap).join(v) + "]"),
        )
    items = draw(st.dictionaries(NAMES, values, max_size=3))
    return "{" + ("," + gap).join(f'"{key}":{gap}{value}' for key, value in items.items()) + "}"


SHARDINGS = st.sampled_from(
    [
        "{replicated}", "{manual}", "{maximal device=3}", "{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}", "{devices=[2,1]0,1}",
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", "{replicated shard_as 1}",
        '{replicated metadata={op_name="a b"}}', '{devices=[2,1]<=[2] metadata={{op_name="x"}, {op_name="y"}}}',
    ]
)  # fmt: skip


@st.composite
def tails(draw: st.DrawFn, matrix: bool = True) -> str:
    """Draw the attributes that any instruction may carry, in XLA's order.

    matrix: shardings of two dimensions fit it.
    """
    found = []
    if matrix and draw(st.booleans()):
        found.append(f"sharding={draw(SHARDINGS)}")
    if draw(st.integers(0, 3)) == 0:
        pairs = draw(st.dictionaries(NAMES, WORDS, min_size=1, max_size=3))
        found.append(
            "frontend_attributes={"
            + ",".join(f"{key}={quoted(value)}" for key, value in pairs.items())
            + "}"
        )
    if draw(st.booleans()):
        fields = [f"op_name={quoted(draw(WORDS))}"] if draw(st.booleans()) else []
        if draw(st.booleans()):
            fields += [
                f"source_file={quoted(draw(WORDS))}",
                f"source_line={draw(st.integers(1, 10**6))}",
            ]
        fields.append(f"stack_frame_id={draw(st.integers(1, 3))}")
        found.append("metadata={" + " ".join(fields) + "}")
    if draw(st.integers(0, 2)) == 0:
        found.append("backend_config=" + draw(st.one_of(json_texts(), WORDS.map(quoted))))
    if draw(st.integers(0, 5)) == 0:
        found.append(
            f"statistics={{visualizing_index={draw(st.integers(0, 1))},a={draw(st.sampled_from(['3', '0.5', '-2']))}}}"
        )
    return "".join(f", {one}" for one in found)


TABLES = """FileNames
1 "model.py"
2 "a \\"b\\".py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=2 function_name_id=1 line=30 end_line=31 column=4 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}
3 {file_location_id=1 parent_frame_id=2}

"""
NUMBERS = {
    "f32": st.floats(width=32, allow_nan=False).map(lambda v: f"{v:.9g}")
    | st.sampled_from(["nan", "-nan", "inf", "-0", "nan(0x1234)"]),
    "bf16": st.sampled_from(["0", "-1.5", "3.39e+38", "inf", "nan"]),
    "s32": st.integers(-(2**31), 2**31 - 1).map(str),
    "u64": st.integers(0, 2**64 - 1).map(str),
    "s4": st.integers(-8, 7).map(str),
    "pred": st.sampled_from(["0", "1"]),
    "c64": st.tuples(st.sampled_from(["0", "-1.5", "nan"]), st.sampled_from(["inf", "2"])).map(
        lambda p: f"({p[0]}, {p[1]})"
    ),
}


@st.composite
def literals(draw: st.DrawFn) -> tuple[str, str]:
    """(shape, literal)."""
    kind = draw(st.sampled_from(sorted(NUMBERS)))
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))

    def write(level: int) -> str:
        if level == len(sizes):
            text = draw(NUMBERS[kind])
            return {"0": "false", "1": "true"}[text] if kind == "pred" and not sizes else text
        return "{" + ", ".join(write(level + 1) for _ in range(sizes[level])) + "}"

    return f"{kind}[{','.join(map(str, sizes))}]", write(0)


@st.composite
def headers(draw: st.DrawFn) -> str:
    """Draw the first line of a module, with each of its attributes or without."""
    header = [f"HloModule {draw(NAMES)}_m"]
    if draw(st.booleans()):
        header.append("is_scheduled=true")
    alias, donors = draw(st.booleans()), draw(st.booleans())
    if alias:
        header.append(
            f"input_output_alias={{ {{0}}: (0, {{}}, {draw(st.sampled_from(['may-alias', 'must-alias']))}) }}"
        )
    if donors:
        header.append("buffer_donor={ (1, {}) }")
    if draw(st.booleans()):
        header.append(
            f"replica_count={draw(st.integers(1, 8))}, num_partitions={draw(st.integers(1, 8))}"
        )
    if draw(st.booleans()):
        header.append(f"frontend_attributes={{{draw(NAMES)}={quoted(draw(WORDS))}}}")
    return ", ".join(header)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Draw a module: a reducer, a callee, and a chain over values of one shape."""
    order = draw(st.sampled_from(["{1,0}", "{0,1}", "", "{1,0:T(8,128)}", "{1,0:S(1)}"]))
    shape = f"f32[4,6]{order}"
    header = draw(headers())
    percent = draw(st.sampled_from(["%", ""]))
    lines = [header, "", TABLES.rstrip() + "\n" if draw(st.booleans()) else ""]
    lines += [
        f"{percent}adder {{",
        f"  {percent}a.1 = f32[] parameter(0)",
        f"  {percent}b.1 = f32[] parameter(1){draw(tails(False))}",
    ]
    lines += [f"  ROOT {percent}s.1 = f32[] add({percent}a.1, {percent}b.1)", "}", ""]
    thread = draw(st.sampled_from(["", ', execution_thread="main"']))
    lines += [
        f"{percent}callee {{",
        f"  ROOT {percent}n.1 = {shape} negate({percent}q.1)",
        f"}}{thread}",
        "",
    ]
    lines.insert(-3, f"  {percent}q.1 = {shape} parameter(0){draw(tails())}")
    lines += [f"ENTRY {percent}main {{", f"  {percent}p0 = {shape} parameter(0){draw(tails())}"]
    lines += [f"  {percent}p1 = {shape} parameter(1)", f"  {percent}zero = f32[] constant(0)"]
    values, everything = ["p0", "p1"], ["p0", "p1", "zero"]
    for number in range(draw(st.integers(1, 8))):
        x, y = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        kind_of_line = draw(st.integers(0, 8))
        name, tail = f"v.{number}", draw(tails(kind_of_line not in (3, 8)))
        if draw(st.integers(0, 3)) == 0:
            chosen = draw(
                st.lists(st.sampled_from(everything), min_size=1, max_size=3, unique=True)
            )
            tail = (
                ", control-predecessors={" + ", ".join(percent + one for one in chosen) + "}" + tail
            )
        everything.append(name)
        o, p = f"{percent}{x}", f"{percent}{y}"
        match kind_of_line:
            case 0:
                body = f"{shape} add({o}, {p})"
            case 1:
                body = f"{shape} call({o}), to_apply={percent}callee"
            case 2:
                kind = draw(st.sampled_from(["kLoop", "kInput", "kCustom"]))
                body = f"{shape} fusion({o}), kind={kind}, calls={percent}callee"
            case 3:
                lines.append(
                    f"  {percent}r.{number} = f32[4]{{0}} reduce({o}, {percent}zero), dimensions={{1}}, to_apply={percent}adder{tail}"
                )
                body, tail = f"{shape} broadcast({percent}r.{number}), dimensions={{0}}", ""
            case 4:
                body = f"{shape} reduce-window({o}, {percent}zero), window={{size=1x3 pad=0_0x1_1}}, to_apply={percent}adder"
            case 5:
                target = quoted(draw(WORDS))
                body = f"{shape} custom-call({o}, {p}), custom_call_target={target}, custom_call_has_side_effect=true"
            case 6:
                body = f"{shape} all-reduce({o}), channel_id=1, replica_groups={{{{0,1}},{{2,3}}}}, to_apply={percent}adder"
            case 7:
                accuracy = draw(st.sampled_from(["", ", result_accuracy={mode=highest}"]))
                body = f"{shape} exponential({o}){accuracy}"
            case _:
                constant_shape, literal = draw(literals())
                lines.append(f"  {percent}k.{number} = {constant_shape} constant({literal}){tail}")
                everything.append(f"k.{number}")
                body, tail = f"{shape} maximum({o}, {p})", ""
        lines.append(f"  {percent}{name} = {body}{tail}")
        values.append(name)
    outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=8))
    inside = ", ".join([shape] * len(outputs))
    lines += [
        f"  ROOT {percent}out = ({inside}) tuple({', '.join(percent + one for one in outputs)})",
        "}",
        "",
    ]
    return "\n".join(lines)


@pytest.mark.long
@settings(DRAWN, max_examples=15)
@given(modules())
def test_what_is_printed_is_read_as_the_same_module(text: str) -> None:
    module = parse_hlo(text)
    assert violations(module) == [], text
    for name, (options, metadata) in PROMISES.items():
        printed = module.to_text(options)
        again = parse_hlo(printed)
        difference = modules_equal(module, again, ignore_metadata=not metadata)
        assert difference is None, f"{name}: {difference}\n{printed}"
        # The order of computations follows that in which calls were made, as in XLA, which printing
        # changes once.
        second = again.to_text(options)
        assert sorted(second.split("\n\n")) == sorted(printed.split("\n\n")), name
        assert parse_hlo(second).to_text(options) == second, name
        if metadata:
            assert (again.frames.text if again.frames else "") == (
                module.frames.text if module.frames else ""
            )
            scheduled = {name: c.schedule is not None for name, c in module.computations.items()}
            assert {
                name: c.schedule is not None for name, c in again.computations.items()
            } == scheduled


@settings(DRAWN, max_examples=15)
@given(modules(), st.integers(0, 99))
def test_canonical_texts_do_not_depend_on_names(text: str, salt: int) -> None:
    module, other = parse_hlo(text), parse_hlo(text)
    for computation in other.computations.values():
        for i in computation.instructions.values():
            computation.set_name(i, f"renamed.{salt}.{i.id}")
    assert module.to_text(PrintOptions.canonical) == other.to_text(PrintOptions.canonical)
    other.name = f"other_{salt}"
    assert modules_equal(module, other, ignore_names=True) is None
    assert module.to_text(PrintOptions.fingerprint) == other.to_text(PrintOptions.fingerprint)
