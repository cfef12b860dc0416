"""`xe.sharding`: meshes, annotations and reshards, without a session."""

from xla_explorer.compiler.costs.machines import MACHINES
from xla_explorer.compiler.spmd.explanation.annotating import annotated as annotate
from xla_explorer.compiler.spmd.explanation.annotating import read_mesh as mesh
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.devices.reshard import ReshardPlan, reshard_plan

__all__ = ["MACHINES", "Devices", "ReshardPlan", "annotate", "mesh", "reshard_plan"]
