"""Another compiler's result for the same program, beside our decisions.

Instructions are matched by the operation of the source (`op_name`), which compilers keep while
names and ids change. If one instruction of the source has an op_name, every instruction of the
result with that name comes from it (copies, parts). If several have it, they are matched by opcode
and order, but only if the result has as many as the source.
"""

from __future__ import annotations

from xla_explorer.explorer.sessions.lineage import Lineage
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule

_NO_WORK = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "fusion", "call"}
)
Operation = tuple[str, str, int]


class Beside:
    """Another compiler's result of `source`.

    name: whose. kernels: operation of the source -> ids of the kernels (outermost fusions, or
    instructions by themselves) of the result that compute it.
    """

    def __init__(self, name: str, source: HloModule, result: HloModule) -> None:
        self.name = name
        here, there = _by_operation(source), _by_operation(result)
        self._of_source: dict[int, Operation] = {}
        found: dict[HloInstruction, Operation] = {}
        for operation, bearers in here.items():
            copies = there.get(operation, [])
            if len(bearers) == 1:
                self._of_source[bearers[0].id] = (operation, "", 0)
                found.update(dict.fromkeys(copies, (operation, "", 0)))
                continue
            for opcode in {i.opcode.name for i in bearers}:
                mine, theirs = [
                    [i for i in of if i.opcode.name == opcode] for of in (bearers, copies)
                ]
                if len(mine) == len(theirs):
                    self._of_source.update(
                        {i.id: (operation, opcode, k) for k, i in enumerate(mine)}
                    )
                    found.update({i: (operation, opcode, k) for k, i in enumerate(theirs)})
        self.kernels: dict[Operation, set[int]] = {}
        kernel_of = _kernels(result)
        for i, key in found.items():
            self.kernels.setdefault(key, set()).add(kernel_of.get(i.parent.id, i.id))

    def says(self, lineage: Lineage, producer: int | None, consumer: int | None) -> str:
        """Return a sentence on the other compiler's decision about a pair of our compile."""
        first, second = self._operation(lineage, producer), self._operation(lineage, consumer)
        if (
            first is None
            or second is None
            or first not in self.kernels
            or second not in self.kernels
        ):
            return "unknown: one of them was rewritten there, or has no op_name to match"
        if first == second:
            return "has both as one operation"
        return (
            "computes both in one kernel"
            if self.kernels[first] & self.kernels[second]
            else "uses two kernels"
        )

    def _operation(self, lineage: Lineage, instruction: int | None) -> Operation | None:
        if instruction is None:
            return None
        return next(
            (
                self._of_source[key]
                for key in lineage.origins(instruction)
                if key in self._of_source
            ),
            None,
        )


def _by_operation(module: HloModule) -> dict[str, list[HloInstruction]]:
    found: dict[str, list[HloInstruction]] = {}
    for i in module.instructions():
        if i.metadata and "op_name" in i.metadata and i.opcode.name not in _NO_WORK:
            found.setdefault(parse_metadata(i.metadata).op_name, []).append(i)
    return found


def _kernels(module: HloModule) -> dict[int, int]:
    """Return the outermost fusion around each fused computation, by ids."""
    found: dict[int, int] = {}
    bodies = module.fusion_computations()
    work = [
        (i, i.id)
        for i in module.instructions()
        if i.opcode.name == "fusion" and i.parent not in bodies
    ]
    while work:
        fusion, outermost = work.pop()
        for computation in fusion.called:
            found[computation.id] = outermost
            work += [
                (i, outermost)
                for i in computation.instructions.values()
                if i.opcode.name == "fusion"
            ]
    return found
