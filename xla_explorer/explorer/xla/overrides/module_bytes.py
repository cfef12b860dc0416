"""Kernels regrouped in the bytes of a module: only the kernels concerned are decoded.

XLA waits for the hook, so that a change of two kernels must not cost a reading of the whole module.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from xla_explorer.compiler.xla import fuse, keep_apart, named
from xla_explorer.explorer.xla.overrides.same_values import ResultNumbers
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.frontends.hlo_proto import read_hlo_proto, schema
from xla_explorer.frontends.hlo_proto.writer import computation_proto, instruction_proto
from xla_explorer.frontends.protobuf import Message
from xla_explorer.frontends.protobuf.writing import bytes_field, message, replaced
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

_TUPLE: Final = 13  # of PrimitiveType
_LOCAL: Final = 32  # bits of an instruction's number inside its computation; the rest is the latter

# How to grant a request, and the code of its refusal that means that the module follows it already.
_REGROUPING: Final = {
    "forbid": (keep_apart, "already-apart"),
    "fuse": (fuse, "already-in-one-kernel"),
}


def marker(name: str) -> bytes:
    """Return the bytes of the first field of an instruction or computation of this name."""
    return bytes_field(schema.INSTRUCTION.numbers["name"], name.encode())


class _Kernel(NamedTuple):
    """The instruction that computes another: itself, or the fusion that contains it."""

    caller: int  # number of the computation in which it is
    number: int


class ModuleBytes:
    """A serialized module. `regroup` changes its kernels, `to_bytes` returns the result."""

    def __init__(self, data: bytes) -> None:
        self._module = Message(schema.MODULE, data)
        self._raw: dict[int, bytes] = {}  # computations in their order, callees first
        for raw in self._module.spans("computations"):
            self._raw[Message(schema.COMPUTATION, raw).number("id")] = bytes(raw)
        self._decoded: dict[int, dict[int, tuple[Message, bytes]]] = {}
        self.suffixes = itertools.count(len(self._raw))  # of new names; XLA's own are mostly lower

    def to_bytes(self) -> bytes:
        """Return the module as it is now."""
        return replaced(self._module, "computations", self._raw.values())

    def regroup(self, word: str, pair: tuple[str, str]) -> tuple[bool, Reason | None]:
        """Return whether a request about two instructions changed the module, or why it cannot."""
        kernels: list[_Kernel] = []
        for name in pair:
            found = self._kernel(name)
            if isinstance(found, Reason):
                return False, found
            kernels.append(found)
        act, holds_already = _REGROUPING[word]
        caller = kernels[0].caller
        if caller != kernels[1].caller:
            return False, None if word == "forbid" else _in_two_computations(pair)
        piece = _Excerpt(self, caller, list(dict.fromkeys([one.number for one in kernels])))
        first, second = [named(piece.module, name) for name in pair]
        if isinstance(first, Reason) or isinstance(second, Reason):
            raise XlaExplorerError(f"the excerpt lacks %{pair[0]} or %{pair[1]}", "report this")
        numbers = ResultNumbers()
        before = numbers.of_results(piece.module)
        reason = piece.has_control_edges() or act(piece.module, first, second)
        if reason is not None:
            return False, None if reason.code == holds_already else reason
        verify(piece.module)
        if numbers.of_results(piece.module) != before:
            return False, refuse(
                "values-differ", f"kernels of %{pair[0]} and %{pair[1]} would compute other values"
            )
        piece.splice()
        return True, None

    def reordered(self, names: tuple[str, ...]) -> bytes | Reason | None:
        """Return the module with kernels scheduled in the order of names; None if they are already.

        The other instructions come as early as before. An instruction waits for its operands, its
        control predecessors and, if it is named, for the one before it.
        """
        kernels: list[_Kernel] = []
        for name in names:
            found = self._kernel(name)
            if isinstance(found, Reason):
                return found
            kernels.append(found)
        caller = kernels[0].caller
        if any(one.caller != caller for one in kernels):
            return refuse("in-several-computations", "the instructions are of several computations")
        schedule = self._module.message("schedule", schema.SCHEDULE)
        entries = list(schedule.spans("sequences")) if schedule is not None else []
        places = [Message(schema.SEQUENCE_ENTRY, one).number("key") for one in entries]
        if schedule is None or caller not in places:
            return refuse("not-scheduled", "its computation has no schedule")
        entry = Message(schema.SEQUENCE_ENTRY, entries[places.index(caller)])
        value = entry.message("value", schema.SEQUENCE)
        now = value.numbers("instruction_ids") if value is not None else []
        made = self._sequence(now, [one.number for one in kernels], caller)
        if isinstance(made, Reason) or made == now:
            return made if isinstance(made, Reason) else None
        entries[places.index(caller)] = memoryview(
            message(
                schema.SEQUENCE_ENTRY,
                key=caller,
                value=message(schema.SEQUENCE, instruction_ids=made),
            )
        )
        return replaced(self._module, "schedule", [replaced(schedule, "sequences", entries)])

    def _sequence(self, now: list[int], order: list[int], caller: int) -> list[int] | Reason:
        """Return a schedule in which instructions come in an order."""
        inside = self.instructions(caller)
        after = dict(zip(order[1:], order, strict=False))
        waits = {
            number: [
                *inside[number][0].numbers("operand_ids"),
                *inside[number][0].numbers("control_predecessor_ids"),
                *([after[number]] if number in after else []),
            ]
            for number in now
        }
        done: dict[int, None] = {}
        waiting = list(now)
        while waiting:
            ready = next((i for i in waiting if all(o in done for o in waits[i])), None)
            if ready is None:
                late = next(i for i in waiting if i in after and after[i] not in done)
                names = [inside[i][0].text("name") for i in (after[late], late)]
                return refuse(
                    "order-against-operands",
                    f"%{names[0]} depends on %{names[1]}, so that it cannot come first",
                )
            done[ready] = None
            waiting.remove(ready)
        return list(done)

    # -- finding -----------------------------------------------------------------------------------
    def instructions(self, computation: int) -> dict[int, tuple[Message, bytes]]:
        """Return the instructions of a computation by number, decoded one level deep."""
        if computation not in self._decoded:
            raws = Message(schema.COMPUTATION, self._raw[computation]).spans("instructions")
            found = [(Message(schema.INSTRUCTION, raw), bytes(raw)) for raw in raws]
            self._decoded[computation] = {one.number("id"): (one, raw) for one, raw in found}
        return self._decoded[computation]

    def has_name(self, name: str) -> bool:
        """Return True if the module may have an instruction or computation of this name."""
        mark = marker(name)
        return any(mark in raw for raw in self._raw.values())

    def _with(self, mark: bytes) -> Iterable[tuple[int, Message]]:
        """Yield (computation, instruction) of the instructions whose bytes contain others."""
        for number, whole in self._raw.items():
            if mark in whole:
                for raw in Message(schema.COMPUTATION, whole).spans("instructions"):
                    if mark in bytes(raw):
                        yield number, Message(schema.INSTRUCTION, raw)

    def _kernel(self, name: str) -> _Kernel | Reason:
        """Return the kernel that computes an instruction."""
        place = (
            next((c, i) for c, i in self._with(marker(name)) if i.text("name") == name)
            if self.has_name(name)
            else None
        )
        if place is None:
            return self._missing(name)
        computation, i = place
        caller = self._fusion_of(computation)
        return caller if caller is not None else _Kernel(computation, i.number("id"))

    def _fusion_of(self, computation: int) -> _Kernel | None:
        """Return the fusion that calls a computation; None if none does."""
        calls = message(schema.INSTRUCTION, called_computation_ids=[computation])
        for caller, i in self._with(calls):
            if i.text("opcode") == "fusion" and i.numbers("called_computation_ids") == [
                computation
            ]:
                return _Kernel(caller, i.number("id"))
        return None

    def _missing(self, name: str) -> Reason:
        names = [i.text("name") for c in self._raw for i, _ in self.instructions(c).values()]
        near = " or ".join([f"%{one}" for one in nearest(name, names)])
        module = self._module.text("name")
        return refuse(
            "not-in-the-module",
            f"{module} has no instruction %{name}" + (f"; similar: {near}" if near else ""),
            instruction=name,
        )

    # -- what an excerpt needs ---------------------------------------------------------------------
    def callees(self, raws: Iterable[Message]) -> dict[int, bytes]:
        """Return the computations that instructions call, with those that these call, in order."""
        found: set[int] = set()
        waiting = [c for one in raws for c in one.numbers("called_computation_ids")]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                for i, _ in self.instructions(number).values():
                    waiting += i.numbers("called_computation_ids")
        return {number: raw for number, raw in self._raw.items() if number in found}

    def head(self) -> dict[str, Any]:
        """Return the fields that an excerpt shares with the module."""
        return {"name": self._module.text("name"), "payloads": list(self._payloads())}

    def _payloads(self) -> Iterable[bytes]:
        return [bytes(one) for one in self._module.spans("payloads")]

    def root_of(self, computation: int) -> int:
        """Return the number of a computation's root."""
        return Message(schema.COMPUTATION, self._raw[computation]).number("root_id")

    def next_numbers(self, computation: int) -> tuple[int, int]:
        """Return a free number for an instruction of a computation, and one for a computation."""
        highest = max(self.instructions(computation))
        if highest >> _LOCAL != computation:  # numbers count through the whole module
            highest = max([max(self.instructions(c)) for c in self._raw])
        return highest + 1, max(self._raw) + 1

    def replace(
        self,
        caller: int,
        instructions: Sequence[bytes],
        made: dict[int, bytes],
        removed: Iterable[int],
    ) -> None:
        """Give a computation other instructions, computations made before it, and remove others."""
        whole = Message(schema.COMPUTATION, self._raw[caller])
        self._raw[caller] = replaced(whole, "instructions", instructions)
        known = {raw: one for one, raw in self._decoded[caller].values()}
        now = [(known.get(raw) or Message(schema.INSTRUCTION, raw), raw) for raw in instructions]
        self._decoded[caller] = {one.number("id"): (one, raw) for one, raw in now}
        for number in removed:
            if self._fusion_of(number) is None:
                self._raw.pop(number)
                self._decoded.pop(number, None)
        order: dict[int, bytes] = {}
        for number, raw in self._raw.items():
            if number == caller:
                order |= made
            order[number] = raw
        self._raw = order


