"""What the views ask of a compile session, and the rows they get.

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

    `seconds` is the pass alone. `error` ends the timeline.

    `rewrites` counts applied rules. `values_differ` marks the first step after which results left
    the tolerance (None: not checked). `level` says whose pass it is, so that LLVM's passes can
    continue the list. `entry` is the first instruction of the entry computation: a text opens
    there.
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

    `sentence` is the rule's own explanation, `location` is file:line of the rule.
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

    Times in microseconds; `bytes` moved and `flops` per run; `share` of the whole run, 0 to 1.

    `runs_on` "evaluator" is marked wherever it is shown: such a row is the reference in numpy, not
    compiled code. `estimated` names the columns that are estimates. `roof_share` is the part of the
    machine's bandwidth or peak reached.
    """

    kernel: str
    opcode: str = ""
    n: int = 0
    median_us: float | None = None
    iqr_us: float | None = None
    bytes: int | None = None
    flops: int | None = None
    gigabytes_per_second: float | None = None
    share: float | None = None
    source_line: str = ""
    runs_on: Literal["native", "evaluator"] = "native"
    instruction: int | None = None
    roof_share: float | None = None
    estimated: tuple[str, ...] = ()


class ExplorerSource(Protocol):
    """What a session answers.

    Every method is a pure query; only `steps` is asked for at once, the rest when it is looked at.
    `reports` answers what goes beyond the passes (`reports.NOTHING` where nothing is known).

    `summary` has short keys and plain values; these are known and formatted by the header: backend,
    compiler, device, passes, changed, kernels_before, kernels_after, instructions_before,
    instructions_after, bytes_before, bytes_after, run_us, run_iqr_us, runs, run_us_before,
    compile_seconds. Others are shown as they are.
    """

    @property
    def title(self) -> str: ...
    @property
    def reports(self) -> Reports: ...
    def summary(self) -> Mapping[str, str | float | int]: ...
    def steps(self) -> Sequence[StepRow]: ...
    def rewrites(self, step: int) -> Sequence[RewriteRow]: ...
    def picture(self, step: int, computation: str | None = None) -> PictureGraph: ...
    def text(self, step: int) -> Sequence[PrintedLine]: ...
    def decisions(self, step: int | None = None) -> Sequence[Decision]: ...
    def panes(self) -> Sequence[CodePane]: ...
    def timings(self) -> Sequence[TimingRow]: ...
    def history(self, instruction: int) -> Sequence[str]: ...
