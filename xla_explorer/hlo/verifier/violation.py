"""Findings of the verifier: `Violation`, and `HloVerifyError` with all violations."""

from __future__ import annotations

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.visible_text import cleaned_text


class Violation:
    """A violation of one constraint.

    code: `add-C4` (constraint 4 of the opcode; see `constraints_of`) or a module-level word such as
    `operand-of-another-computation`. message: one sentence. instruction, instruction_id: name and
    id of the instruction; None for a violation of the module or a computation. computation: its
    name, None for the module. span: place in the source text, None in a built module.
    """

    __slots__ = ("code", "computation", "instruction", "instruction_id", "message", "span")

    def __init__(
        self,
        code: str,
        message: str,
        computation: str | None = None,
        instruction: str | None = None,
        instruction_id: int | None = None,
        span: SourceSpan | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.computation = computation
        self.instruction = instruction
        self.instruction_id = instruction_id
        self.span = span

    @property
    def subject(self) -> str:
        """The faulty object as text: `%name`, `computation %name` or `module`."""
        if self.instruction is not None:
            return f"%{self.instruction}"
        return f"computation %{self.computation}" if self.computation is not None else "module"

    def __str__(self) -> str:
        text = cleaned_text(f"{self.code}: {self.subject}: {self.message}")
        return f"{text}\n{self.span.caret()}" if self.span is not None else text

    def __repr__(self) -> str:
        return cleaned_text(f"Violation({self.code}: {self.subject}: {self.message})")

    def to_json(self) -> dict[str, object]:
        """Return the violation as plain data."""
        return {
            "code": self.code,
            "message": self.message,
            "computation": self.computation,
            "instruction": self.instruction,
            "instruction_id": self.instruction_id,
            "line": self.span.line if self.span is not None else None,
        }


_SHOWN = 20  # violations shown in full in the error text; `violations` holds all


class HloVerifyError(XlaExplorerError):
    """A module is not well formed.

    Attributes
    ----------
    violations
        Every violation, in order of computations.
        Each has `code`, `message`, `instruction` and `span`.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> try:
    ...     xe.verify("ENTRY main { x = f32[4] parameter(0) ROOT r = f32[5] exponential(x) }")
    ... except xe.errors.HloVerifyError as problem:
    ...     print(problem.violations[0].message)
    the result is stated as f32[5], the operands give f32[4]
    """

    def __init__(
        self, module_name: str, violations: list[Violation], remedy: str | None = None
    ) -> None:
        count = len(violations)
        lines = [f"module {module_name} has {count} violation{'s' if count != 1 else ''}:"]
        lines += [str(violation) for violation in violations[:_SHOWN]]
        if count > _SHOWN:
            lines.append(f"... and {count - _SHOWN} more in `.violations`")
        hint = (
            "fix the first one; those after it often follow from it"
            if count > 1
            else "change the line that it names"
        )
        super().__init__("\n".join(lines), hint if remedy is None else remedy)
        self.violations = violations
