"""Rows of the tables about passes, decisions, buffers, rules, loops and source lines.

The fields of a row are its columns, in their order. A field that would be a keyword of Python ends
in an underscore, which its column has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


def columns_of(row: type) -> list[str]:
    """Return the columns of a row type: its fields, without the underscore of keywords."""
    fields: tuple[str, ...] = row._fields  # type: ignore[attr-defined]
    return [name.rstrip("_") for name in fields]


class Pass(NamedTuple):
    """A run of a pass; step 0 is the module as written.

    seconds: None if unknown, as in a dump. added, removed, modified: instructions.
    """

    step: int
    pipeline: str
    pass_: str
    changed: bool
    seconds: float | None
    instructions_before: int
    instructions_after: int
    added: int
    removed: int
    modified: int
    rewrites: int
    error: str | None


class PassCost(NamedTuple):
    """A pass that changed the module: its time, and the work and traffic of the module after it."""

    step: int
    pass_: str
    ms: float
    instructions: int
    delta_instructions: int
    bytes: int
    delta_bytes: int
    flops: int
    delta_flops: int
    rewrites: int
    attempts: int


class DecisionRow(NamedTuple):
    """A decision with the cost of its refusal.

    producer, consumer: the names of two subjects; a single subject is the producer.
    """

    verdict: str
    kind: str
    producer: str
    consumer: str
    code: str
    cost_us: float | None
    cost_bytes: int | None
    reason: str
    subjects: tuple[str, ...]
    pass_: str
    step: int | None
    facts: Mapping[str, Any]


class Buffer(NamedTuple):
    """A value with its memory and its live range in program order.

    Attributes
    ----------
    buffer_start, buffer_end : float
        The live range of the memory, which several values may reuse (`shared_with`).
    held : int
        Bytes live at the peak of the arena; 0 if none.
    """

    value: str
    opcode: str
    shape: str
    allocation: str
    kind: str
    offset: int
    size: int
    start: float
    end: float
    shared_with: tuple[str, ...] = ()
    line: str = ""
    instruction: int | None = None
    buffer_start: float = 0.0
    buffer_end: float = 0.0
    held: int = 0


class RuleCount(NamedTuple):
    """A rewrite rule that was applied or refused in a compile."""

    rule: str
    accepted: int
    refused: int
    sentence: str
    place: str


TIERS: Final = ("proved", "exhaustive", "sampled", "compared", "open", "refuted")
"""What shows a change right, from the strongest to nothing, and a change that is wrong."""


class CertificateRow(NamedTuple):
    """A rule of a pass, a pass without rules or the generated code, and what shows it right.

    tier: one of TIERS. claim: of a rule. step: None for the generated code, whose `pass` is the
    backend.
    """

    step: int | None
    pass_: str
    rule: str
    rewrites: int
    claim: str
    tier: str
    evidence: str


class RuleCost(NamedTuple):
    """The time of a rewrite rule in one pass, over some modules."""

    rule: str
    pass_: str
    ms: float
    share: float
    tried: int
    fitted: int
    made: int
    modules: int
    sentence: str
    place: str


class Loop(NamedTuple):
    """A kernel at the level of loops: a nest, or opaque for a reason."""

    kernel: str
    family: str
    form: str
    made_by: str
    schedule: str
    predicted_us: float | None
    reason: str


class SourceLine(NamedTuple):
    """The time of the kernels that compute a source line."""

    line: str
    median_us: float
    estimated_us: float
    share: float | None
    kernels: int


class SourceScope(NamedTuple):
    """The time of the kernels that compute the instructions of a name scope."""

    scope: str
    median_us: float
    estimated_us: float
    share: float | None
    kernels: int
