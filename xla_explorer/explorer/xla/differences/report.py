"""The answer of `xe.xla.cause_of_difference`."""

from __future__ import annotations

from xla_explorer.explorer.display.blocks import Blocks, Code, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.print_options import PrintOptions


class CauseOfDifference(Report):
    """Why a program has other values on real XLA in another way.

    Attributes
    ----------
    name, other : str
        The program, and the other way: flags, an environment, a type.
    error : float
        The largest difference of any result, by the largest magnitude of that result.
    instruction, opcode, line : str
        The operation at which it begins; empty if the results are equal.
    operation_error : float
        The difference that this operation makes from equal operands.
    pass_name, in_way : str
        The pass of XLA whose rewrite changes the value, and the way in which it runs; empty if no
        pass does, and the difference is made by code generation or a library.
    before, after : str
        The instructions that the pass rewrites, and what it writes.
    program : HloModule or None
        A minimal program that shows the difference, `arrays` its arguments.
    nearer : str
        The way whose value is nearer to that in 64 bits; empty if both are equally near.
    cause : str
        A sentence.
    """

    __slots__ = (
        "after", "arrays", "before", "cause", "error", "in_way", "instruction", "line", "name",
        "nearer", "opcode", "operation_error", "other", "pass_name", "program", "seconds",
    )  # fmt: skip

    def __init__(self, name: str, other: str, error: float) -> None:
        self.name, self.other, self.error = name, other, error
        self.instruction = self.opcode = self.line = self.pass_name = self.in_way = ""
        self.before = self.after = self.nearer = self.cause = ""
        self.operation_error, self.seconds = 0.0, 0.0
        self.program: HloModule | None = None
        self.arrays: list[object] = []

    def headline(self) -> str:
        """Return the difference and its cause."""
        if not self.error:
            return f"{self.name}: the results by {self.other} are equal, bit for bit"
        place = self.line or f"%{self.instruction}"
        return f"{self.name}: results by {self.other} differ by {self.error:.2g}, from {place} on: {self.cause}"

    def blocks(self) -> Blocks:
        """Yield the cause and the minimal program."""
        yield Sentence(self.headline())
        if self.error:
            yield self.records()
        if self.before or self.after:
            text = f"{self.before}\n-> {self.pass_name}\n{self.after}"
            yield Code("the rewrite", text, "hlo")
        if self.program is not None:
            yield Code(
                "a minimal program", self.program.to_text(PrintOptions.short_parsable), "hlo"
            )

    def records(self) -> Table:
        """Return one row."""
        head = ["instruction", "opcode", "line", "error", "pass", "way", "nearer"]
        row = (
            f"%{self.instruction}",
            self.opcode,
            self.line or None,
            self.operation_error,
            self.pass_name or None,
            self.in_way or None,
            self.nearer or None,
        )
        return Table(head, [row])
