"""The commands. Each takes the parsed arguments and returns the exit code.

`main.py` loads this module when a command runs.
"""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
import tempfile
import webbrowser
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from xla_explorer.backends.aot.errors import AheadOfTimeError, ElidedConstantsError
from xla_explorer.backends.registry import platform
from xla_explorer.backends.scaffolding.scaffold import scaffold
from xla_explorer.cli.ask_command import ask as ask
from xla_explorer.cli.conform_command import conform as conform
from xla_explorer.cli.hosts_command import hosts as hosts
from xla_explorer.cli.lab import lab as run_lab
from xla_explorer.cli.mcp_command import mcp as mcp
from xla_explorer.cli.opening import open_folder
from xla_explorer.cli.output import on_terminal, print_frame, print_json, print_report, print_table
from xla_explorer.cli.same_command import same as same
from xla_explorer.cli.script_command import why_slow_script
from xla_explorer.cli.shard_command import shard as shard
from xla_explorer.cli.shard_command import state_partitions
from xla_explorer.cli.terminal import print_exactly, say
from xla_explorer.cli.tour import tour as run_tour
from xla_explorer.cli.versions_command import versions as versions
from xla_explorer.course import grade as grade_notebook
from xla_explorer.explorer.aot import aot as compile_ahead
from xla_explorer.explorer.code.loop_nests import all_loops
from xla_explorer.explorer.comparisons.compare import compare as run_compare
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.doctor import doctor as diagnose
from xla_explorer.explorer.questions.minimization import minimize as run_minimize
from xla_explorer.explorer.real_xla import read_profile
from xla_explorer.explorer.real_xla import why_slow as explain_slowness
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import (
    CannotRunError,
    CompileFailedError,
    program_steps,
)
from xla_explorer.explorer.sessions.loading import EntryChoice, load_module, module_of_bytes
from xla_explorer.explorer.trace import optimize
from xla_explorer.explorer.tuning import tune as run_tune
from xla_explorer.explorer.xla.saved_facts import check_against, save_facts
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import replaced_file, write_file
from xla_explorer.frontends.xla_profile import PROFILE_ENDINGS
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions

MOST_VALUES = 1000
"""Elements of a result that is printed as JSON."""


class InputError(XlaExplorerError, ValueError):
    """Something on the command line cannot be used."""


def read_module(path: str, given: Namespace) -> HloModule:
    """Return the module of a file, or of standard input for `-`."""
    entry = EntryChoice(given.function, given.shapes)
    if path == "-":
        return module_of_bytes(sys.stdin.buffer.read(), "<stdin>", entry=entry)
    return load_module(path, entry)


def read_arguments(given: Namespace, module: HloModule) -> tuple[list[Any], str]:
    """Return arrays from .npy files, one per parameter, or random ones; and their source."""
    if not given.args:
        return list(random_arguments(module, given.seed)), f"random arguments, seed {given.seed}"
    arrays, hint = [], "give .npy files of numbers, one per parameter"
    for path in given.args:
        try:
            with open(path, "rb") as file:
                arrays.append(np.lib.format.read_array(file, allow_pickle=False))
        except OSError as problem:
            raise InputError(
                f"cannot read the argument {path}: {problem.strerror or problem}", hint
            ) from None
        except (ValueError, EOFError, MemoryError) as problem:
            raise InputError(f"cannot read numbers from {path}: {problem}", hint) from None
    return arrays, "arguments from " + ", ".join(given.args)


def tour(given: Namespace) -> int:
    """Run the tour."""
    status = run_tour(Path(given.output), given.repeats, every_row=given.all)
    if on_terminal() and not given.no_browser:
        webbrowser.open(Path(given.output).resolve().as_uri())
    return status


def lab(given: Namespace) -> int:
    """Start JupyterLab on the tour."""
    return run_lab(
        Path(given.folder), browser=not given.no_browser, port=given.port, options=given.jupyter
    )


