"""Texts from the grammar, and one edit away: we accept and print exactly what XLA's parser does.

A difference stands in `DIFFERENCES` with its reason. The suite has a few hundred texts. Under the
marker `slow` 100,000 of each kind run, in runs of 10,000 seeds that can be repeated one by one.
"""

from __future__ import annotations

import importlib.util
import re

import pytest

import xla_explorer as xe
from tests.oracle.generated_texts import OPCODE_NAMES, edited_text, valid_text
from tests.oracle.xla_parser import Verdict, XlaParser
from tests.support.opcode_programs import module_with
from xla_explorer.hlo.analysis.module_equality import modules_equal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.text.attributes.attribute_list import COMMON, allowed

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
]

# (what XLA does, words of our message or of XLA's, why we differ). What XLA aborts on counts as
# refused.
DIFFERENCES = (
    (
        "accepted",
        "must be a permutation of the dimensions",
        "XLA's parser does not look at the order of a layout; its verifier refuses it",
    ),
    (
        "accepted",
        "entry_computation_layout does not fit",
        "XLA's parser does not compare it with the entry; its verifier does",
    ),
    ("accepted", "more bytes than 64 bits can count", "no machine holds the array"),
    (
        "accepted",
        "expects 2 operands, but has",
        "XLA drops further operands of a dot without a word",
    ),
    ("accepted", "rng-bit-generator expects", "XLA drops further operands without a word"),
    (
        "accepted",
        "ragged-all-to-all expects",
        "XLA's parser does not count its operands; its verifier does",
    ),
    (
        "accepted",
        "expects the name of an operand",
        "XLA's parser drops an operand that it cannot read, when a comma or ')' follows",
    ),
    ("accepted", "instruction does not exist", "the same: it drops the operand"),
    ("accepted", "expects '[' after the element type", "the same: it drops the operand"),
    (
        "accepted",
        "expects a string, but sees",
        "XLA's parser passes over a missing name of a file or function",
    ),
    (
        "accepted",
        "expects an integer, but sees ,",
        "XLA's parser goes on with a number that it never read",
    ),
    (
        "accepted",
        "out of the range of a double",
        "a statistic that XLA reads as infinite and prints so that it cannot be read",
    ),
    ("accepted", "has the same size as 'size='", "XLA reads behind the end of rhs_reversal"),
    ("accepted", "expects exactly one", "a dimension without a label is number 0 to XLA"),
    ("accepted", "expects sizes of tiles from 1 on", "no device can hold a tile of it"),
    ("accepted", "sizes of axes count from 1 on", "an axis of a mesh without devices"),
    (
        "accepted",
        "primitive type S64",
        "XLA reads a whole number from 2^63 on as the number with these 64 bits",
    ),
    ("accepted", "counts no devices", "XLA does not look whether sizes of devices are at least 1"),
    (
        "accepted",
        "must list each of the dimensions",
        "XLA does not look whether a transpose of devices is one",
    ),
    ("refused", "exactly four operands for dynamic-slice", "slice_sizes={} says nothing to us"),
    (
        "accepted",
        "tuple tree of original arrays",
        "XLA goes on where more brackets are closed than are open",
    ),
    (
        "accepted",
        "of a layout is negative",
        "an element of -1 bits, a memory space -1: there is none",
    ),
    (
        "accepted",
        "lhs_ragged_dims is expected",
        "XLA's parser reads a ragged dot without its ragged dimension; its verifier refuses it",
    ),
)


def _is_listed(kind: str, message: str) -> bool:
    return any(kind == one and words in message for one, words, _ in DIFFERENCES)


def _ours(text: str) -> tuple[str, str]:
    """Return (accepted or refused, our print or the reason)."""
    try:
        module = xe.parse_hlo(text)
    except xe.XlaExplorerError as problem:
        return "refused", str(problem)
    return "accepted", module.to_text()


def _comparable(text: str) -> str:
    """Return a print of XLA without what XLA does not keep.

    XLA loses the layouts of parameters if the header gives shapes without layouts. A
    triangular-solve without transpose_a gets an invalid one, which the verifier refuses.
    """
    text = text.replace(", transpose_a=NO_TRANSPOSE", "")
    return re.sub(r"entry_computation_layout=\{\(.*?\}(?=, [a-z_]+=|\n)", "", text, count=1)


# XLA copies the attributes of an asynchronous operation's steps to the operation and prints them
# there: the last step wins, also with an empty attribute. So metadata={} of a step removes the
# operation's stack frame, and XLA then prints no tables of frames. We print no empty metadata: XLA
# keeps the frame and prints its tables.
_SAID_BY_A_STEP = re.compile(
    r"async-(?:start|update|done).*?(?:frontend_attributes\s*=|statistics\s*=|metadata=\{\})",
    re.DOTALL,
)


def _as_xla_keeps_it(text: str) -> HloModule:
    """Return the module without derived data: shardings of tuple leaves, origins of elements.

    XLA derives them when it reads.
    """
    module = xe.parse_hlo(text)
    for i in module.instructions():
        sharding = i.attributes.get("sharding")
        if i.shape.is_tuple and sharding is not None and not sharding.startswith("{{"):
            leaves = sum([1 for _ in i.shape.leaves()])
            i.attributes = i.attributes.with_values(
                sharding=f"{{{', '.join([sharding] * leaves)}}}"
            )
        if i.opcode.name == "get-tuple-element":
            i.attributes = i.attributes.with_values(origin=None)
    return module


