"""LLVM's work on a session's kernels: passes with diffs, remarks, and llvm-mca's estimates.

Passes and remarks come from a second compile of the same IR in a child process: LLVM prints them
under options of a whole process. The code is that of the session, with the same IR, target and
options. The passes of one kernel are those of that kernel alone. Sessions of the backends cpu and
gpu (LLVM for NVPTX) have them.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.code.compile_flame import CompileFlame, flame_of_session
from xla_explorer.explorer.code.control_flow import ControlFlow, control_flow
from xla_explorer.explorer.code.llvm.llvm_kernels import (
    finished_functions,
    function_of,
    functions_reached,
    kernel_ir,
    llvm_setting,
)
from xla_explorer.explorer.code.llvm.llvm_times import pass_times
from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, source_line
from xla_explorer.explorer.tables.code_rows import LlvmPass, MachineLoop, Remark
from xla_explorer.explorer.tables.rows import columns_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.foundation.visible_text import cleaned

if TYPE_CHECKING:
    from xla_explorer.explorer.display.pandas_frame import WideFrame

VECTORIZERS = ("loop-vectorize", "slp-vectorizer")
FINISHED = (
    "the kernel is emitted in its final form (optimisation level final): LLVM's vectorisers do "
    "not run"
)


def llvm_passes(
    session: Compilation, kernel: str, *, changed_only: bool = True, machine_passes: bool = True
) -> WideFrame:
    """Return one row per run of an LLVM pass on a kernel (or on the whole module), in order.

    level: `ir` or `machine`. added, removed: lines. diff: a unified diff, empty without a
    change. After a pass that changes the form of the code, such as instruction selection, all of it
    is new. XlaExplorerError for an unknown kernel.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.llvm_passes import llvm_pass_trace

    name = function_of(session, kernel)
    rows = []
    target, options, _ = llvm_setting(session)
    steps = llvm_pass_trace(
        kernel_ir(session, name),
        target,
        options,
        functions=[name],
        changed_only=changed_only,
        machine_passes=machine_passes,
    )
    for step in steps:
        before, after = (
            _own(step.before, step.function, name),
            _own(step.after, step.function, name),
        )
        if changed_only and before == after:
            continue  # a pass on the module that changed other kernels
        diff = (
            list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=2))
            if step.changed
            else []
        )
        body = diff[2:]
        rows.append(
            [
                step.number,
                step.name,
                step.function,
                step.level,
                len(before),
                len(after),
                len([line for line in body if line.startswith("+")]),
                len([line for line in body if line.startswith("-")]),
                "\n".join(diff),
            ]
        )
    return wide_frame(rows, columns_of(LlvmPass))


