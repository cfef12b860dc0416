"""`xe.sharding`: meshes, annotations and reshards, without a session."""

from xla_explorer.compiler.costs.machines import MACHINES
from xla_explorer.compiler.spmd.explanation.annotating import annotated as annotate
from xla_explorer.compiler.spmd.explanation.annotating import read_mesh as mesh
from xla_explorer.explorer.devices.compare_partitioning import compare_partitioning
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.devices.found_shardings import ShardingSearch
from xla_explorer.explorer.devices.reshard import ReshardPlan, reshard_plan
from xla_explorer.explorer.devices.search_shardings import search_shardings

__all__ = [
    "MACHINES",
    "Devices",
    "ReshardPlan",
    "ShardingSearch",
    "annotate",
    "compare_partitioning",
    "mesh",
    "reshard_plan",
    "search_shardings",
]
