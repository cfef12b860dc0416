"""Progress in the course: a row for each exercise, from the checks of this Python process."""

from __future__ import annotations

from xla_explorer.course.checking.attempts import attempts
from xla_explorer.course.checking.registry import exercises, known_exercise
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table


class Progress(Report):
    """Answer of `xe.course.progress`: which exercises are solved.

    passed, of: how many, of how many.
    """

    def __init__(self, rows: list[tuple[str, str, int, str]]) -> None:
        self.rows = rows
        self.passed, self.of = sum(status == "passed" for _, status, _, _ in rows), len(rows)

    def headline(self) -> str:
        """Return the number of solved exercises, and the next one."""
        following = next((name for name, status, _, _ in self.rows if status != "passed"), None)
        rest = f"; next: {following}" if following and self.passed else ""
        return f"{self.passed} of {self.of} exercises solved{rest}"

    def blocks(self) -> Blocks:
        """Yield a row for each exercise."""
        if not any(tries for _, _, tries, _ in self.rows):
            yield Sentence(
                "Nothing was checked yet in this kernel: xe.course.check(NAME, ANSWER) does, and "
                "is counted here."
            )
        yield Table(["exercise", "status", "tries", "task"], self.rows)


def progress(notebook: str | None = None) -> Progress:
    """Return the exercises and their states in this Python process.

    Parameters
    ----------
    notebook
        Only the exercises of one notebook, such as `nb03`; None is the whole course.

    Returns
    -------
    Progress
        A table of exercise, status, tries and task; `passed` and `of` count.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.course.progress("nb03").of
    2
    """
    found = attempts()
    rows = []
    for name, exercise in exercises().items():
        if notebook is None or name.split(".")[0] == notebook:
            attempt = found.get(name)
            status = attempt.result.status if attempt else "not started"
            rows.append((name, status, attempt.tries if attempt else 0, exercise.task))
    return Progress(rows)


_NEXT_HINT: dict[str, int] = {}


def hint(name: str) -> str:
    """Return the next hint for an exercise; each call goes one step further, up to the last hint.

    Parameters
    ----------
    name
        The exercise, such as `nb03.dce`.

    Returns
    -------
    str
        One hint, with its number.

    Raises
    ------
    UnknownExerciseError
        No exercise has that name.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.course.hint("nb03.dce").startswith("hint 1 of")
    True
    """
    found = known_exercise(name)
    hints = [found.start, *found.hints]
    number = min(_NEXT_HINT.get(name, 0), len(hints) - 1)
    _NEXT_HINT[name] = number + 1
    return f"hint {number + 1} of {len(hints)}: {hints[number]}"