def _not_ours(text: str, printed: str) -> str:
    """Return the difference of our module from XLA's print of the text; empty if they are equal.

    XLA prints no metadata without a name, and no frame of a table that there is not.
    """
    try:
        modules = _as_xla_keeps_it(text), _as_xla_keeps_it(printed)
    except xe.XlaExplorerError as problem:
        return (
            "" if _is_listed("accepted", str(problem)) else f"we do not read XLA's print: {problem}"
        )
    if any(
        "last_tile" in sharding or "T(" in sharding for sharding in _shardings(modules[0])
    ):  # of which XLA has a normal form
        for module in modules:
            for i in module.instructions():
                i.attributes = i.attributes.with_values(sharding=None)
    return str(modules_equal(*modules, ignore_metadata=True) or "")


def _shardings(module: HloModule) -> list[str]:
    return [i.attributes["sharding"] for i in module.instructions() if "sharding" in i.attributes]


def _wraps(text: str) -> bool:
    """Return True for an integer that XLA reads as another one.

    In a literal of floats, XLA reads 9223372036854775808 as negative.
    """
    return "constant" in text and any(
        int(number) >= 1 << 63 for number in re.findall(r"\d{19,20}", text)
    )


def _compare(texts: list[str], xla: XlaParser) -> list[str]:
    """Return how verdicts, prints and modules differ, if no reason is listed."""
    problems, accepted = [], []
    for text, verdict in zip(texts, xla.verdicts(texts), strict=True):
        if _wraps(text):
            continue
        kind, ours = _ours(text)
        if (
            verdict.kind == "aborted" and kind == "accepted"
        ):  # perhaps of what an earlier text has left in the process
            xla.close()
            verdict = xla.verdicts([text])[0]
        said = "accepted" if verdict.kind == "accepted" else "refused"
        if kind != said:
            if not _is_listed(said, ours if kind == "refused" else verdict.text):
                problems.append(
                    f"XLA: {verdict.kind} {verdict.text[:300]}\nwe: {kind} {ours[-300:]}\n{text}"
                )
        elif kind == "accepted":
            accepted.append((text, verdict, ours))
    again: list[Verdict] = xla.verdicts([ours for _, _, ours in accepted])
    # Texts whose print XLA itself reads differently are left out: an asynchronous copy as the
    # opcode copy-start.
    settled = [
        first.text == own.text
        for (_, first, _), own in zip(
            accepted, xla.verdicts([first.text for _, first, _ in accepted]), strict=True
        )
    ]
    for (text, first, ours), second, is_settled in zip(accepted, again, settled, strict=True):
        if second.kind != "accepted":
            problems.append(f"XLA does not read what we print: {second.text[:300]}\n{ours}\n{text}")
        elif _comparable(first.text) != _comparable(second.text) and not _SAID_BY_A_STEP.search(
            text
        ):
            problems.append(f"XLA prints another module:\n{first.text}\n{second.text}")
        elif (
            is_settled and "{...}" not in first.text and (difference := _not_ours(text, first.text))
        ):
            problems.append(
                f"XLA's print is another module to us: {difference}\n{text}\n{first.text}"
            )
    return problems


def _check(first: int, count: int, edited: bool) -> None:
    with XlaParser() as xla:
        for start in range(first, first + count, 500):
            seeds = range(start, min(start + 500, first + count))
            problems = _compare(
                [edited_text(seed)[0] if edited else valid_text(seed) for seed in seeds], xla
            )
            assert not problems, f"seeds {seeds}: {len(problems)} differ\n" + "\n\n".join(
                problems[:3]
            )


@pytest.mark.parametrize("edited", [False, True], ids=["valid", "one edit"])
def test_some_generated_texts(edited: bool) -> None:
    _check(0, 150, edited)


def test_a_step_of_an_asynchronous_operation_with_empty_metadata() -> None:
    _check(95_788, 1, edited=False)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 100_000, 10_000))
@pytest.mark.parametrize("edited", [False, True], ids=["valid", "one edit"])
def test_all_generated_texts(edited: bool, first: int) -> None:
    _check(first, 10_000, edited)


# Attributes that only a later XLA than the installed one may accept.
_ATTRIBUTES_OF_A_LATER_XLA = {
    "convolution": {"conv_kind"},
    "compare": {"order"},
    "topk": {"is_stable"},
}


def test_opcodes_take_the_attributes_that_xla_takes() -> None:
    lines = {}
    for name in OPCODE_NAMES:
        text = module_with(name).to_text()
        line = next(one for one in text.split("\n") if f" {name}(" in one)
        lines[name] = text.replace(line, f"{line}, foo=1")
    with XlaParser() as xla:
        verdicts = dict(zip(lines, xla.verdicts([*lines.values()]), strict=True))
    for name, verdict in verdicts.items():
        found = re.search(r"Allowed attributes: ([\w\-, ]+)", verdict.text)
        assert found is not None, (name, verdict)
        with pytest.raises(xe.errors.HloParseError, match='unexpected attribute "foo"'):
            xe.parse_hlo(lines[name])
        later = _ATTRIBUTES_OF_A_LATER_XLA.get(name, set())
        taken = {*allowed(OPCODES[name]), *COMMON} - later
        if name == "conditional":  # with branches by number where its selector is one
            taken.remove("branch_computations")
        assert taken == {*found.group(1).split(", ")} - later, name


def test_differences_have_reasons() -> None:
    assert all(
        kind in ("accepted", "refused") and words and reason for kind, words, reason in DIFFERENCES
    )
