"""The functions behind `Devices`, in one import: they load the propagation and the partitioner."""

from xla_explorer.compiler.costs.machines import machine_of
from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.spmd.explanation.annotating import annotated, read_mesh, read_specs
from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
from xla_explorer.compiler.spmd.explanation.dropped_axes import dropped_axes
from xla_explorer.compiler.spmd.explanation.later_passes import collectives_after
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import (
    recorded_partitioning,
    require_policy,
)
from xla_explorer.compiler.spmd.propagation.report import inlined, sharding_report
from xla_explorer.explorer.devices.changes import changes_for
from xla_explorer.explorer.devices.comparison import compare_devices
from xla_explorer.explorer.devices.memory import device_memory, peak_bytes
from xla_explorer.explorer.devices.overlap import overlap
from xla_explorer.explorer.devices.partitioning_comparison import beside_xla
from xla_explorer.explorer.devices.sharding_search import searched
from xla_explorer.explorer.devices.tables import (
    choices_frame,
    collectives_frame,
    links_frame,
    propagation_frame,
    timeline_frame,
)
from xla_explorer.explorer.devices.why_collective import WhyCollective, collective_named
from xla_explorer.explorer.devices.wrong_parts import bisection
from xla_explorer.explorer.questions.device_runs import DeviceRuns
from xla_explorer.explorer.sessions.compilation import recompiled

__all__ = [
    "DeviceRuns",
    "PlacedProgram",
    "Topology",
    "WhyCollective",
    "annotated",
    "beside_xla",
    "bisection",
    "changes_for",
    "choices_frame",
    "collective_named",
    "collectives_after",
    "collectives_frame",
    "compare_devices",
    "device_memory",
    "dropped_axes",
    "inlined",
    "links_frame",
    "machine_of",
    "overlap",
    "peak_bytes",
    "propagation_frame",
    "read_mesh",
    "read_specs",
    "recompiled",
    "recorded_partitioning",
    "require_policy",
    "searched",
    "sharding_report",
    "timeline_frame",
]  # fmt: skip
