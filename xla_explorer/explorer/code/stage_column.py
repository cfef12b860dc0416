"""One stage of one compile as code by kernel: a column beside the HLO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.explorer.code.column_time import column_time
from xla_explorer.explorer.code.stage_functions import CodeLine, stage_functions
from xla_explorer.explorer.display import number_of
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction

GPU_STAGES = {
    "ptx": "ptx",
    "sass": "sass",
    "gpu-llvm-ir": "llvm-ir",
    "gpu-llvm-ir-optimized": "llvm-ir-optimized",
}
"""Columns of the same source compiled for the GPU, beside the stages of another session."""
BEFORE_CODE, AFTER_CODE = -1, -2
"""Rows before the first and after the last line of code."""
Placed = list[tuple[tuple[int, int], CodeLine]]
"""(order, line); the line's `instruction` is one of the session, BEFORE_CODE or AFTER_CODE."""
_NO_WORK = ("parameter", "constant", "fusion", "tuple", "broadcast", "bitcast")
_NO_SASS = (
    'SASS needs ptxas and nvdisasm: pip install "xla-explorer[sass]"; session.gpu().assembly() '
    "names the missing one"
)


def step_members(session: Compilation, step: ProgramStep) -> list[HloInstruction]:
    """Return the instruction of a step, then those of its fusion in program order."""
    if step.opcode == "entry":
        return list(session.module.entry.instructions.values())
    i = session.module.find(step.instruction)
    return [i, *i.called[0].instructions.values()] if i.opcode.name == "fusion" else [i]


def stage_column(session: Compilation, name: str) -> StageColumn:
    """Return the column of a stage, of the session or of the source compiled for the GPU."""
    if name in session.stages():
        return StageColumn(session, session, name)
    try:
        gpu = session.gpu()
        missing = (
            ""
            if GPU_STAGES[name] in gpu.stages()
            else _NO_SASS
            if name == "sass"
            else f"the backend gpu has no stage {name}"
        )
        return StageColumn(session, gpu, GPU_STAGES[name], missing)
    except XlaExplorerError as problem:
        return StageColumn(session, None, GPU_STAGES[name], problem.message)


