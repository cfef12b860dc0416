"""`Reason`, the one word for "no".

A check is a small pure function that returns None (nothing against it) or a Reason. Rule guards, fusion legality, buffer
sharing, "does this backend support this instruction" and verifier constraints are all tuples of checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xla_explorer.foundation.visible_text import cleaned_text


class Reason:
    """Why something was refused (or, on a decision that went ahead, what spoke for it).

    `code` is stable kebab-case, for tests and filters; `message` is one sentence with names and numbers in it; `facts`
    holds the same numbers typed.
    """

    __slots__ = ("code", "facts", "message")

    def __init__(self, code: str, message: str, facts: dict[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.facts = facts if facts is not None else {}

    def __repr__(self) -> str:
        return cleaned_text(f"Reason({self.code}: {self.message})")

    def __str__(self) -> str:
        return cleaned_text(f"{self.code}: {self.message}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reason) and (self.code, self.message, self.facts) == (other.code, other.message, other.facts)

    def __hash__(self) -> int:
        return hash((self.code, self.message))

    def to_json(self) -> dict[str, Any]:
        """The reason as plain data: code, message, facts."""
        return {"code": self.code, "message": self.message, "facts": self.facts}


def refuse(code: str, message: str, **facts: Any) -> Reason:
    """Build a Reason with its facts as keywords."""
    return Reason(code, message, facts)


Check = Callable[..., "Reason | None"]


def first_refusal(checks: Iterable[Check], *subjects: Any) -> Reason | None:
    """The first check that refuses, else None. Every check of one policy takes the same subjects."""
    for check in checks:
        reason = check(*subjects)
        if reason is not None:
            return reason
    return None


def checklist(checks: Iterable[Check], *subjects: Any) -> list[tuple[str, Reason | None]]:
    """Every check with its answer, for views that show a policy as a list: (name of the check, None or its Reason)."""
    return [(check.__name__.replace("_", "-"), check(*subjects)) for check in checks]
