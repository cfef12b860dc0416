"""LLVM's passes with the code before and after each, and the vectoriser's remarks by source line.

LLVM prints these to the process's standard error, switched on by options that are global to the
process and cannot all be switched off again. Hence the compilation runs in a child process (`python
-m xla_explorer.backends.llvm.llvm_passes`), about 0.2 s, and this process stays as it was.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from xla_explorer.backends.llvm.llvm_compiler import (
    IrModule,
    LlvmIrError,
    OptimizationOptions,
    modules_to_compile,
    run_pipeline,
)
from xla_explorer.backends.llvm.llvm_module import LlvmIr, text_of
from xla_explorer.backends.llvm.target_machine import (
    TargetDescription,
    create_target_machine,
    host_target,
    llvm,
)
from xla_explorer.foundation.child_python import child_environment, python_command
from xla_explorer.foundation.diagnostic import XlaExplorerError


class LlvmPassError(XlaExplorerError):
    """The child process that runs LLVM failed."""


class LlvmPassStep(NamedTuple):
    """One run of one pass on one function (or the module).

    number: position in the pipeline, from 0. name: LLVM's name of the pass (`LoopVectorizePass`,
    `X86 DAG->DAG Instruction Selection`). function: the function, "" for the whole module. level:
    `ir` or `machine`. changed: True if it changed anything; else before and after are the same
    text. before, after: LLVM IR or machine IR of the function.
    """

    number: int
    name: str
    function: str
    level: str
    changed: bool
    before: str
    after: str

    def __repr__(self) -> str:
        what = "changed" if self.changed else "left alone"
        return f"<{self.number} {self.name} {what} {self.function or 'the module'}>"


class LlvmRemark(NamedTuple):
    """One sentence of an LLVM pass about the code.

    kind: `passed` (it did it), `missed` (it did not) or `analysis` (why). file, line, column: of
    the source, "" and 0 if the IR has no location there (a loop's is that of its back branch).
    """

    kind: str
    pass_name: str
    message: str
    file: str
    line: int
    column: int


def llvm_pass_trace(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
    *,
    functions: Sequence[str] = (),
    changed_only: bool = False,
    machine_passes: bool = True,
    timeout_seconds: float = 120.0,
) -> list[LlvmPassStep]:
    """Record every pass of optimiser and code generator with the code before and after.

    functions: follow only these (module passes are always in). changed_only: leave out passes that
    changed nothing. machine_passes: False stops after the optimiser. The passes on LLVM IR inside
    the code generator (loop strength reduction, code generation preparation) are not reported by
    LLVM's change printer; their effect shows in instruction selection. Raises LlvmIrError,
    LlvmPassError.
    """
    switches = ["-print-changed", "-print-loop-func-scope"]
    if functions:
        switches.append(f"-filter-print-funcs={','.join(functions)}")
    text = _run_child(ir, description, options, [switches], machine_passes, timeout_seconds)
    steps = parse_pass_dump(text)
    if changed_only:
        steps = [step for step in steps if step.changed]
    return steps


class LlvmPassTime(NamedTuple):
    """The time of one LLVM pass, by LLVM's own clock.

    level: `ir` or `machine`. seconds: processor time of all runs together. runs: entries of LLVM's
    table: a pass that is twice in the pipeline has two.
    """

    name: str
    level: str
    seconds: float
    runs: int


def llvm_pass_times(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
    *,
    timeout_seconds: float = 120.0,
) -> list[LlvmPassTime]:
    """Return the time of each pass of optimiser and code generator, longest first (`-time-passes`).

    Raises LlvmIrError, LlvmPassError.
    """
    return parse_pass_times(
        _run_child(ir, description, options, [[_TIME_PASSES]], True, timeout_seconds)
    )


def parse_pass_times(text: str) -> list[LlvmPassTime]:
    """Return the times of passes from the tables of LLVM's `-time-passes`."""
    sums: dict[tuple[str, str], tuple[float, int]] = {}
    columns: list[str] = []
    is_of_passes = False
    for line in text.splitlines():
        if line.strip().endswith(("timing report", "Scheduling", "Emission")):
            columns, is_of_passes = (
                [],
                line.strip() == "Pass execution timing report",
            )  # others take passes apart, or are analyses
        if heads := _TIME_HEAD.findall(line):
            columns = heads if is_of_passes else []
            continue
        found = _TIME_ROW.match(line)
        if found is None or found["name"].strip() == "Total" or not columns:
            continue
        values = dict(zip(columns, map(float, _TIME_VALUE.findall(found["values"])), strict=False))
        seconds = values.get("User+System", values.get("User Time", values.get("Wall Time", 0.0)))
        name = re.sub(r" #\d+\Z", "", found["name"].strip())
        key = (name, "ir" if name.endswith(("Pass", "Analysis")) and " " not in name else "machine")
        old = sums.get(key, (0.0, 0))
        sums[key] = (old[0] + seconds, old[1] + 1)
    return sorted(
        [LlvmPassTime(*key, *value) for key, value in sums.items()], key=lambda row: -row.seconds
    )


_TIME_PASSES: Final = "-time-passes"
_TIME_HEAD = re.compile(r"-+((?:User|System|Wall) Time|User\+System)-+")
_TIME_ROW = re.compile(r"^(?P<values>(?:\s+\d+\.\d+ \(\s*[\d.]+%\))+)\s+(?P<name>\S.*)$")
_TIME_VALUE = re.compile(r"(\d+\.\d+) \(")
REMARK_KINDS: Final = {
    "passed": "-pass-remarks",
    "missed": "-pass-remarks-missed",
    "analysis": "-pass-remarks-analysis",
}


def vectorization_remarks(
    ir: LlvmIr,
    description: TargetDescription | None = None,
    options: OptimizationOptions | None = None,
    *,
    passes: Sequence[str] = ("loop-vectorize", "slp-vectorizer"),
    timeout_seconds: float = 120.0,
) -> list[LlvmRemark]:
    """Return the remarks of LLVM passes: what was optimised, what was missed, and why.

    passes: their names in remarks; `licm`, `gvn`, `inline`, `loop-unroll` have remarks as well. The
    module is optimised once per pass and kind, since LLVM prints neither. With `!dbg` locations in
    the IR, each remark has the line of the source file. Raises LlvmIrError, LlvmPassError.
    """
    rounds = [(kind, name) for name in passes for kind in REMARK_KINDS]
    silent = [f"{switch}={_NOTHING}" for switch in REMARK_KINDS.values()]
    text = _run_child(
        ir,
        description,
        options,
        [[*silent, f"{REMARK_KINDS[kind]}=^{name}$"] for kind, name in rounds],
        False,
        timeout_seconds,
    )
    remarks: dict[LlvmRemark, None] = {}
    for (kind, name), part in zip(rounds, text.split(_ROUND_END), strict=False):
        for found in _REMARK.finditer(part):
            known = found["file"] not in (None, "<unknown>")
            remarks[
                LlvmRemark(
                    kind,
                    name,
                    found["message"],
                    found["file"] if known else "",
                    int(found["line"]) if known else 0,
                    int(found["column"]) if known else 0,
                )
            ] = None
    return list(remarks)


# A regular expression that matches no pass name; an empty one would leave the setting as it is.
_NOTHING: Final = "^$"
_ROUND_END: Final = "=== end of round ===\n"
_REMARK = re.compile(
    r"^remark: (?:(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): )?(?P<message>.*)$", re.MULTILINE
)


_HEADER = re.compile(
    r"^\*\*\* IR Dump (?:At Start|After (?P<pass>.*?) on (?P<unit>\[module\]|\(.*?\)|.*?)"
    r"(?P<same> omitted because no change| filtered out)?) \*\*\*$|"
    r"^\*\*\* IR (?:Pass|Deleted)[^\n]*\*\*\*$",
    re.MULTILINE,
)
_LOOP_UNIT = re.compile(r"loop .*? in function (.*)")
_DEFINITION = re.compile(
    r'^(?:; Function Attrs: [^\n]*\n)?define [^@\n]*@("[^"]+"|[-\w.$]+)\(', re.MULTILINE
)


def parse_pass_dump(text: str) -> list[LlvmPassStep]:
    """Return the steps from the output of LLVM's `-print-changed`."""
    steps: list[LlvmPassStep] = []
    module_text = ""
    ir: dict[str, str] = {}
    machine: dict[str, str] = {}
    for found, body in _sections(text):
        name, unit = found["pass"], found["unit"]
        if name is None:
            if "At Start" in found[0]:
                module_text, ir = body, _function_texts(body)
            continue
        changed = found["same"] is None
        if not changed and "filtered" in found["same"]:
            continue
        if unit == "[module]":
            before, after = module_text, body if changed else module_text
            module_text, level, function = after, "ir", ""
            if changed:
                ir = _function_texts(body)
        else:
            loop = _LOOP_UNIT.fullmatch(unit)
            function = loop[1] if loop else unit[1:-1] if unit.startswith("(") else unit
            if body.startswith("# Machine code") or (not changed and function in machine):
                level = "machine"
                before = machine.get(function) or ir.get(function, "")
                after = machine[function] = body if changed else before
                # Names of machine passes end in the short name in parentheses.
                name = re.sub(r" \([\w-]*\)$", "", name)
            else:
                level = "ir"
                members = function.split(", ") if unit.startswith("(") else [function]
                before = "\n\n".join(ir.get(member, "") for member in members)
                for member, definition in (_function_texts(body) if changed else {}).items():
                    module_text = module_text.replace(ir.get(member, definition), definition, 1)
                    ir[member] = definition
                after = "\n\n".join(ir.get(member, "") for member in members)
        steps.append(
            LlvmPassStep(
                len(steps), name, function, level, changed and before != after, before, after
            )
        )
    return steps


def _sections(text: str) -> Iterator[tuple[re.Match[str], str]]:
    previous: re.Match[str] | None = None
    for found in _HEADER.finditer(text):
        if previous is not None:
            yield previous, text[previous.end() : found.start()].strip("\n")
        previous = found
    if previous is not None:
        yield previous, text[previous.end() :].strip("\n")


def _function_texts(module_text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _DEFINITION.finditer(module_text):
        end = module_text.find("\n}", match.start())
        found[match[1].strip('"')] = module_text[match.start() : end + 2]
    return found


def _run_child(
    ir: LlvmIr,
    description: TargetDescription | None,
    options: OptimizationOptions | None,
    rounds: list[list[str]],
    machine_passes: bool,
    timeout_seconds: float,
) -> str:
    description = description or host_target()
    options = options or OptimizationOptions()
    request = {
        "modules": [(text_of(part), passes) for part, passes in modules_to_compile(ir, options)],
        "target": asdict(description),
        "options": asdict(options),
        "rounds": rounds,
        "machine_passes": machine_passes,
    }
    with tempfile.TemporaryFile() as dump:
        try:
            result = subprocess.run(
                python_command(__name__),
                input=json.dumps(request).encode(),
                check=False,
                stdout=subprocess.PIPE,
                stderr=dump,
                env=child_environment(),
                timeout=timeout_seconds,
            )
        except subprocess.TimeoutExpired:
            raise LlvmPassError(
                f"LLVM did not finish within {timeout_seconds:g} s",
                "follow one function with `functions`, or raise `timeout_seconds`",
            ) from None
        dump.seek(0)
        text = dump.read().decode(errors="replace")
    if result.returncode != 0:
        reply = result.stdout.decode(errors="replace")
        if reply.startswith("{"):
            problem: dict[str, Any] = json.loads(reply)
            raise LlvmIrError(
                problem["message"], problem["line"], problem["column"], problem["excerpt"]
            )
        raise LlvmPassError(
            f"LLVM's child process ended with {result.returncode}: {text[-2000:].strip()}"
        )
    return text


def _main() -> int:
    """Run the child: read one request from standard input; LLVM writes to standard error."""
    request = json.load(sys.stdin)
    description = TargetDescription(**request["target"])
    options = OptimizationOptions(**request["options"])
    binding = llvm(all_targets=not description.is_host)
    try:
        for switches in request["rounds"]:
            for text, passes in request["modules"]:
                with IrModule(text, description, verify=options.verify) as ir:
                    for switch in (
                        *switches,
                        f"-disable-lsr={'false' if options.reduces_strength(description) else 'true'}",
                    ):
                        binding.set_option("xla_explorer", switch)
                    machine = create_target_machine(description, options.level)
                    run_pipeline(ir.module, machine, options, passes)
                    if request["machine_passes"]:
                        if description.triple.startswith(
                            "nvptx"
                        ):  # PTX is text: there is no object code
                            machine.emit_assembly(ir.module)
                        else:
                            machine.emit_object(ir.module)
            if _TIME_PASSES in switches:
                binding.shutdown()  # then LLVM writes its table
            os.write(2, _ROUND_END.encode())
    except LlvmIrError as problem:
        message = problem.message.split("\n", 1)[0]
        message = re.sub(r"^LLVM IR(?: line \d+)?: ", "", message)
        json.dump(
            {
                "message": message,
                "line": problem.line,
                "column": problem.column,
                "excerpt": problem.excerpt,
            },
            sys.stdout,
        )
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(_main())
