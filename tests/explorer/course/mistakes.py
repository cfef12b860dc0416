"""Wrong answers of the kinds that students give, and what each must be told. The modules `mistakes_nbNN` add those of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# (exercise, code of the failure, most instructions in the counter-example or None, answer)
MISTAKES: list[tuple[str, str, int | None, Any]] = []


def mistake(name: str, code: str, most: int | None = None) -> Callable[[Any], Any]:
    """Declares an answer that the check must refuse with a code."""

    def add(answer: Any) -> Any:
        MISTAKES.append((name, code, most, answer))
        return answer

    return add
