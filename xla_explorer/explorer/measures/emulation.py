"""GPU kernels on the PTX emulator: instructions, divergence, memory traffic and faults by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.display import Blocks, Report, Table, frame_table, number_of, wide_frame
from xla_explorer.explorer.sessions.arguments import Array, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.measures.counted_ptx import CountedPtx
    from xla_explorer.explorer.measures.stepped_kernel import SteppedKernel

_SUMS = ("warp_instructions", "thread_instructions", "divergent_branches", "requests", "sectors")


class Emulation(Report):
    """The result of `session.emulation()`.

    `stepper(kernel)` steps through a kernel; `edited(old, new)` emulates a changed text.

    Attributes
    ----------
    values : list of array
        The leaves of the result.
    counters : DataFrame
        A row per PTX line that ran. Columns: kernel, line, opcode, warp_instructions,
        thread_instructions, active (share of lanes), divergent_branches (warps), requests and
        sectors of memory, sectors_per_request (4 is best for 4-byte elements), sector_use (share
        of requested bytes), bank_conflict (1 is best), same_address, hlo, source line.
    kernels : DataFrame
        The sums by kernel.
    ptx : CountedPtx
        The text with the counters by line.
    findings : DataFrame
        A row per fault.
    """

    def __init__(
        self,
        session: Compilation,
        values: list[Array],
        rows: list[dict[str, Any]],
        findings: list[Any],
        arguments: list[Array],
        text: str | None = None,
    ) -> None:
        # Start-up time: the emulator.
        from xla_explorer.backends.gpu.emulator.counters import COLUMNS

        self.values = values
        self._names = {i.id: i.name for i in session.module.instructions()}

        def source(key: int | None) -> str:
            return source_line(session, key) if key is not None and key in self._names else ""

        self._ptx: CountedPtx | None = None
        self._gpu, self._arguments, self._text = session, arguments, text
        placed = self._placed = [
            {**row, "hlo": self._hlo(row["instruction"]), "source": source(row["instruction"])}
            for row in rows
        ]
        self.counters: pandas.DataFrame = wide_frame(placed, [*COLUMNS, "hlo", "source"])
        self.findings: pandas.DataFrame = wide_frame(
            [
                (f.kind, f.kernel, f.line, f.text, self._hlo(f.origin), f.count, f.example)
                for f in findings
            ],
            ["kind", "kernel", "line", "ptx", "hlo", "count", "example"],
        )

    def _hlo(self, key: int | None) -> str:
        return f"%{self._names[key]}" if key is not None and key in self._names else ""

    @property
    def kernels(self) -> pandas.DataFrame:
        """A row per kernel, in program order: the sums, and the averages that matter."""
        frame = self.counters.groupby("kernel", sort=False)[list(_SUMS)].sum().reset_index()
        frame["active"] = frame["thread_instructions"] / (32 * frame["warp_instructions"])
        return frame

    @property
    def ptx(self) -> CountedPtx:
        """The PTX with counters and colours by line: coalescing, divergence, bank conflicts."""
        if self._ptx is None:
            # Start-up time: pandas.
            from xla_explorer.explorer.measures.counted_ptx import CountedPtx

            self._ptx = CountedPtx(self.text, self._placed)
        return self._ptx

    @property
    def text(self) -> str:
        """The PTX that ran."""
        return self._gpu.stage("ptx").text if self._text is None else self._text

    def edited(self, old: str, new: str) -> Emulation:
        """Emulate again with each `old` in the PTX replaced by `new`, on the same arguments.

        Blanks and tabs in `old` match each other. XlaExplorerError if `old` is not in the text, and
        for a text that is not PTX.
        """
        pattern = r"[ \t]+".join([re.escape(word) for word in old.split()])
        if not pattern or not re.search(pattern, self.text):
            raise XlaExplorerError(f"the PTX has no {old!r}", "see .ptx for the text")
        text = re.sub(pattern, lambda _: new, self.text)
        executable: Any = self._gpu.executable
        result = executable.emulate(self._arguments, text=text)
        return Emulation(
            self._gpu, result.values, result.rows, result.findings, self._arguments, text
        )

    def stepper(self, kernel: str = "", block: int = 0) -> SteppedKernel:
        """Return a block of a kernel's first launch on the same arguments, to step warp by warp.

        kernel: "" is the first. XlaExplorerError with the existing kernels and blocks.
        """
        # Start-up time: the emulator.
        from xla_explorer.explorer.measures.stepped_kernel import SteppedKernel

        name = kernel or str(self.counters["kernel"].iloc[0])
        executable: Any = self._gpu.executable
        return SteppedKernel(
            executable.stepper(self._arguments, name, block, 1, self._text), self.text, self._hlo
        )

    def headline(self) -> str:
        """Return the number of instructions and the faults."""
        total = int(self.counters["thread_instructions"].sum())
        faults = (
            f"{number_of(len(self.findings), 'kind')} of faults: see .findings"
            if len(self.findings)
            else "no faults"
        )
        return f"Emulation of {number_of(self.counters['kernel'].nunique(), 'kernel')}: {total} instructions of threads, {faults}"

    def blocks(self) -> Blocks:
        """Yield the sums by kernel."""
        yield frame_table(self.kernels)

    def records(self) -> Table:
        """Return the rows of `counters`."""
        return frame_table(self.counters)


@as_one_run
def emulation(session: Compilation, arrays: Sequence[Any]) -> Emulation:
    """Run the session's program for the gpu on the emulator. Without arrays: random ones."""
    gpu = session.gpu()
    emulate = getattr(gpu.executable, "emulate", None)
    if emulate is None:
        raise XlaExplorerError(
            f"programs of {gpu.backend} cannot be emulated", 'compile with backend="gpu"'
        )
    arguments = gpu.signature.leaves(tuple(arrays) or random_arguments(gpu.source))
    result = emulate(arguments)
    found = session.last_emulation = Emulation(
        gpu, result.values, result.rows, result.findings, arguments
    )
    return found