def remarks(session: Compilation, passes: tuple[str, ...] = VECTORIZERS) -> WideFrame:
    """Return one row per remark.

    Columns: kind (`passed`, `missed`, `analysis`), pass, message, instruction (%name) and source
    line. A kernel that code generation finishes itself has a row `finished`, if LLVM has no remark
    on it.

    passes: their names in remarks. `licm`, `gvn`, `inline` and `loop-unroll` have remarks as well.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.llvm_passes import vectorization_remarks

    names = {i.id: i.name for i in session.module.instructions()}
    rows = []
    target, options, _ = llvm_setting(session)
    text = kernel_ir(session)
    for remark in vectorization_remarks(text, target, options, passes=passes):
        number = (
            remark.line - 1 if remark.line else None
        )  # the "line" of a location is the instruction id plus one
        known = number is not None and number in names
        rows.append(
            [
                remark.kind,
                remark.pass_name,
                remark.message,
                f"%{names[number]}" if known and number is not None else "",
                source_line(session, number) if known and number is not None else "",
            ]
        )
    remarked, finished = {row[3] for row in rows}, finished_functions(session)
    rows += [
        [
            "finished",
            "xla_explorer",
            FINISHED,
            f"%{step.name}",
            source_line(session, step.instruction),
        ]
        for step in program_steps(session)
        if f"%{step.name}" not in remarked and getattr(step, "function", "") in finished
    ]
    return wide_frame(rows, columns_of(Remark))


def inner_loops(session: Compilation, kernel: str | None = None) -> WideFrame:
    """Return llvm-mca's estimate of every innermost loop of the machine code, the slowest first.

    cycles: of one iteration, from a simulation of 100, with all loads from the nearest cache.
    block_throughput: the lower bound by the execution units. bottleneck: the busiest resource, with
    its share. model: the simulated processor. lines: source lines of its instructions.
    XlaExplorerError if llvm-mca is not installed.
    """
    # Start-up time: LLVM.
    from xla_explorer.backends.llvm.target_machine import host_target

    tool = shutil.which("llvm-mca")
    if tool is None:
        raise XlaExplorerError(
            "llvm-mca is not installed", "install LLVM's tools: the package `llvm` of most systems"
        )
    wanted = None if kernel is None else function_of(session, kernel)
    target = host_target()
    rows = []
    for function, label, code, origins in _loops(session):
        if wanted is not None and function != wanted:
            continue
        found = _simulate(tool, target.triple, target.cpu, code)
        if found is None:
            continue
        lines = dict.fromkeys(line for line in [source_line(session, k) for k in origins] if line)
        rows.append([function, label, len(code), *found, ", ".join(lines)])
    return wide_frame(sorted(rows, key=lambda row: -row[3]), columns_of(MachineLoop))


@explains_methods
class Llvm:
    """`session.llvm`: what LLVM did with the kernels of a session."""

    def __init__(self, session: Compilation) -> None:
        self._session = session

    @question("llvm", cost=Cost.COMPILES, noun="llvm pass")
    def passes(
        self, kernel: str, *, changed_only: bool = True, machine_passes: bool = True
    ) -> WideFrame:
        """Return one row per run of an LLVM pass on a kernel, with the diff.

        See `explorer.code.llvm.llvm_views.llvm_passes`.

        Parameters
        ----------
        kernel : str
            Its name in `session.kernels()`.
        changed_only : bool
            Leave out runs that changed nothing.
        machine_passes : bool
            Also the passes on machine code.
        """
        return llvm_passes(
            self._session, kernel, changed_only=changed_only, machine_passes=machine_passes
        )

    @question("llvm", cost=Cost.COMPILES, noun="remark")
    def remarks(self, *passes: str) -> WideFrame:
        """Return the remarks of LLVM's vectorisers, or of other passes, by instruction and line.

        See `explorer.code.llvm.llvm_views.remarks`.

        Parameters
        ----------
        *passes : str
            Names of passes in remarks, such as `licm`, `gvn`, `inline`; the vectorisers without.
        """
        return remarks(self._session, passes or VECTORIZERS)

    @question("llvm", cost=Cost.COMPILES, noun="llvm pass")
    def times(self, kernel: str = "") -> WideFrame:
        """Return the time of each LLVM pass, the longest first.

        See `explorer.code.llvm.llvm_times.pass_times`.

        Parameters
        ----------
        kernel : str
            Only the passes on this kernel; on the whole program without.
        """
        return pass_times(self._session, kernel)

    def flame(self) -> CompileFlame:
        """Return a flame graph of the whole compile: phases, passes with rules, LLVM's passes.

        The rules and LLVM's passes are timed now.
        """
        return CompileFlame(flame_of_session(self._session, rules=True, llvm=True))

    @question("llvm", cost=Cost.COMPILES, noun="machine loop")
    def inner_loops(self, kernel: str | None = None) -> WideFrame:
        """Return llvm-mca's cycles of each innermost loop of the machine code.

        See `explorer.code.llvm.llvm_views.inner_loops`.

        Parameters
        ----------
        kernel : str, optional
            Only the loops of this kernel.
        """
        return inner_loops(self._session, kernel)

    @question("llvm")
    def control_flow(self, kernel: str, stage: str = "llvm-ir-optimized") -> ControlFlow:
        """Return the basic blocks of a kernel and their successors, as a picture and a table.

        Parameters
        ----------
        kernel : str
            Its name in `session.kernels()`.
        stage : str
            `llvm-ir-optimized`, `llvm-ir`, `assembly`, `ptx` or `sass`.
        """
        return control_flow(self._session, kernel, stage)

    @cleaned
    def __repr__(self) -> str:
        methods = (
            ".passes(kernel), .times(), .flame(), .remarks(*passes), .inner_loops(kernel), "
            ".control_flow(kernel)"
        )
        return f"<LLVM of {self._session.source.name}: {methods}>"


def kernel_code(session: Compilation, stage: str, kernel: str) -> str:
    """Return a kernel's functions in a stage of LLVM IR: its own and their callees."""
    return functions_reached(session.stage(stage).text, function_of(session, kernel))


