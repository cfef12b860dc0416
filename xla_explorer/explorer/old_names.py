"""Old attributes of `Session`, with what replaces them; they go with the next release."""

from __future__ import annotations

from xla_explorer.explorer.sessions.compilation import program_steps, source_line
from xla_explorer.explorer.trace import Trace
from xla_explorer.explorer.widget import widget_of
from xla_explorer.foundation.renamed import Renamed, standing_for_its_value

OLD_NAMES = {
    "access_patterns": Renamed(
        "schedule(kernel).access_patterns()",
        lambda s: lambda kernel: s.schedule(kernel).access_patterns(),
    ),
    "applicable": Renamed("passes.applicable(instruction)", lambda s: s.passes.applicable),
    "explorer_source": Renamed("explore(), or to_html()", lambda s: s._explorer_source_()),
    "explore": Renamed(
        "explore of xe: xe.explore(session)",
        lambda s: lambda **options: widget_of(s._explorer_source_(), **options),
    ),
    "find": Renamed("passes.find(instruction)", lambda s: s.passes.find),
    "graph": Renamed("passes[-1].graph(), or xe.graph(session)", lambda s: s.passes[-1].graph),
    "gpu_with": Renamed("gpu(**options)", lambda s: s.gpu),
    "has_gpu": Renamed(
        "gpu(), which compiles once", lambda s: s.backend == "gpu" or () in s.gpu_sessions
    ),
    "history": Renamed("passes.history(instruction)", lambda s: s.passes.history),
    "host": Renamed("executable.host", lambda s: s.executable.host),
    "hot_rules": Renamed("passes.hot_rules()", lambda s: s.passes.hot_rules),
    "inner_loops": Renamed("llvm.inner_loops(kernel)", lambda s: s.llvm.inner_loops),
    "llvm_passes": Renamed("llvm.passes(kernel)", lambda s: s.llvm.passes),
    "pipeline": Renamed("passes.pipeline", lambda s: s.passes.pipeline),
    "program_steps": Renamed("kernels()", program_steps),
    "provenance": Renamed(
        "passes.provenance()", lambda s: standing_for_its_value(s.passes.provenance)
    ),
    "ptxas_report": Renamed("kernels(resources=True)", lambda s: lambda: s.kernels(resources=True)),
    "remarks": Renamed("llvm.remarks(*passes)", lambda s: s.llvm.remarks),
    "sass": Renamed("gpu().assembly()", lambda s: lambda: s.gpu().assembly()),
    "search": Renamed("passes.search(query)", lambda s: s.passes.search),
    "source_line": Renamed(
        "explain(instruction).line", lambda s: lambda instruction: source_line(s, instruction)
    ),
    "trace": Renamed("passes", lambda s: Trace(s.passes)),
    "with_schedule": Renamed(
        "override(schedules=[...])", lambda s: lambda *schedules: s.override(schedules=schedules)
    ),
}