def run(given: Namespace) -> int:
    """Compile and run; print the result, or write it."""
    module = read_module(given.file, given)
    if given.partitions is not None:
        state_partitions(module, given.partitions)
    session = compile(module, given.backend, given.passes)
    arguments, which = read_arguments(given, module)
    leaves = session.signature.leaves(arguments)
    if given.partitions is None:
        values = session.executable.execute(leaves)
    else:
        values = flatten_value(session.devices(*arguments))
    if given.output:
        with replaced_file(
            given.output if given.output.endswith(".npz") else f"{given.output}.npz"
        ) as file:
            np.savez(file, *values)
    status = 0
    if given.check:
        error, fine = largest_error(flatten_value(evaluate(module, *leaves)), values)
        print(
            f"{'agrees with' if fine else 'DIFFERS from'} the evaluator (largest error "
            f"{error:.2g})",
            file=sys.stderr,
        )
        status = 0 if fine else 1
    if given.time:
        print_frame(session.profile(*arguments, repeats=given.repeats), as_json=given.json)
    elif given.json:
        print_json(
            [
                {
                    "dtype": str(v.dtype),
                    "shape": list(v.shape),
                    "values": v.astype(object).tolist() if v.size <= MOST_VALUES else None,
                }
                for v in values
            ],
            indent=None,
        )
        if not given.output and any(v.size > MOST_VALUES for v in values):
            print(
                f"results of more than {MOST_VALUES} elements have no values here: write them "
                "with -o FILE.npz",
                file=sys.stderr,
            )
    else:
        print(f"# {module.name} on {session.backend}, {which}")
        with np.printoptions(threshold=40, edgeitems=3):
            for number, value in enumerate(values):
                print(f"# result {number}: {value.dtype}{list(value.shape)}\n{value}")
    return status


def opt(given: Namespace) -> int:
    """Run passes and print the module."""
    trace = optimize(read_module(given.file, given), given.passes)
    if given.trace or given.json:
        print_frame(trace.passes.to_frame(), as_json=given.json)
        return 0
    text = trace.module.to_text(getattr(PrintOptions, given.format.replace("-", "_")))
    if given.output:
        write_file(given.output, text + "\n")
    else:
        print_exactly(text)
    return 0


def explain(given: Namespace) -> int:
    """Explain an instruction, a decision, or all decisions."""
    session = compile(read_module(given.file, given), given.backend, given.passes)
    if given.consumer:
        print_report(
            session.why_not("fusion", given.instruction, given.consumer), as_json=given.json
        )
    elif given.instruction:
        print_report(session.explain(given.instruction), as_json=given.json)
    else:
        print_frame(
            session.decisions(given.kind),
            ["verdict", "kind", "code", "subjects", "reason"],
            as_json=given.json,
            limit=10_000,
        )
    return 0


def compare(given: Namespace) -> int:
    """Run one module on several backends."""
    module = read_module(given.file, given)
    backends = [name for name in given.backends.split(",") if name]
    for name in backends:
        platform(name)
    arguments, _ = read_arguments(given, module)
    frame = run_compare(
        module, *arguments, backends=backends, repeats=given.repeats, passes=given.passes
    )
    print_frame(frame, as_json=given.json)
    return 0 if not (frame["status"] == "values differ").any() else 1


def bisect(given: Namespace) -> int:
    """Find the pass that changes values."""
    module = read_module(given.file, given)
    arguments, _ = read_arguments(given, module)
    found = compile(module, given.backend, given.passes).bisect(*arguments)
    print_report(found, as_json=given.json)
    return 1 if found else 0


