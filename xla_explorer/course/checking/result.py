"""Results of checks: solved, not solved yet, or wrong with the smallest counter-example."""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.explorer.display import (
    Blocks,
    Code,
    Layout,
    Report,
    Sentence,
    escape,
    markdown_text,
    printed,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions

MOST_CHARACTERS = 2000
TOO_SLOW = "too-slow"
"""The code of an answer that was still computing at its deadline."""
TOO_LARGE = "too-large"
"""The code of an answer that wanted more memory than it may take."""
CRASHED = "crashed"
"""The code of an answer whose native code ended its process, or did not end."""
_PROGRAM = "smallest program found that shows it"


class Failure(NamedTuple):
    """One case that went wrong.

    code: kebab-case, the same for the same kind of mistake. message: one sentence. module: the
    program that shows it. arguments: of the run. expected, got: both sides, as text. hint: the next
    step.
    """

    code: str
    message: str
    expected: str = ""
    got: str = ""
    module: HloModule | None = None
    arguments: tuple[Any, ...] = ()
    hint: str = ""

    @property
    def of_the_answer(self) -> bool:
        """True if the answer's own code raised or did not end, on unknown arguments."""
        return (
            self.code.startswith(("raised-", TOO_SLOW, TOO_LARGE))
            and self.module is None
            and not self.arguments
        )


class ExerciseNotPassedError(XlaExplorerError, AssertionError):
    """An exercise is not solved; the text is the check's answer."""


class CheckResult(Report):
    """The result of `xe.course.check`. True if the exercise is solved.

    status: `passed`, `failed` or `not solved yet`. cases: the number of passed cases. failure: the
    first failed case, reduced. error: the exception of the student's code, if any. note: a further
    sentence, for example a score.
    """

    def __init__(
        self,
        name: str,
        status: str,
        cases: int = 0,
        failure: Failure | None = None,
        note: str = "",
        error: BaseException | None = None,
    ) -> None:
        self.name, self.status, self.cases, self.failure, self.note, self.error = (
            name,
            status,
            cases,
            failure,
            note,
            error,
        )

    @property
    def passed(self) -> bool:
        """True if the exercise is solved."""
        return self.status == "passed"

    @property
    def tried(self) -> bool:
        """True if there was an answer to judge, not the stub."""
        return self.status != "not solved yet"

    def __bool__(self) -> bool:
        return self.passed

    def require(self) -> CheckResult:
        """Return the result if solved, else raise ExerciseNotPassedError for graders."""
        if not self.passed:
            raise ExerciseNotPassedError(repr(self))
        return self

    def verdict(self) -> str:
        """Return the result in one line."""
        mark = {"passed": "✓", "failed": "✗"}.get(self.status, "…")
        if self.passed:
            return f"{mark} {self.name}: passed, {self.cases} cases"
        if self.status == "failed":
            return f"{mark} {self.name}: not right yet ({self.cases} cases held before this one)"
        return f"{mark} {self.name}: not solved yet"

    def sections(self) -> list[tuple[str, str]]:
        """Return the headings and texts that are not empty."""
        parts: list[tuple[str, str]] = []
        if self.failure is not None:
            failure = self.failure
            if failure.module is not None:
                parts.append((_PROGRAM, program_text(failure.module)))
            if failure.arguments:
                parts.append(
                    (
                        "run on",
                        "\n".join(
                            [
                                f"{number}: {value_text(a)}"
                                for number, a in enumerate(failure.arguments)
                            ]
                        ),
                    )
                )
            parts += [("expected", failure.expected), ("got", failure.got)]
        return [(heading, shorten(text)) for heading, text in parts if text]

    def sentences(self) -> tuple[str, str]:
        """Return the mistake (or the note), and the next step."""
        if self.failure is None:
            return self.note, ""
        return self.failure.message, self.failure.hint

    def blocks(self) -> Blocks:
        """Yield the verdict, the counter-example and the next step."""
        message, hint = self.sentences()
        yield Sentence(self.verdict(), bold=True)
        if message:
            yield Sentence(message)
        yield from [
            Code(heading, text, "hlo" if heading == _PROGRAM else "text")
            for heading, text in self.sections()
        ]
        if hint:
            yield printed(Sentence(f"next step: {hint}"))
            yield Layout(
                f'<p style="margin-top:10px"><b>Next step.</b> {escape(hint)}</p>',
                "",
                f"**Next step.** {markdown_text(hint)}",
            )

    def to_html(self) -> str:
        """Return the result next to a coloured bar, legible on light and dark.

        Marks and words carry the meaning; the bar repeats it.
        """
        colour = {"passed": "#00815e", "failed": "#c45100"}.get(self.status, "#858585")
        return (
            f'<div style="border-left:4px solid {colour};padding:2px '
            f'12px;text-align:left">{super().to_html()}</div>'
        )


def program_text(module: HloModule) -> str:
    """Return HLO text for reading, without metadata; a single computation has no header."""
    lines = module.to_text(PrintOptions.short_parsable.but(metadata=False)).strip().split("\n")
    return "\n".join(lines[2:] if len(module.computations) == 1 else lines).strip()


def value_text(value: Any) -> str:
    """Return an array, or a tuple of arrays, on few lines."""
    import numpy as np

    if isinstance(value, tuple):
        return "(" + ", ".join([value_text(part) for part in value]) + ")"
    if isinstance(value, np.ndarray):
        text = np.array2string(value, separator=", ", threshold=24, edgeitems=3, max_line_width=100)
        return (
            f"{value.dtype}{list(value.shape)} {text}" if value.shape else f"{value.dtype} {value}"
        )
    return str(value)


def shorten(text: str) -> str:
    """Return the text; a long one is cut with a remark."""
    return (
        text
        if len(text) <= MOST_CHARACTERS
        else f"{text[:MOST_CHARACTERS]}\n... {len(text) - MOST_CHARACTERS} characters cut"
    )
