"""Rows of the tables about advice, overrides, LLVM, machine code, origins and searches."""

from __future__ import annotations

from typing import Any, NamedTuple


class AdviceRow(NamedTuple):
    """A piece of advice with an upper bound of its gain in one run."""

    gain_us: float
    share: float
    sentence: str
    line: str


class OverrideRow(NamedTuple):
    """A forced or forbidden decision, and its result."""

    override: str
    kind: str
    subjects: tuple[str, ...]
    granted: bool
    reason: str


class Remark(NamedTuple):
    """A remark of a pass of LLVM: passed, missed or analysis."""

    kind: str
    pass_: str
    message: str
    instruction: str
    line: str


class LlvmPass(NamedTuple):
    """A run of a pass of LLVM. level: `ir` or `machine`. diff: unified, empty without a change."""

    number: int
    pass_: str
    function: str
    level: str
    lines_before: int
    lines_after: int
    added: int
    removed: int
    diff: str


class LlvmPassCost(NamedTuple):
    """The time of all runs of a pass of LLVM."""

    pass_: str
    level: str
    ms: float
    share: float
    runs: int


class MachineLoop(NamedTuple):
    """llvm-mca's figures of an innermost loop of machine code."""

    kernel: str
    loop: str
    instructions: int
    cycles: float
    ipc: float
    block_throughput: float
    bottleneck: str
    model: str
    lines: Any


class Origin(NamedTuple):
    """An instruction with the instructions as written that it came from."""

    instruction: str
    computation: str
    opcode: str
    sources: tuple[str, ...]
    how: str
    line: str
    id: int


class FoundThing(NamedTuple):
    """An instruction, a decision or a pass that a search found."""

    what: str
    name: str
    op: str
    shape: str
    scope: str
    line: str
    text: str
    kind: str
    verdict: str
    reason: str
    pass_: str
    bytes: float
    time: float
    id: int
    step: int


class Risk(NamedTuple):
    """An operation that probably does not compute what was meant.

    Attributes
    ----------
    kind : str
        `NaN`, `infinity`, `index-out-of-range`, `dropped-update`, `overwritten-update`,
        `integer-overflow`, `cancellation`, `absorption`, `narrow-sum` or `all-pairs`.
    instruction, opcode : str
        Of the program as JAX lowered it.
    line : str
        The user's source line; empty if unknown.
    reason : str
        The evidence with numbers.
    fix : str
        A change of the program.
    argument : str
        The arguments on which it was seen.
    """

    kind: str
    instruction: str
    opcode: str
    line: str
    reason: str
    fix: str
    argument: str