def minimize(given: Namespace) -> int:
    """Print the smallest module found for which a command exits with 0."""
    words = shlex.split(given.test)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "smaller.hlo"

        def still_fails(module: HloModule) -> bool:
            path.write_text(module.to_text())
            return (
                subprocess.run(
                    [*words, str(path)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                ).returncode
                == 0
            )

        smallest = run_minimize(
            read_module(given.file, given), still_fails, seconds=given.seconds
        ).to_text()
    if given.output is None:
        print_exactly(smallest)
    else:
        write_file(given.output, smallest)
        say(f"written: {given.output}")
    return 0


def why_slow(given: Namespace) -> int:
    """Explain real XLA's kernels: of a script's main program, a recorded profile, or a module."""
    if given.file.endswith(".py"):
        return why_slow_script(given)
    recorded = given.file.endswith(PROFILE_ENDINGS) or Path(given.file).is_dir()
    if recorded:
        print_report(read_profile(given.file), as_json=given.json, hide_paths=given.hide_paths)
        return 0
    module = read_module(given.file, given)
    arguments, _ = read_arguments(given, module)
    found = explain_slowness(module, *arguments, repeats=given.repeats)
    print_report(found, as_json=given.json, hide_paths=given.hide_paths)
    return 0


def schedule(given: Namespace) -> int:
    """Print a kernel's schedule, or without a kernel a table of all."""
    session = compile(read_module(given.file, given), "cpu", given.passes, threads=given.threads)
    if given.kernel is None:
        print_report(all_loops(session), as_json=given.json)
        return 0
    made = session.schedule(given.kernel)
    if given.text is not None:
        made = made.plain().then(given.text)
    if not given.timed:
        print_json(made.to_json()) if given.json else print(made.to_text())
        return 0
    found = made.run(repeats=given.repeats)
    print_report(found, as_json=given.json)
    return 0 if found.equal else 1


def tune(given: Namespace) -> int:
    """Search schedules; print them, write them."""
    session = compile(read_module(given.file, given), "cpu", given.passes, threads=given.threads)
    found = run_tune(session, given.kernel, budget=given.budget)
    print_report(found, as_json=given.json)
    if given.output:
        write_file(given.output, found.schedules)
    return 0


def check(given: Namespace) -> int:
    """Compare a compile with a saved one, or save it."""
    session = compile(read_module(given.file, given), given.backend, given.passes)
    if given.save:
        say(f"written: {save_facts(session, given.against)}")
        return 0
    found = check_against(session, given.against)
    print_report(found, as_json=given.json)
    return 0 if found else 1


def open_recorded(given: Namespace) -> int:
    """Open a folder of dumps or profiles in the browser."""
    return open_folder(
        given.folder, given.save, given.port, browser=not given.no_browser, against=given.against
    )


def bench(given: Namespace) -> int:
    """Time modules: compile and run."""
    rows = []
    for path in given.files:
        module = read_module(path, given)
        session = compile(module, given.backend, given.passes)
        timing = session.time(*random_arguments(module, given.seed), repeats=given.repeats)
        rows.append(
            (
                module.name,
                session.backend,
                len(program_steps(session)),
                sum(session.seconds.values()) * 1e3,
                timing.n,
                timing.median_us,
                timing.iqr_us,
                timing.load,
            )
        )
    print_table(
        ["module", "backend", "kernels", "compile_ms", "n", "median_us", "iqr_us", "load"],
        rows,
        as_json=given.json,
    )
    return 0


def aot(given: Namespace) -> int:
    """Write object file, header and examples; print their sizes and the build command."""
    package = compile_ahead(
        read_module(given.file, given),
        given.triple,
        given.cpu,
        given.features,
        given.prefix,
        given.weights,
        passes=given.passes,
        libraries=given.libraries,
    )
    folder = package.save(given.output or package.prefix)
    print_frame(package.footprint, as_json=given.json)
    if not given.json:
        print(f"written: {folder}: {', '.join(package.files)}\nbuild: {package.build_line}")
    return 0


def new_backend(given: Namespace) -> int:
    """Write the package of a new backend."""
    print(repr(scaffold(given.name, given.scenario, given.output)))
    return 0


def pjrt_plugin(given: Namespace) -> int:
    """Write a shared object that hands the plugin's table to its host."""
    content = importlib.import_module("xla_explorer.pjrt.shared_object").shared_object()
    print(
        f"written: {write_file(given.output, content)} ({len(content):,} bytes), for a Python "
        "that can import xla_explorer:"
    )
    print(
        f"PJRT_NAMES_AND_LIBRARY_PATHS=xla_explorer:{Path(given.output).resolve()} python train.py"
    )
    return 0


def report(given: Namespace) -> int:
    """Write the exploration of a module as one HTML file."""
    module = read_module(given.file, given)
    try:
        session = compile(module, given.backend, given.passes)
    except CompileFailedError as problem:
        problem.session.save(given.output)
        say(f"written: {given.output} (up to the failure)")
        raise
    if given.time:
        session.profile(*read_arguments(given, module)[0], repeats=given.repeats)
    session.save(given.output)
    print(f"written: {given.output}")
    return 0


def grade(given: Namespace) -> int:
    """Grade notebooks; return 1 if one could not be read."""
    grades, status = [], 0
    for path in given.files:
        try:
            grades.append(
                grade_notebook(
                    path,
                    hidden=given.hidden,
                    variant=given.variant,
                    seconds=given.seconds,
                    memory=given.memory << 20,
                )
            )
        except (
            XlaExplorerError
        ) as problem:  # the other notebooks of the class are graded all the same
            say(str(problem))
            status = 1
        else:
            if not given.json:
                print_report(grades[-1])
                print()
    if given.json:
        print_json([one.json_data() for one in grades])
    return status


def doctor(given: Namespace) -> int:
    """Print the capabilities of this machine."""
    found = diagnose(measure_again=given.measure_again)
    if given.json:
        print_report(found, as_json=True)
        return 0
    for row in found:
        mark = {"ok": "ok", "missing": "--", "limited": "~~"}[row.state]
        print(
            f"[{mark}] {row.name}: {row.detail}" + (f"\n     add it: {row.fix}" if row.fix else "")
        )
    return 0


def exit_code(problem: XlaExplorerError) -> int:
    """Return 2 if the input is at fault, 1 if we failed."""
    if isinstance(problem, ElidedConstantsError):
        return 2
    return 1 if isinstance(problem, AheadOfTimeError | CannotRunError | CompileFailedError) else 2