def _own(text: str, unit: str, function: str) -> list[str]:
    """Return the lines of a function, without metadata and debug locations.

    The text may be a whole module.
    """
    if not unit:
        start = re.search(rf'^define [^@\n]*@"?{re.escape(function)}"?\(', text, re.MULTILINE)
        text = text[start.start() : text.find("\n}", start.start()) + 2] if start else ""
    text = re.sub(r",? !dbg !\d+|,? debug-location !\d+[^\n,]*|, ![a-z.]+ !\d+", "", text)
    return [line for line in text.splitlines() if not line.startswith("!")]


_JUMP = re.compile(r"^\s*j[a-z]+\s+(\.L\w+)")


def _loops(session: Compilation) -> list[tuple[str, str, list[str], list[int]]]:
    """Return innermost loops of the assembly: function, label, instructions, instruction ids.

    A loop runs from a label to a jump back to it.
    """
    functions = {step.function for step in program_steps(session) if getattr(step, "function", "")}
    found = []
    function = ""
    labels: dict[str, int] = {}
    last_back = -1  # line of the last jump back: a range around it is not an innermost loop
    lines = session.stage("assembly").lines()
    for number, (line, _) in enumerate(lines):
        label = re.match(r"^([\w.$]+):", line)
        if label:
            if label[1] in functions or not label[1].startswith("."):
                function, labels = label[1], {}
            labels[label[1]] = number
            continue
        jump = _JUMP.match(line)
        if jump and jump[1] in labels:
            start = labels[jump[1]]
            if start > last_back:
                body = [
                    (text, origin)
                    for text, origin in lines[start:number]
                    if not re.match(r"^[\w.$]+:", text)
                ]
                code = [text for text, _ in [*body, (line, None)]]
                found.append(
                    (
                        function,
                        jump[1],
                        code,
                        list(dict.fromkeys([o for _, o in body if o is not None])),
                    )
                )
            last_back = number
    return found


def _simulate(
    tool: str, triple: str, cpu: str, code: list[str]
) -> tuple[float, float, float, str, str] | None:
    """Return cycles per iteration, instructions per cycle, throughput, bottleneck and processor.

    None for code that llvm-mca cannot parse.
    """
    # An older llvm-mca may lack this processor. The nearest one that it has is used, and the table
    # names it.
    for model in (cpu, "znver4", "x86-64-v4", ""):
        options = [
            f"-mtriple={triple}",
            "-iterations=100",
            "-json",
            *([f"-mcpu={model}"] if model else []),
        ]
        run = subprocess.run(
            [tool, *options],
            input="\n".join(code) + "\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if run.returncode == 0 and "is not a recognized processor" not in run.stderr:
            return _summary(json.loads(run.stdout))
    return None


def _summary(report: dict[str, Any]) -> tuple[float, float, float, str, str]:
    region = report["CodeRegions"][0]
    view = region["SummaryView"]
    iterations = view["Iterations"]
    resources = report["TargetInfo"]["Resources"]
    busy: dict[int, float] = {}
    for use in region.get("ResourcePressureView", {}).get("ResourcePressureInfo", []):
        if use["InstructionIndex"] == len(
            region["Instructions"]
        ):  # the row of the averages of one iteration
            busy[use["ResourceIndex"]] = use["ResourceUsage"]
    cycles = view["TotalCycles"] / iterations
    top = max(busy, key=lambda k: busy[k], default=None)
    bottleneck = (
        f"{resources[top].rstrip(chr(0))} {min(busy[top] / cycles, 1.0):.0%}"
        if top is not None
        else ""
    )
    return (
        round(cycles, 2),
        round(view["IPC"], 2),
        round(view["BlockRThroughput"], 2),
        bottleneck,
        report["TargetInfo"]["CPUName"],
    )
