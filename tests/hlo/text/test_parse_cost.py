"""Costs of the parser, counted instead of timed."""

from __future__ import annotations

import gc
import gzip
import random
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.corpora import SHARED
from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.text import PrintOptions, module_text_with_lines, parse_hlo
from xla_explorer.hlo.text.parser import _Parser

WORKLOADS = SHARED / "perf" / "dev" / "workloads"


def ordinary_text(count: int, seed: int = 3) -> str:
    """Return a module as XLA prints it: ordinary operations on two shapes, with metadata."""
    generator = random.Random(seed)
    lines = [
        "HloModule ordinary, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}",
        "",
        "%sum (a: f32[], b: f32[]) -> f32[] {",
        "  %a = f32[] parameter(0)",
        "  %b = f32[] parameter(1)",
        "  ROOT %s = f32[] add(%a, %b)",
        "}",
        "",
        "ENTRY %main (p: f32[8,4]) -> f32[8,4] {",
        "  %p = f32[8,4]{1,0} parameter(0)",
        "  %zero = f32[] constant(0)",
    ]
    names = ["p"]
    for number in range(count):
        name, operand = f"i.{number}", generator.choice(names[-9:])
        metadata = f', metadata={{op_name="jit(f)/step{number}" source_file="model.py" source_line={number + 1}}}'
        match number % 4:
            case 0:
                lines.append(f"  %{name} = f32[8,4]{{1,0}} add(%{operand}, %{names[-1]}){metadata}")
            case 1:
                lines.append(f"  %{name} = f32[8,4]{{1,0}} exponential(%{operand}){metadata}")
            case 2:
                lines.append(
                    f"  %r.{number} = f32[8]{{0}} reduce(%{operand}, %zero), dimensions={{1}}, to_apply=%sum{metadata}"
                )
                lines.append(
                    f"  %{name} = f32[8,4]{{1,0}} broadcast(%r.{number}), dimensions={{0}}{metadata}"
                )
            case _:
                lines.append(
                    f"  %{name} = f32[8,4]{{0,1}} transpose(%{operand}), dimensions={{1,0}}, "
                    f"sharding={{replicated}}{metadata}"
                )
        names.append(name)
    return "\n".join([*lines, f"  ROOT %root = f32[8,4]{{1,0}} copy(%{names[-1]})", "}", "", ""])


def test_ordinary_lines_take_the_fast_path_and_tails_are_read_once() -> None:
    parser = _Parser(ordinary_text(2000), None)
    module = parser.parse()
    assert parser.body.slow_lines == 0
    assert parser.body.fast_lines == module.instruction_count()
    assert parser.body.attribute_reads <= 3
    attributes = {id(i.attributes) for i in module.instructions()}
    assert len(attributes) <= 4


def test_text_that_we_print_takes_the_fast_path() -> None:
    module = parse_hlo(ordinary_text(200))
    for options in (PrintOptions.default, PrintOptions.long, PrintOptions.short_parsable):
        parser = _Parser(module.to_text(options), None)
        again = parser.parse()
        assert parser.body.slow_lines == 0
        assert modules_equal(module, again, ignore_metadata=not options.metadata) is None


def test_lines_of_the_printed_text() -> None:
    module = parse_hlo(ordinary_text(50))
    text, where = module_text_with_lines(module)
    assert text == module.to_text()
    lines = text.split("\n")
    by_id = {i.id: i for i in module.instructions()}
    assert sorted(where.values()) == sorted(by_id)
    for line, number in where.items():
        assert f"%{by_id[number].name} = " in lines[line - 1]


def bytes_per_instruction(text: str) -> float:
    """Return the bytes that a parsed module holds per instruction, without the text."""
    parse_hlo(ordinary_text(4))  # shapes and attributes are made once and stay
    gc.collect()
    tracemalloc.start()
    try:
        module = parse_hlo(text)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / module.instruction_count()
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_an_instruction_takes_less_than_650_bytes_with_metadata_of_its_own() -> None:
    """At most, wherever the tables of names and of instructions have just doubled."""
    found = {count: bytes_per_instruction(ordinary_text(count)) for count in (2_000, 3_000, 4_250)}
    assert all(size <= 650 for size in found.values()), found


@pytest.mark.slow
def test_a_hundred_thousand_instructions_take_less_than_650_bytes_each() -> None:
    assert bytes_per_instruction(ordinary_text(80_000)) <= 650


def calls_of(function: Callable[[], Any]) -> int:
    """Return the number of Python and C functions that one call of `function` calls.

    Counting keeps the work comparable on a busy machine.
    """
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_work_for_each_instruction_does_not_grow_with_the_module() -> None:
    """Parsing, ordering, printing and snapshots take equal calls per instruction at 8x size."""
    per_instruction: dict[str, list[float]] = {}
    for count in (1_000, 8_000):
        text = ordinary_text(count)
        module = parse_hlo(text)
        instructions = module.instruction_count()
        work: dict[str, Callable[[], Any]] = {
            "parse": lambda text=text: parse_hlo(text),
            "order": module.entry.post_order,
            "print": module.to_text,
            "snapshot": module.snapshot,
        }
        for name, function in work.items():
            per_instruction.setdefault(name, []).append(calls_of(function) / instructions)
    for name, (small, large) in per_instruction.items():
        assert large <= 1.05 * small + 0.1, (
            f"{name}: {small:.2f} calls for each instruction of the small module, {large:.2f} of the large"
        )
    assert per_instruction["parse"][1] < 26 and per_instruction["print"][1] < 8, per_instruction


def test_losing_one_of_many_users_does_not_look_at_the_others() -> None:
    lines = "\n".join([f"  n.{k} = f32[] negate(p)" for k in range(3_000)])
    module = parse_hlo(f"e {{\n  p = f32[] parameter(0)\n{lines}\n  ROOT r = f32[] negate(p)\n}}")
    entry = module.entry
    p = module.find("p")
    assert isinstance(p.users, dict) and len(p.users) == 3_001
    assert isinstance(module.find("r").users, tuple)
    for i in list(p.users)[:3_000]:
        entry.remove(i)
    assert list(p.users) == [entry.root]


def test_a_few_users_stay_in_order_and_once() -> None:
    module = parse_hlo(
        "e { p = f32[] parameter(0)\n a = f32[] add(p, p)\n b = f32[] multiply(p, a)\n ROOT c = f32[] add(b, p) }"
    )
    entry = module.entry
    p, a, b, c = map(module.find, "pabc")
    assert list(p.users) == [a, b, c]
    entry.replace_operand(b, 0, a)
    assert list(p.users) == [a, c] and list(a.users) == [b]
    entry.replace(a, p)
    assert list(p.users) == [a, c, b] and not a.users
    for _ in range(12):
        entry.add("negate", operands=[p])
    assert len(p.users) == 15 and p.users == dict.fromkeys(p.users)


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.skipif(
    not WORKLOADS.is_dir(), reason="the performance workloads are not beside the checkout"
)
def test_workloads_round_trip_on_the_fast_path() -> None:
    fast = slow = 0
    for path in sorted(WORKLOADS.glob("*.hlo*")):
        if "100000.hlo" in path.name:
            continue
        text = (
            gzip.decompress(path.read_bytes()).decode()
            if path.suffix == ".gz"
            else path.read_text()
        )
        parser = _Parser(text, path.name)
        module = parser.parse()
        fast, slow = fast + parser.body.fast_lines, slow + parser.body.slow_lines
        printed = module.to_text()
        again = parse_hlo(printed)
        assert modules_equal(module, again) is None, path.name
        assert again.to_text() == printed, path.name
    assert slow <= 0.015 * (fast + slow)
