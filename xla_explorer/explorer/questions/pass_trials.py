"""Trials of all passes at one place of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_explorer.compiler.pipeline import PassPipeline, make_pass, optimize, registered_passes
from xla_explorer.compiler.target import Target
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.progress import counted
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

_COLUMNS = ["pass", "instructions", "bytes", "flops", "ms", "error"]


def effective_passes(module: HloModule, target: Target | None = None) -> pandas.DataFrame:
    """Return a row for each registered pass that changes a module, with the changes.

    Each runs on a copy, verified. error: the exception that it raised.
    """
    before, count = module_cost(module), module.instruction_count()
    rows = []
    for name, cls in counted(registered_passes().items(), "trying passes", noun="passes"):
        if name != cls.name:
            continue  # another name of the same pass
        try:
            hlo_pass = make_pass(name)
        except Exception:
            continue  # it needs options
        trace = optimize(
            module,
            PassPipeline("trial", (hlo_pass,)),
            "passes",
            target=target,
            verify=True,
            keep_errors=True,
        )
        (step,) = trace.steps
        if trace.error is not None or step.changed:
            after = module_cost(trace.module)
            rows.append({
                "pass": name, "instructions": trace.module.instruction_count() - count,
                "bytes": after.bytes_accessed - before.bytes_accessed,
                "flops": after.flops - before.flops, "ms": step.seconds * 1e3, "error": str(trace.error or ""),
            })  # fmt: skip
    return wide_frame(rows, _COLUMNS)
