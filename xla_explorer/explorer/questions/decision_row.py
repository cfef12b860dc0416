"""One decision as the views draw it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xla_explorer.foundation.decision import Verdict
from xla_explorer.foundation.reason import Check


class DecisionRow(NamedTuple):
    """One decision of a policy: what it was about, how it ended and why. `code` is the stable kebab-case reason.

    `facts` holds the numbers of the sentence, typed, with the unit in the key ("estimated_us_unfused"). `step` is the
    index of the pass that decided.
    """

    kind: str
    verdict: Verdict
    code: str = ""
    message: str = ""
    facts: Mapping[str, Any] = {}
    producer: int | None = None
    consumer: int | None = None
    producer_name: str = ""
    consumer_name: str = ""
    pass_name: str = ""
    step: int | None = None
    checklist: tuple[Check, ...] = ()
