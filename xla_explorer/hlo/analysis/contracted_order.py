"""A topological order over groups of instructions, maintained while groups are joined.

Fusion joins two groups into one kernel. This is legal if no path leads from the earlier to the
later group through a third one. Such a path can only contain groups that are between the two in the
order. After a join, groups that depend on the earlier one are moved behind the later one. Source:
Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs, ACM JEA 11,
2006, with contractions instead of new edges.
"""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction

_SEARCH_LIMIT = 1000  # groups visited, beyond which the join is refused


class ContractedOrder:
    """A topological order of groups. place: the initial position of each instruction."""

    def __init__(self, computation: HloComputation) -> None:
        order = computation.post_order()
        self.place = {i: number for number, i in enumerate(order)}
        self._node = dict(self.place)  # the group of an instruction
        self._members = [[i] for i in order]
        self._sequence = list(range(len(order)))  # groups in a valid order
        self._position = list(range(len(order)))
        self._followers: dict[HloInstruction, list[HloInstruction]] = {}
        for i in order:
            for before in i.control_predecessors:
                self._followers.setdefault(before, []).append(i)

    def why_not_join(self, a: HloInstruction, b: HloInstruction) -> Reason | None:
        """Return the reason against joining the groups of two instructions, or None."""
        found = self._dependents_between(a, b)
        return found if isinstance(found, Reason) else None

    def join(self, a: HloInstruction, b: HloInstruction) -> None:
        """Join the groups of two instructions; `why_not_join` must have returned None."""
        dependents = self._dependents_between(a, b)
        assert not isinstance(dependents, Reason)
        first, second = self._nodes_in_order(a, b)
        begin, end = self._position[first], self._position[second]
        between = self._sequence[begin + 1 : end]
        # The number of the earlier group stays at the front as an empty group. So the positions of
        # groups outside of this range do not change.
        order = [
            first,
            *[n for n in between if n not in dependents],
            second,
            *[n for n in between if n in dependents],
        ]
        self._sequence[begin : end + 1] = order
        for position, node in enumerate(order, begin):
            self._position[node] = position
        for member in self._members[first]:
            self._node[member] = second
        self._members[second] += self._members[first]
        self._members[first] = []

    def between(self, a: HloInstruction, b: HloInstruction) -> str:
        """Return the number of groups between the two as text."""
        first, second = self._nodes_in_order(a, b)
        return f"instructions in between {self._position[second] - self._position[first] - 1}"

    def _nodes_in_order(self, a: HloInstruction, b: HloInstruction) -> tuple[int, int]:
        x, y = self._node[a], self._node[b]
        return (x, y) if self._position[x] < self._position[y] else (y, x)

    def _dependents_between(self, a: HloInstruction, b: HloInstruction) -> set[int] | Reason:
        """Return the groups between the two that depend on the earlier one.

        A refusal if the later one depends on any of these groups.
        """
        first, second = self._nodes_in_order(a, b)
        end = self._position[second]
        found: set[int] = set()
        stack = [first]
        while stack:
            node = stack.pop()
            for member in self._members[node]:
                for user in (*member.users, *self._followers.get(member, ())):
                    there = self._node[user]
                    if there == second and node != first:
                        message = (
                            f"a path between %{a.name} and %{b.name} leads through %{member.name}"
                        )
                        return refuse("would-create-cycle", message, through=member.name)
                    if there != node and there not in found and self._position[there] < end:
                        found.add(there)
                        stack.append(there)
            if len(found) > _SEARCH_LIMIT:
                message = (
                    f"more than {_SEARCH_LIMIT} groups depend on the first of %{a.name} and "
                    f"%{b.name}: "
                    "the search for a cycle was stopped"
                )
                return refuse("would-create-cycle", message, searched=len(found))
        return found
