"""What keeps the parser fast, guarded by counting instead of timing."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.text import PrintOptions, module_text_with_lines, parse_hlo
from xla_explorer.hlo.text.parser import _Parser

WORKLOADS = Path(__file__).resolve().parents[4] / "shared" / "perf" / "dev" / "workloads"


def ordinary_text(count: int, seed: int = 3) -> str:
    """A module as XLA prints it: ordinary operations on two shapes, with metadata on each."""
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
        metadata = f', metadata={{op_name="jit(f)/step{number}" source_file="model.py" source_line={number}}}'
        match number % 4:
            case 0:
                lines.append(f"  %{name} = f32[8,4]{{1,0}} add(%{operand}, %{names[-1]}){metadata}")
            case 1:
                lines.append(f"  %{name} = f32[8,4]{{1,0}} exponential(%{operand}){metadata}")
            case 2:
                lines.append(
                    f"  %r.{number} = f32[8]{{0}} reduce(%{operand}, %zero), dimensions={{1}}, to_apply=%sum{metadata}"
                )
                lines.append(f"  %{name} = f32[8,4]{{1,0}} broadcast(%r.{number}), dimensions={{0}}{metadata}")
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
    assert parser.slow_lines == 0
    assert parser.fast_lines == module.instruction_count()
    assert parser.attribute_reads <= 3
    attributes = {id(i.attributes) for i in module.instructions()}
    assert len(attributes) <= 4


def test_text_that_we_print_takes_the_fast_path() -> None:
    module = parse_hlo(ordinary_text(200))
    for options in (PrintOptions.default, PrintOptions.long, PrintOptions.short_parsable):
        parser = _Parser(module.to_text(options), None)
        again = parser.parse()
        assert parser.slow_lines == 0
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


@pytest.mark.shared
@pytest.mark.skipif(not WORKLOADS.is_dir(), reason="the performance workloads are not beside the checkout")
def test_workloads_round_trip_on_the_fast_path() -> None:
    fast = slow = 0
    for path in sorted(WORKLOADS.glob("*.hlo*")):
        if "100000.hlo" in path.name:
            continue
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        parser = _Parser(text, path.name)
        module = parser.parse()
        fast, slow = fast + parser.fast_lines, slow + parser.slow_lines
        printed = module.to_text()
        again = parse_hlo(printed)
        assert modules_equal(module, again) is None, path.name
        assert again.to_text() == printed, path.name
    assert slow <= 0.015 * (fast + slow)
