"""Effects of an instruction besides its result, decided in one place.

Three questions have different answers:

- `has_side_effect`: can its removal, repetition or merging be observed? A random number counts, and
  the start of an asynchronous collective, which its done needs.
- `is_observable`: can its removal be observed if its result is unused? Random state alone does not
  count.
- `has_own_effects`: is there an effect, or a result that differs from run to run? Those of called
  computations do not count. Start and done of a collective have none: their values are those of
  the collective.
"""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes.spec import Trait

_PARTS_OF_COLLECTIVES = frozenset(
    [
        f"{name}-{part}"
        for name in ("all-gather", "all-reduce", "collective-permute")
        for part in ("start", "done")
    ]
)
_RANDOM = frozenset(("rng", "rng-get-and-update-state"))


def has_side_effect(i: HloInstruction) -> bool:
    """Return True if removing, repeating or merging the instruction could be observed.

    Called computations are searched. A custom call's own attribute decides, not its computations.
    Source: HloInstruction::HasSideEffect.
    """
    return _acts(i) or any(map(_acts, _called_instructions(i)))


def is_observable(i: HloInstruction, known: dict[HloComputation, bool] | None = None) -> bool:
    """Return True if removing the instruction could be observed, though its result is unused.

    True for transfers, asynchronous collectives, custom calls marked so, and calls of computations
    with any of them. known: results for computations, to which new ones are added.
    """
    if i.opcode.name in _RANDOM:
        return False
    if _acts(i) or i.opcode.name == "custom-call":
        return _acts(i)
    known = {} if known is None else known
    for computation in i.called:
        if computation not in known:
            known[computation] = any(
                is_observable(inner, known) for inner in computation.instructions.values()
            )
        if known[computation]:
            return True
    return False


def has_own_effects(i: HloInstruction) -> bool:
    """Return True if the instruction itself, without what it calls, has an effect or is random."""
    if Trait.NON_DETERMINISTIC in i.opcode.traits:
        return True
    return _acts(i) and i.opcode.name not in _PARTS_OF_COLLECTIVES


def _acts(i: HloInstruction) -> bool:
    if i.opcode.name == "custom-call":
        return bool(i.attributes.get("custom_call_has_side_effect"))
    return i.opcode.side_effect


def _called_instructions(i: HloInstruction) -> Iterator[HloInstruction]:
    """Yield the instructions of all called computations, each computation once."""
    if i.opcode.name == "custom-call":
        return
    pending, seen = list(i.called), set(i.called)
    while pending:
        for inner in pending.pop().instructions.values():
            yield inner
            if inner.called and inner.opcode.name != "custom-call":
                new = [c for c in inner.called if c not in seen]
                seen.update(new)
                pending += new
