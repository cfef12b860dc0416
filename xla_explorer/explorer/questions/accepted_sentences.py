"""What an accepted decision says, in one sentence by its kind. Refusals bring their own: the message of their Reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OF_TWO = {
    "fusion": "%{0} is computed inside the fusion of %{1}",
    "dot-epilogue-fusion": "%{0} and what follows it, up to %{1}, are one kernel",
    "row-fusion": "%{0} and what is done with its rows, up to %{1}, are one kernel",
    "multi-output-fusion": "%{0} and %{1} are one kernel with several results",
    "horizontal-loop-fusion": "%{0} and %{1}, which do not need each other, are one kernel",
    "horizontal-input-fusion": "%{0} and %{1}, which do not need each other, are one kernel",
    "share-buffer": "%{0} and %{1} share a buffer",
    "transpose-folding": "%{0} reads %{1} as it is before the transpose",
    "latency-hiding": "other work is done between %{0} and %{1}",
    "stream-assignment": "%{0} to %{1} run on a stream of their own",
    "constant-memory": "%{0} is in the constant bank, where %{1} reads it",
}
_OF_ONE = {
    "share-buffer": "%{0} stays in the buffer it is in, without a copy",
    "inlining": "%{0}: what it calls is put in its place",
    "constant-folding": "%{0} is computed at compile time",
    "loop-hoisting": "%{0} is computed once, before the loop",
    "fusion-wrapper": "%{0} has a kernel of its own",
    "library-call": "%{0} is computed by a library",
}


def accepted_sentence(kind: str, names: Sequence[str], facts: Mapping[str, Any] | None) -> str:
    """The sentence. kind: of the decision; names: its instructions, without %; facts: its numbers, as recorded.

    A name that stands there twice is one subject: the value that the decision is about is what the instruction itself makes.
    """
    subjects = list(dict.fromkeys(names))
    if not subjects:
        return ""
    given = facts or {}
    if kind == "launch" and "emitter" in given:
        sentence = "%{0} " + _launch(given)
    elif kind == "math" and "function" in given:
        sentence = "%{0}: " + _math(given)
    else:
        plain = "nothing spoke against {kind} of %" + " and %".join(subjects)
        sentence = (_OF_TWO if len(subjects) > 1 else _OF_ONE).get(kind, plain)
    return sentence.format(*subjects, kind=kind) + (" because the user forces it" if given.get("forced-by-user") else "")


def _launch(facts: Mapping[str, Any]) -> str:
    """`is a tiled-convolution kernel: 98 blocks of 256 threads`."""
    sizes = [facts.get("grid"), facts.get("block")]
    if not all(isinstance(size, int) for size in sizes):
        return f"is a {facts['emitter']} kernel"
    blocks, threads = sizes
    return f"is a {facts['emitter']} kernel: {blocks} block{'' if blocks == 1 else 's'} of {threads} threads"


def _math(facts: Mapping[str, Any]) -> str:
    """`tanh by ex2.approx.ftz.f32, rcp.approx.ftz.f32, within 3 ulps`."""
    return f"{facts['function']} by {', '.join(facts['instructions'])}, within {facts['max_ulps']:g} ulps"
