"""`xla-explorer tour`: from text to a timed, checked program and a page, on two real modules."""

from __future__ import annotations

from pathlib import Path

from xla_explorer.cli.output import heading, print_frame, print_table
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.display import byte_count, microseconds, number_of
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.examples import EXAMPLES, example
from xla_explorer.hlo.evaluator import evaluate, flatten_value

_TIMES = (
    "kernel",
    "opcode",
    "runs_on",
    "n",
    "median_us",
    "iqr_us",
    "bytes",
    "flops",
    "gb_per_s",
    "roof_share",
    "line",
)


def tour(output: Path, repeats: int, *, every_row: bool = False) -> int:
    """Compile, explain, run, check and time the modules; write one page for the first.

    Returns the exit code.
    """
    good = True
    first: Session | None = None
    for name, file in EXAMPLES.items():
        session = compile(example(name))
        good &= _one(session, file, repeats, 200 if every_row else 14)
        first = first or session
    assert first is not None
    first.save(output)
    print(
        f"\nWritten: {output.resolve()} ({byte_count(output.stat().st_size)}, one file, no network): open it in a browser,"
    )
    print(
        "step through the passes with [ and ], press ? for the other keys. Next: xla-explorer "
        "lab opens the notebook of this tour."
    )
    return 0 if good else 1


def _one(session: Session, name: str, repeats: int, limit: int) -> bool:
    source = session.source
    heading(f"{name}: module {source.name}")
    print(
        f"{source.instruction_count()} instructions in {len(source.computations)} computations; "
        f"parameters {session.signature.text}; "
        f"result {source.result_shape().text_without_layout}"
    )
    seconds = ", ".join(
        [f"{phase} {microseconds(value * 1e6)}" for phase, value in session.seconds.items()]
    )
    print(f"compiled for {session.backend}: {seconds}")

    heading("Passes that changed the module")
    rows = [
        (
            p.number,
            p.pipeline.split("/")[-1],
            p.name,
            p.instructions_before,
            p.instructions,
            p.rewrites,
            p.seconds * 1e3,
        )
        for p in session.passes
        if p.changed
    ]
    print_table(["#", "pipeline", "pass", "before", "after", "rules", "ms"], rows)
    print(f"({session.passes.last - len(rows)} of {session.passes.last} passes changed nothing)")

    heading("Fusion decisions")
    frame = session.decisions("fusion")
    counts = frame[frame["verdict"] == "refused"]["code"].value_counts()
    print(
        (
            f"{(frame['verdict'] == 'accepted').sum()} accepted, "
            f"{(frame['verdict'] == 'refused').sum()} refused: "
        )
        + ", ".join([f"{code} ({count})" for code, count in counts.items()])
    )
    refused = frame[frame["verdict"] == "refused"]
    print_table(
        ["producer", "consumer", "code", "reason"],
        [
            (row["subjects"][0], row["subjects"][-1], row["code"], row["reason"])
            for row in refused.to_dict("records")
        ],
        limit=limit,
    )

    heading("Kernels")
    kernels = session.kernels()
    print_frame(kernels, ["kernel", "opcode", "runs_on", "code", "line"], limit=limit)
    slow = kernels[kernels["runs_on"] == "evaluator"]
    if len(slow):
        print(
            f"without native code yet, on the evaluator: {number_of(len(slow), 'kernel')}; the "
            "column code has the reason"
        )
    print(f"memory: {session.buffers().headline()}")

    heading("Run, checked against the evaluator, timed")
    arguments = random_arguments(source)
    leaves = session.signature.leaves(arguments)
    error, fine = largest_error(
        flatten_value(evaluate(source, *leaves)), session.executable.execute(leaves)
    )
    print(
        f"random arguments (seed 0): the result {'agrees with' if fine else 'DIFFERS FROM'} the "
        "numpy evaluator's "
        f"(largest error {error:.2g} of the largest value)"
    )
    profile = session.profile(*arguments, repeats=repeats)
    print_frame(profile, _TIMES, limit=limit)
    print(f"({profile.attrs['note']})")
    return fine
