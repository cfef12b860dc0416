"""The interface between a compile session and its views, and the rows that it returns.

`ExplorerSource` is the whole contract between a session and everything that draws it: the static
page in a saved notebook, the exported HTML file and the widget. Rows are named tuples of plain
values (ids, names, numbers, sentences), never graph objects. Instruction ids are integers that are
never reused, so one id links pictures, text lines, decisions, code lines and times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from xla_explorer.explorer.display.code_pane import CodePane, PrintedLine
from xla_explorer.explorer.page.reports import Reports
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.foundation.decision import Decision, Verdict


class StepRow(NamedTuple):
    """One pass in pipeline order; index 0 is the module as written.

    Attributes
    ----------
    seconds : float
        The time of the pass alone.
    rewrites : int
        The number of applied rules.
    error : str, optional
        The error that ended the pipeline here.
    values_differ : bool, optional
        True at the first step after which results exceed the tolerance; None if not checked.
    level : str
        `hlo` or `llvm`, so that LLVM's passes can continue the list.
    entry : int, optional
        The first instruction of the entry computation, at which a text opens.
    """

    index: int  # type: ignore[assignment]  # the method of tuple is not used
    pipeline: str
    name: str
    changed: bool
    seconds: float = 0.0
    instructions_before: int = 0
    instructions_after: int = 0
    rewrites: int = 0
    error: str | None = None
    values_differ: bool | None = None
    level: Literal["hlo", "llvm"] = "hlo"
    entry: int | None = None


class RewriteRow(NamedTuple):
    """One rule at one place: accepted or refused.

    `sentence` is the rule's summary, `location` is file:line of the rule.
    """

    rule: str
    verdict: Verdict = "accepted"
    subject: int | None = None
    produced: tuple[int, ...] = ()
    sentence: str = ""
    location: str = ""
    subject_name: str = ""
    reason: str = ""


class TimingRow(NamedTuple):
    """One kernel.

    Times are in microseconds; `bytes` moved and `flops` are per run; `share` is of the whole run, 0
    to 1. A row with `runs_on` "evaluator" is marked in every view: the numpy reference ran, not
    compiled code. `estimated` names the columns that are estimates. `roof_share` is the share
    reached of the machine's bandwidth or peak.
    """

    kernel: str
    opcode: str = ""
    n: int = 0
    median_us: float | None = None
    iqr_us: float | None = None
    bytes: int | None = None
    flops: int | None = None
    gb_per_s: float | None = None
    share: float | None = None
    line: str = ""
    runs_on: Literal["native", "evaluator"] = "native"
    instruction: int | None = None
    roof_share: float | None = None
    estimated: tuple[str, ...] = ()


class ExplorerSource(Protocol):
    """The interface of a session.

    Every method is a pure query. The views call `steps` at once, the others when a reader opens
    their part. `reports` has the answers beyond the passes (`reports.NOTHING` without any).
    """

    @property
    def title(self) -> str:
        """The name of the module."""

    @property
    def reports(self) -> Reports:
        """The answers beyond the passes."""

    def summary(self) -> Mapping[str, str | float | int]:
        """Return short keys with plain values for the header.

        It formats these: backend, compiler, device, passes, changed, kernels_before, kernels_after,
        instructions_before, instructions_after, bytes_before, bytes_after, run_us, run_iqr_us,
        runs, run_us_before, compile_seconds. Others are shown unchanged.
        """

    def steps(self) -> Sequence[StepRow]:
        """Return the passes in pipeline order, after the module as written."""

    def rewrites(self, step: int) -> Sequence[RewriteRow]:
        """Return the rules that a step applied or refused."""

    def picture(self, step: int, computation: str | None = None) -> PictureGraph:
        """Return the picture after a step, of the module or of one computation."""

    def text(self, step: int) -> Sequence[PrintedLine]:
        """Return the printed lines of the module after a step."""

    def decisions(self, step: int | None = None) -> Sequence[Decision]:
        """Return the decisions of a step, or of all."""

    def panes(self) -> Sequence[CodePane]:
        """Return the code panes."""

    def timings(self) -> Sequence[TimingRow]:
        """Return the measured kernels."""

    def history(self, instruction: int) -> Sequence[str]:
        """Return the history of an instruction in sentences."""
