"""The modules of a dump, in order, with instructions known again from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from xla_explorer.frontends.xla_dump.folder import DumpedModule, DumpedPass, DumpError
from xla_explorer.frontends.xla_dump.main_program import read_module
from xla_explorer.hlo.analysis.module_matching import match_modules
from xla_explorer.hlo.module import HloModule, ModuleSnapshot


class DumpedStage(NamedTuple):
    """The module after a pass.

    pipeline, name: of the pass; both empty for the module as it entered the compiler.
    """

    pipeline: str
    name: str
    snapshot: ModuleSnapshot
    path: Path


def read_stages(
    dumped: DumpedModule,
    source: HloModule | None = None,
    prepare: Callable[[HloModule], None] | None = None,
    only: Collection[str] | None = None,
) -> tuple[list[DumpedStage], HloModule]:
    """Return every HLO text or proto of the module as a stage, and the last one as a module.

    An instruction keeps its id from text to text. Instructions are matched by name and opcode
    first, then by structure (see `hlo.analysis.module_matching`). source: the compiled module, if
    available; its instructions give their ids to the first text. prepare: called with each module
    first. only: read the texts around these passes and both ends (None: all).
    """
    files = [("", "", dumped.before)] if dumped.before is not None else []
    files += [(p.pipeline, p.name, p.path) for p in _wanted(dumped.passes, only)]
    if dumped.after is not None:
        files.append(("", "after_optimizations", dumped.after))
    stages: list[DumpedStage] = []
    previous = source
    for pipeline, name, path in files:
        assert path is not None
        module = read_module(path)
        if prepare is not None:
            prepare(module)
        if previous is not None:
            adopt_identities(previous, module)
        stages.append(DumpedStage(pipeline, name, module.snapshot(), path))
        previous = module
    if not stages or previous is None:
        raise DumpError(f"{dumped.name} has no HLO in the dump", "dump with --xla_dump_hlo_as_text")
    return stages, previous


def _wanted(passes: Sequence[DumpedPass], only: Collection[str] | None) -> Iterator[DumpedPass]:
    """Yield the texts after some passes, and those before them."""
    for number, one in enumerate(passes):
        following = passes[number + 1].name if number + 1 < len(passes) else ""
        if only is None or one.name in only or following in only:
            yield one


def adopt_identities(previous: HloModule, following: HloModule) -> None:
    """Give matched instructions and computations of `following` the ids of `previous`.

    The others get new ids.
    """
    matching = match_modules(previous, following, by_name=True)
    renumbered = {new: old.id for old, new in matching.left_to_right.items()}
    lines = {new: old.line for old, new in matching.left_to_right.items()}
    for i in following.instructions():  # a line is of the compiled text, not of XLA's dump of it
        i.line = lines.get(i, 0)
    for i in following.instructions():
        if not i.line and i.opcode.name == "fusion":
            inside = i.called[0]
            i.line = next(
                (
                    one.line
                    for one in (inside.root, *reversed(inside.instructions.values()))
                    if one.line
                ),
                0,
            )
    following.renumber(
        renumbered, {new: old.id for old, new in matching.computations.items()}, previous
    )
