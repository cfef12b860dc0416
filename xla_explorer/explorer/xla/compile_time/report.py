"""The answer of `xe.xla.why_slow_to_compile`."""

from __future__ import annotations

from typing import Final, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.compile_time.causes import CompileCause
from xla_explorer.explorer.xla.compile_time.kernel_compile import KernelCompile

_MOST: Final = 6  # rows of a table


class CompileStage(NamedTuple):
    """A stage from the call of the function to machine code.

    Attributes
    ----------
    stage : str
        `trace` and `lower` are JAX's, the others XLA's.
    seconds, share : float
        Of the whole.
    """

    stage: str
    seconds: float
    share: float


class PassTime(NamedTuple):
    """A pass of XLA in one pipeline.

    Attributes
    ----------
    name, pipeline : str
        As XLA prints them.
    seconds : float
        Own time of all runs, nested passes left out.
    runs : int
        Number of runs.
    """

    name: str
    pipeline: str
    seconds: float
    runs: int


class TriedFlag(NamedTuple):
    """A setting of XLA that was tried.

    Attributes
    ----------
    options : dict
        For `compile(compiler_options=...)`.
    compile_ratio : float
        Compile time with it : without, the median of rounds in turns.
    low, high : float
        The smallest and the largest ratio.
    """

    options: dict[str, object]
    compile_ratio: float
    low: float
    high: float


class WhySlowToCompile(Report):
    """The compile time of a function by pass, kernel and line, with its causes.

    Attributes
    ----------
    program : str
        Name of the module.
    seconds : float
        Trace, lowering and compile together.
    stages : list of CompileStage
        In their order.
    passes : list of PassTime
        XLA's passes, the longest first.
    kernels : list of KernelCompile
        The longest first.
    causes : list of CompileCause
        What in the program makes it long, the largest saving first.
    tried : list of TriedFlag
        Flags of XLA that were tried.
    """

    __slots__ = ("causes", "kernels", "passes", "program", "seconds", "stages", "tried")

    def __init__(
        self,
        program: str,
        stages: list[CompileStage],
        passes: list[PassTime],
        kernels: list[KernelCompile],
        causes: list[CompileCause],
    ) -> None:
        self.program, self.stages, self.passes = program, stages, passes
        self.kernels, self.causes = kernels, causes
        self.seconds = sum([one.seconds for one in stages])
        self.tried: list[TriedFlag] = []

    def headline(self) -> str:
        """Return the whole time and the longest stage."""
        longest = max(self.stages, key=lambda one: one.seconds)
        return (
            f"{self.program} compiles in {microseconds(1e6 * self.seconds)}, "
            f"{longest.share:.0%} of it {longest.stage}"
        )

    def by_line(self) -> list[tuple[str, float, int, int]]:
        """Return (line, seconds, kernels, instructions) of each source line, by time."""
        found: dict[str, list[KernelCompile]] = {}
        for one in self.kernels:
            found.setdefault(one.line or "(no line)", []).append(one)
        rows = [
            (
                line,
                sum([(one.emit_s or 0.0) + one.llvm_s for one in of]),
                len(of),
                sum([one.instructions for one in of]),
            )
            for line, of in found.items()
        ]
        return sorted(rows, key=lambda row: -row[1])

    def by_opcode(self) -> list[tuple[str, float, int, int]]:
        """Return (opcode, seconds, kernels, instructions) of each kind of kernel, by time."""
        found: dict[str, list[KernelCompile]] = {}
        for one in self.kernels:
            found.setdefault(one.opcode, []).append(one)
        rows = [
            (
                opcode,
                sum([(one.emit_s or 0.0) + one.llvm_s for one in of]),
                len(of),
                sum([one.instructions for one in of]),
            )
            for opcode, of in found.items()
        ]
        return sorted(rows, key=lambda row: -row[1])

    def blocks(self) -> Blocks:
        """Yield stages, passes, lines, kinds of kernels and causes."""
        yield self.records()
        rows = [(one.name, one.pipeline, one.seconds, one.runs) for one in self.passes[:_MOST]]
        yield Table(["pass", "pipeline", "seconds", "runs"], rows, "passes of XLA")
        head = ["seconds", "kernels", "instructions"]
        note = "LLVM's time is divided by instructions"
        yield Table(["line", *head], self.by_line()[:_MOST], "source lines", note)
        yield Table(["kind", *head], self.by_opcode()[:_MOST], "kinds of kernels", note)
        if self.causes:
            yield Listing("causes:", [_cause_text(one) for one in self.causes], numbered=True)
        else:
            yield Sentence("no line is traced many times, and no large array is a constant")
        if self.tried:
            yield Listing("tried:", [_tried_text(one) for one in self.tried])

    def records(self) -> Table:
        """Return a row for each stage."""
        return Table(list(CompileStage._fields), [tuple(one) for one in self.stages], "stages")


def _cause_text(one: CompileCause) -> str:
    saves = f"; not tried, estimated {microseconds(1e6 * one.saves_s)} less" if one.saves_s else ""
    return f"{one.sentence}{f' ({one.line})' if one.line else ''}{saves}"


def _tried_text(one: TriedFlag) -> str:
    return (
        f"compiler_options={one.options}: measured {one.compile_ratio:.2f} of the compile time "
        f"({one.low:.2f} to {one.high:.2f}); time a run too before you use it"
    )
