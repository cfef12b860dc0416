"""A short run of the fuzzer, a long one with the marker `slow`, and every earlier finding."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hlo.text.fuzz import SEEDS, examine, mutate

FUZZER = Path(__file__).resolve().parent / "fuzz.py"

# Minimised. (what went wrong, the text)
FOUND = [
    ("4 GiB of zeros for one number", "c2 = s4[4294967296] constant(2)"),
    ("more dimensions than numpy has", f"c = f32[{','.join(['1'] * 65)}] constant(3.0)"),
    ("20 million numbers printed", "m { ROOT c = f32[32,197,3072] constant(0.65) }"),
    (
        "inferred size beyond 64 bits",
        "ROOT p = pad(s8[4] a, s8[] z), padding=18446744073709551616_0",
    ),
    ("a comment became part of a value", "e { p = f32[] parameter(0), backend_config={{}}//\n}"),
    (
        "an empty pair",
        "e { p = f32[4] parameter(0)\n ROOT c = f32[4] collective-permute(p), source_target_pairs={{}} }",
    ),
    ("four billion commas for an empty literal", "c = s32[0,4294967296]{1,0} constant({})"),
    (
        "two numbers for an index",
        "HloModule m, buffer_donor={ (0, {}), (0, {1  1}) }\nENTRY e { ROOT p = f32[] parameter(0) }",
    ),
    (
        "metadata inside another attribute",
        "e { p = f32[] parameter(0)\n  r = f32[] negate(p), sharding={[], metadata={}}\n}\n",
    ),
    (
        "64 bits of bytes",
        'e { h = f32[8,9223372036854775807]{1,0} custom-call(), custom_call_target="t" }',
    ),
    (
        "lists of sizes for a gather",
        "e { p = f32[2,9] parameter(0)\n i = s32[3] parameter(1)\n ROOT g = f32[3,9] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={{1},{9}} }",
    ),
    (
        "text behind metadata",
        "e { p = f32[] parameter(0)\n  r = f32[] negate(p), frontend_attributes={}, metadata={}f32\n}\n",
    ),
    ("a parenthesis behind metadata", "e { p = f32[] parameter(0), metadata={}() }"),
    (
        "an integer of 5000 digits",
        f"HloModule m, buffer_donor={{ ({'1' * 5000}, {{}}) }}\nENTRY e {{ ROOT p = f32[] parameter(0) }}",
    ),
    (
        "an operand called f32",
        "d =f32[2,5]{1,0}dot(f32[2,3]{1,0},f32[3,5]{1,0}f32),lhs_contracting_dims={1},rhs_contracting_dims={0}",
    ),
    ("a comment in metadata", "e{p =f32[2]parameter(0)r =f32[2]negate(p),metadata={//}\n}}"),
    (
        "names of what asynchronous steps wrap",
        "e { p = f32[2] parameter(0)\n s = ((f32[2]), f32[2], s32[]) negate-start(p)\n t = ((f32[2]), f32[2], s32[]) negate-start(p)\n"
        ' d = f32[2] negate-done(s)\n u = f32[2] negate-done(t)\n ROOT c = f32[2] custom-call(d), custom_call_target="x" }',
    ),
]


@pytest.mark.parametrize("text", [text for _, text in FOUND], ids=[what for what, _ in FOUND])
def test_what_the_fuzzer_found(text: str) -> None:
    _, found = examine(text, 2)
    assert found is None or not found.kind, found


def test_the_seeds_are_accepted() -> None:
    assert [examine(text) for text in SEEDS] == [("accepted", None)] * len(SEEDS)


def test_mutations_depend_on_the_seed_only() -> None:
    import random

    first, second = (mutate(SEEDS[0], random.Random(7), list(SEEDS)) for _ in range(2))
    assert first == second != SEEDS[0]


def _run(seconds: float, seed: int, folder: Path, *more: str) -> None:
    """In a process of its own: the limit on memory must not fall on the other tests."""
    command = [
        sys.executable,
        str(FUZZER),
        "--seconds",
        str(seconds),
        "--seed",
        str(seed),
        "--found",
        str(folder),
        *more,
    ]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds * 3 + 120, check=False
    )
    found = [json.loads(path.read_text())["kind"] for path in sorted(folder.glob("*.json"))]
    assert result.returncode == 0, f"{found}\n{result.stdout[-6000:]}\n{result.stderr[-2000:]}"


@pytest.mark.long
def test_some_mutated_texts(tmp_path: Path) -> None:
    """A fixed number of them, so that the test says the same on every machine."""
    _run(60, 20_260, tmp_path, "--texts", "6000")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
def test_minutes_of_mutated_texts(seed: int, tmp_path: Path) -> None:
    _run(85, seed, tmp_path)


def test_an_alias_of_a_custom_call_with_a_blank_for_a_comma() -> None:
    text = """HloModule m
ENTRY e {
  p = f32[] parameter(0)
  ROOT call = ((f32[])) custom-call(p), custom_call_target="foo", output_to_operand_aliasing={{0  0}: (0, {})}
}"""
    _, found = examine(text)
    assert found is None
