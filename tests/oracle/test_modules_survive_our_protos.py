"""Every module of the corpora: read, written as a proto, read again. Equal, and XLA takes it.

A sample under the marker `long`, all of them under `slow`. A module that cannot be written is
counted by kind: its text has constants without values, which no proto can hold.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.hlo_proto.test_write_hlo_proto import OUTSIDE
from tests.support.corpora import SHARED
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.frontends.hlo_proto.writer.literals import literal_proto
from xla_explorer.frontends.protobuf import ProtoError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

pytestmark = [
    pytest.mark.jax,
    pytest.mark.shared,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
    pytest.mark.skipif(
        not (SHARED / "xla_corpus" / "dev").is_dir(),
        reason="the corpora are not beside the checkout",
    ),
]

# A proto a line; XLA may abort on one, so each answer is written as it comes.
_READER = """
import base64, json, sys
from jaxlib import _hlo
for number, line in enumerate(open(sys.argv[1])):
    if number < int(sys.argv[2]):
        continue
    print(json.dumps([number]), flush=True)
    try:
        read = _hlo.HloModule.from_serialized_hlo_module_proto(base64.b64decode(line))
        print(json.dumps([number, read.name]), flush=True)
    except Exception as problem:
        print(json.dumps([number, None, str(problem)[:300]]), flush=True)
"""
_IMPLIED = re.compile(
    r", type=(?:FLOAT|SIGNED|UNSIGNED)\b|(?<=\)), async_execution_thread=\"[^\"]*\"(?=[,\n])"
)
_EPSILON = re.compile(r"(?<=epsilon=)[-+.e\d]+")
_CONSTANT = re.compile(r" constant\((?:\{.*\}|[^()]*|\([^()]*\))(?=\))")
_TEXTS = ("hlo", "before", "after")
Source = tuple[str, Any]  # a name and what makes the module


def _corpus() -> Iterator[Source]:
    """Yield each different text of `xla_corpus`."""
    seen: set[str] = set()
    for file in sorted((SHARED / "xla_corpus" / "dev").glob("*.jsonl.gz")):
        for number, line in enumerate(gzip.open(file, "rt")):
            row = json.loads(line)
            for text in [row[name] for name in _TEXTS if row.get(name)]:
                if text not in seen:
                    seen.add(text)
                    yield f"{file.name}:{number}", partial(parse_hlo, text)


def _worlds(folder: Path) -> Iterator[Source]:
    """Yield each file of `worlds`, and each module of its dumps."""
    for file in sorted((SHARED / "worlds").iterdir()):
        if file.name.endswith(".tar.gz"):
            inside = folder / file.name.partition(".")[0]
            with tarfile.open(file) as packed:
                packed.extractall(inside, filter="data")
            dumped = [
                one
                for one in sorted(inside.rglob("*"))
                if re.search(r"\.(txt|pb|pb\.gz)$", one.name) and one.name != "topology.pb"
            ]
            yield from [(f"{file.name}:{one.name}", partial(xe.load, one)) for one in dumped]
        elif re.search(r"\.(mlir|hlo|pb|bc)\.gz$", file.name):
            yield file.name, partial(xe.load, file)


def _lines(module: HloModule) -> list[str]:
    """Return the text of a module without what a proto does not hold, and without constants.

    A splat of zeros may stand as `constant(0)`. Options of a compile have a proto of their own.
    The thread of an asynchronous start is that of its update and done. `type` of a comparison may
    be spelled although it is that of its operands. `epsilon` is an f32 in a proto and in XLA; MLIR
    prints all digits that an f64 has.
    """
    text = OUTSIDE.sub("", module.to_text())
    text = _IMPLIED.sub("", text)
    text = _EPSILON.sub(lambda found: str(np.float32(found[0])), text)
    return [_CONSTANT.sub(" constant(", line) for line in text.splitlines()]


def _constants(module: HloModule) -> dict[str, bytes]:
    return {
        i.name: literal_proto(i.literal)
        for i in module.instructions()
        if i.opcode.name == "constant"
    }


def _difference(module: HloModule, written: bytes) -> str:
    """Return what differs after a module was written and read; empty if nothing does."""
    again = read_hlo_proto(written).module
    lines = [_lines(module), _lines(again)]
    if lines[0] != lines[1]:
        pairs = zip(*lines, strict=False)
        return next((f"{a[:300]}\n  {b[:300]}" for a, b in pairs if a != b), "one text is longer")
    constants = _constants(module)
    changed = [name for name, one in _constants(again).items() if constants[name] != one]
    return f"the values of {changed[:5]}" if changed else ""


def _check(sources: list[Source], folder: Path) -> Counter[str]:
    """Return how many modules of each kind there were. Fails if one is not equal or not taken."""
    counts: Counter[str] = Counter()
    names: list[str] = []
    wrong: list[str] = []
    path = folder / "protos.txt"
    with path.open("w") as file:
        for name, make in sources:
            try:
                module = make()
            except (XlaExplorerError, ValueError):
                counts["not a module"] += 1
                continue
            try:
                written = write_hlo_proto(module)
            except ProtoError as problem:
                assert "has no values" in str(problem), (name, problem)
                counts["constants without values"] += 1
                continue
            difference = _difference(module, written)
            if difference:
                wrong.append(f"{name}: {difference}")
            file.write(base64.b64encode(written).decode() + "\n")
            names.append(name)
    start = 0
    while start < len(names):
        child = subprocess.run(
            [sys.executable, "-c", _READER, str(path), str(start)],
            capture_output=True, text=True, timeout=3000, check=False,
        )  # fmt: skip
        answers = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        assert answers, child.stderr[-2000:]
        last = {answer[0]: answer for answer in answers}
        wrong += [f"{names[n]}: XLA: {rest[1]}" for n, *rest in last.values() if len(rest) == 2]
        if len(answers[-1]) == 1:
            wrong.append(f"{names[answers[-1][0]]}: XLA ended: {child.stderr[-300:]}")
        start = answers[-1][0] + 1
    counts["equal"] = len(names) - len({one.partition(": ")[0] for one in wrong})
    assert not wrong, f"{len(wrong)} of {len(names)}, {dict(counts)}:\n" + "\n".join(wrong[:20])
    return counts


@pytest.mark.long
def test_a_sample_survives(tmp_path: Path) -> None:
    counts = _check([*_corpus()][::97], tmp_path)
    assert counts["equal"] > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_modules_of_the_corpus_survive(tmp_path: Path) -> None:
    counts = _check([*_corpus()], tmp_path)
    assert counts["equal"] > 11_000


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_programs_of_other_front_ends_survive(tmp_path: Path) -> None:
    counts = _check([*_worlds(tmp_path)], tmp_path)
    assert counts["equal"] > 100
