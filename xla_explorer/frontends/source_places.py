"""Source places for instructions without one, taken from their surroundings.

JAX writes stack frames on most operations, but not on parameters and constants, nor in nested
functions that it traced once for many callers. A place is never invented. An instruction gets the
place of the operation that first uses it, a computation that of its call. Parameters of the entry
get the place of the function's definition.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import OpMetadata, write_metadata
from xla_explorer.hlo.module import HloModule

SourcePlace = tuple[int, str, int]  # stack frame, or file and line
NOWHERE: SourcePlace = (0, "", 0)


def place_of(i: HloInstruction) -> SourcePlace:
    """Return (stack frame id, source file, source line) of the metadata."""
    found = i.op_metadata
    return found.stack_frame_id, found.source_file, found.source_line


def forget_callers(module: HloModule, file: str) -> None:
    """Remove `file` and its callers, which are not of the program, from every stack."""
    if module.frames is None:
        return
    tables, kept = module.frames.called_from(file)
    if tables is module.frames:
        return
    module.frames = tables
    for i in module.instructions():
        said = i.op_metadata
        if said.stack_frame_id and kept.get(said.stack_frame_id) != said.stack_frame_id:
            i.parent.set_metadata(
                i, write_metadata(said._replace(stack_frame_id=kept.get(said.stack_frame_id, 0)))
            )


def complete_source_places(module: HloModule, definition: tuple[str, int] | None = None) -> None:
    """Give a place to instructions that have none.

    definition: file and line of the function that was traced.
    """
    inherited: dict[int, SourcePlace] = {}
    if definition is not None:
        inherited[module.entry.id] = (0, *definition)
    for computation in reversed(list(module.computations.values())):  # callers first
        _complete(computation, inherited.get(computation.id, NOWHERE))
        for i in computation.post_order():
            place = place_of(i)
            if place != NOWHERE:
                for called in i.called:
                    inherited.setdefault(called.id, place)


def _complete(computation: HloComputation, inherited: SourcePlace) -> None:
    taken: dict[int, SourcePlace] = {}
    order = computation.post_order()
    for i in reversed(order):  # users first
        place = place_of(i)
        if place == NOWHERE:
            place = next(
                (taken[user.id] for user in i.users if taken.get(user.id, NOWHERE) != NOWHERE),
                NOWHERE,
            )
            if i.opcode.name == "parameter" and computation.is_entry and inherited != NOWHERE:
                place = inherited
        taken[i.id] = place
    for i in order:
        if place_of(i) != NOWHERE:
            continue
        place = taken[i.id]
        if (
            place == NOWHERE
        ):  # without users (a root): the place of its operands, else of the call of its computation
            place = next((taken[o.id] for o in i.operands if taken[o.id] != NOWHERE), NOWHERE)
        if place == NOWHERE:
            place = inherited
        if place != NOWHERE:
            taken[i.id] = place
            said = i.op_metadata
            computation.set_metadata(
                i,
                write_metadata(
                    OpMetadata(said.op_type, said.op_name, place[1], place[2], place[0])
                ),
            )