def _in_two_computations(pair: tuple[str, str]) -> Reason:
    return refuse(
        "not-producer-and-consumer",
        f"the kernels of %{pair[0]} and %{pair[1]} are in two computations",
    )


class _Excerpt:
    """A module of some kernels of a computation; what they read are parameters.

    module: for a change; its root is the tuple of the kernels that others read. splice: puts the
    changed kernels back, where each takes the number of the kernel that it replaces.
    """

    def __init__(self, whole: ModuleBytes, caller: int, kernels: list[int]) -> None:
        self.whole, self.caller = whole, caller
        inside = whole.instructions(caller)
        order = {number: place for place, number in enumerate(inside)}
        self.kernels = sorted(kernels, key=order.__getitem__)
        self._messages = [inside[number][0] for number in self.kernels]
        operands = [o for one in self._messages for o in one.numbers("operand_ids")]
        self._stubs = [o for o in dict.fromkeys(operands) if o not in kernels]
        self.outside = [number for number in self.kernels if self._is_read(number)]
        callees = whole.callees(self._messages)
        self.module = self._read(callees.values())
        computations = [c for c in self.module.computations.values() if c is not self.module.entry]
        self._callees = dict(zip(computations, callees, strict=True))
        self._names = {i.name for i in self.module.instructions()} | set(self.module.computations)

    def has_control_edges(self) -> Reason | None:
        """Return a refusal if a kernel waits for instructions other than its operands."""
        for one in self._messages:
            if one.numbers("control_predecessor_ids"):
                name = one.text("name")
                return refuse("has-control-edges", f"%{name} has control predecessors")
        return None

    def _is_read(self, kernel: int) -> bool:
        if self.whole.root_of(self.caller) == kernel:
            return True
        return any(
            kernel in one.numbers("operand_ids") or kernel in one.numbers("control_predecessor_ids")
            for number, (one, _) in self.whole.instructions(self.caller).items()
            if number not in self.kernels
        )

    def _read(self, callees: Iterable[bytes]) -> HloModule:
        inside = self.whole.instructions(self.caller)
        stubs = [
            message(
                schema.INSTRUCTION,
                name=inside[number][0].text("name"),
                opcode="parameter",
                shape=inside[number][0].data("shape"),
                id=number,
                parameter_number=place,
            )
            for place, number in enumerate(self._stubs)
        ]
        shapes = [inside[number][0].data("shape") for number in self.outside]
        root = message(
            schema.INSTRUCTION,
            name="results.of.the.excerpt",
            opcode="tuple",
            shape=message(schema.SHAPE, element_type=_TUPLE, tuple_shapes=shapes),
            id=max(inside) + 1,
            operand_ids=self.outside,
        )
        bare = [replaced(one, "control_predecessor_ids", []) for one in self._messages]
        entry = message(
            schema.COMPUTATION,
            name="excerpt",
            instructions=[*stubs, *bare, root],
            id=self.caller,
            root_id=max(inside) + 1,
        )
        raw = message(
            schema.MODULE,
            computations=[*callees, entry],
            entry_computation_id=self.caller,
            **self.whole.head(),
        )
        return read_hlo_proto(raw).module

    # -- back into the whole -----------------------------------------------------------------------
    def splice(self) -> None:
        """Put the kernels of the changed excerpt in the place of those that it was made of."""
        made, removed = self._number_computations()
        instructions = self._placed()
        raws = {c.id + 1: computation_proto(c, True) for c in made}
        self.whole.replace(self.caller, instructions, raws, removed)

    def _number_computations(self) -> tuple[list[HloComputation], list[int]]:
        """Give all computations and their instructions the numbers that they have in the whole.

        Return the new computations, and the numbers of those that are no longer there.
        """
        self._next, number = self.whole.next_numbers(self.caller)
        is_local = (self._next - 1) >> _LOCAL == self.caller
        made = []
        for c in self.module.computations.values():
            if c is self.module.entry:
                continue
            if c in self._callees:
                c.id = self._callees[c] - 1
                continue
            c.id, order = number - 1, c.post_order()
            c.name = self._free_name(c.name)
            for place, i in enumerate(order):
                i.id = (number << _LOCAL) + place - 1 if is_local else self._take() - 1
                i.name = self._free_name(i.name)
            made.append(c)
            number += 1
        kept = set(self.module.computations.values())
        return made, [number for c, number in self._callees.items() if c not in kept]

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _free_name(self, name: str) -> str:
        """Return a name that no other instruction or computation of the whole has."""
        if name in self._names:
            return name
        free = name
        while self.whole.has_name(free):
            free = f"{name}.{next(self.whole.suffixes)}"
        return free

    def _placed(self) -> list[bytes]:
        """Return the instructions of the caller, each new one behind its last operand."""
        inside = self.whole.instructions(self.caller)
        place = {number: k for k, number in enumerate(inside)}
        entry = self.module.entry
        number_of: dict[HloInstruction, int] = {}
        behind: dict[int, list[bytes]] = {}
        at: dict[HloInstruction, int] = {}
        root = entry.root
        replacing = dict(zip(root.operands, self.outside, strict=True))
        for i in entry.post_order():
            if i is root:
                continue
            if i.opcode.name == "parameter":
                number = self._stubs[i.parameter_number]
                at[i] = place[number]
            else:
                number = replacing[i] if i in replacing else self._take()
                at[i] = max([at[o] for o in i.operands], default=-1)
            number_of[i], i.id = number, number - 1
            if i.opcode.name != "parameter":
                i.name = self._free_name(i.name)
                behind.setdefault(at[i], []).append(instruction_proto(i))
        gone = set(self.kernels)
        out = list(behind.get(-1, []))
        for number, (_, raw) in inside.items():
            if number not in gone:
                out.append(raw)
            out += behind.get(place[number], [])
        return out