class StageColumn:
    """One stage of one compile as code by kernel.

    session: whose kernels are shown. made_by: which compile has the stage, None: none.
    """

    def __init__(
        self, session: Compilation, made_by: Compilation | None, stage: str, problem: str = ""
    ) -> None:
        self.session, self.made_by, self.stage, self.problem = session, made_by, stage, problem

    @cached_property
    def _functions(self) -> dict[str, list[CodeLine]]:
        if self.made_by is None or self.problem:
            return {}
        try:
            return stage_functions(self.made_by.stage(self.stage))
        except Exception as problem:  # a second backend must never spoil the view of the first
            self.problem = f"{type(problem).__name__}: {problem}"
            return {}

    @cached_property
    def _steps(self) -> dict[str, list[ProgramStep]]:
        """The steps that each function is written for."""
        assert self.made_by is not None
        found: dict[str, list[ProgramStep]] = {}
        for step in program_steps(self.made_by):
            found.setdefault(step.function, []).append(step)
        return found

    def _of_step(self, step: ProgramStep) -> Iterator[tuple[str, dict[int, int]]]:
        """Yield the functions of a step by name, with the meaning of the ids in their lines.

        Several steps may share a function that was written for one of them. Its instructions then
        map to those of the others by order.
        """
        assert self.made_by is not None
        members = step_members(self.made_by, step)
        ids = {i.id for i in members}
        further = [
            name
            for name in self._functions
            if step.function and name.startswith(step.function) and name not in self._steps
        ]
        for name in [step.function, *further]:
            if name not in self._functions:
                continue
            counts = Counter([line.instruction for line in self._functions[name]])
            if name != step.function and not _mostly(counts, ids):
                continue
            candidates = [step_members(self.made_by, other) for other in self._steps[step.function]]
            written_for = max(
                candidates, key=lambda candidate: sum([counts[i.id] for i in candidate])
            )
            yield (
                name,
                {theirs.id: mine.id for theirs, mine in zip(written_for, members, strict=False)},
            )

    def _overlapping(
        self, step: ProgramStep, members: Sequence[HloInstruction]
    ) -> list[tuple[ProgramStep, dict[int, int]]]:
        """Return the steps of `made_by` that compute parts of a step, with {id there: id here}."""
        if self.made_by is None or self.problem:
            return []
        if self.made_by is self.session:
            return [(step, {i.id: i.id for i in members})]
        own = self.session.passes.lineage
        here: dict[int, int] = {}
        for i in reversed(members):  # of a fusion and its root, which come from the same, the root
            if i.opcode.name not in ("parameter", "fusion"):
                here.update((origin, i.id) for origin in reversed(own.origins(i.id)))
        found = []
        for other in program_steps(self.made_by):
            places = [
                (key, next((here[o] for o in origins if o in here), None))
                for key, origins in self._origins[other.instruction]
            ]
            same = {key: mine for key, mine in places if mine is not None}
            if same:
                found.append((other, same))
        return found

    @cached_property
    def _origins(self) -> dict[int, list[tuple[int, list[int]]]]:
        """The ids of each step of another compile, with their origins in the common source."""
        assert self.made_by is not None
        lineage, written = (
            self.made_by.passes.lineage,
            {i.id for i in self.session.source.instructions()},
        )
        found = {}
        for step in program_steps(self.made_by):
            inside = step_members(self.made_by, step)
            rooted = [
                (i.id, (i.called[0].root if i.opcode.name == "fusion" else i).id)
                for i in inside
                if i.opcode.name != "parameter"
            ]
            found[step.instruction] = [
                (key, [o for o in lineage.origins(root) if o in written]) for key, root in rooted
            ]
        return found

    def _beyond(self, other: ProgramStep, same: Mapping[int, int]) -> int:
        """Return the number of instructions of a step that the session's kernel does not have."""
        assert self.made_by is not None
        real = [i.id for i in step_members(self.made_by, other) if i.opcode.name not in _NO_WORK]
        return len([key for key in real if key not in same])

    def lines_of(self, step: ProgramStep, members: Sequence[HloInstruction]) -> Placed:
        """Return the lines of a step in their order.

        Labels and other lines without an instruction stay with the next line.
        """
        found: Placed = []
        for number, (other, same) in enumerate(self._overlapping(step, members)):
            whole = self.made_by is self.session or not self._beyond(other, same)
            for name, means in self._of_step(other):
                found += [
                    ((number, line.number), line)
                    for line in _of_function(self._functions[name], means, same, whole=whole)
                ]
        return found

    def note(self, step: ProgramStep, members: Sequence[HloInstruction]) -> str:
        """Return the kernels of another compile in a column, or why the column is empty."""
        if self.problem:
            return self.problem
        found = self._overlapping(step, members)
        if self.made_by is self.session:
            return (
                ""
                if any(self._of_step(step))
                else "no code of its own: it is computed elsewhere, or by a library"
            )
        texts = []
        for other, same in found:
            beyond = self._beyond(other, same)
            texts.append(
                f"%{other.name}"
                + (f", which computes {number_of(beyond, 'more instruction')}" if beyond else "")
            )
        return (
            f"in {' and in '.join(texts)}"
            if texts
            else "no code of its own: this compiler computes it inside another kernel"
        )

    def time(self, step: ProgramStep, members: Sequence[HloInstruction]) -> str:
        """Return the time of this column's kernels in words, with its source."""
        if self.made_by is None or self.problem:
            return ""
        found = self._overlapping(step, members)
        emulation = self.made_by.last_emulation or (
            self.session.last_emulation if self.made_by.backend == "gpu" else None
        )
        texts = column_time(self.made_by, [other for other, _ in found], emulation)
        partly = self.made_by is not self.session and any(
            self._beyond(other, same) for other, same in found
        )
        return f"{texts}, all that it computes" if texts and partly else texts


def _mostly(counts: Mapping[int | None, int], ids: set[int]) -> bool:
    known = sum([n for key, n in counts.items() if key is not None])
    return known > 0 and 2 * sum([counts.get(key, 0) for key in ids]) > known


def _of_function(
    lines: Sequence[CodeLine], means: Mapping[int, int], same: Mapping[int, int], *, whole: bool
) -> Iterator[CodeLine]:
    """Yield the lines that come from the instructions of `same`, with the values of `same` as ids.

    whole: the whole function is theirs.
    """
    first = next((k for k, line in enumerate(lines) if line.instruction is not None), len(lines))
    waiting: list[CodeLine] = []
    fallback = next(iter(same.values()), BEFORE_CODE)
    for k, line in enumerate(lines):
        if line.instruction is None:
            if k < first:
                yield line._replace(instruction=BEFORE_CODE)
            else:
                waiting.append(line)
            continue
        key = same.get(means.get(line.instruction, line.instruction))
        if key is None and whole:
            key = fallback
        if key is not None:
            yield from [one._replace(instruction=key) for one in waiting]
            yield line._replace(instruction=key)
        waiting = []
    if whole:
        yield from [line._replace(instruction=AFTER_CODE) for line in waiting]
