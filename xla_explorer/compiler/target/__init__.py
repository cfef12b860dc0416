"""The machine: one frozen `Target` whose numbers name their source."""

from xla_explorer.compiler.target.dot_product_instructions import (
    DotProductInstruction,
    dot_product_instruction,
)
from xla_explorer.compiler.target.target import (
    AMDGPU,
    HOST_LIKE,
    NVPTX,
    UNSTATED,
    Kind,
    Target,
    cpu_target,
    gpu_numbers,
)
from xla_explorer.compiler.target.units import (
    Abilities,
    Cache,
    Cores,
    GpuUnit,
    Launch,
    Link,
    MainMemory,
    OwnProduct,
    PlansProducts,
    ProductRates,
    ServesCalls,
    Source,
    Unit,
    VectorUnit,
)

__all__ = [
    "AMDGPU",
    "HOST_LIKE",
    "NVPTX",
    "UNSTATED",
    "Abilities",
    "Cache",
    "Cores",
    "DotProductInstruction",
    "GpuUnit",
    "Kind",
    "Launch",
    "Link",
    "MainMemory",
    "OwnProduct",
    "PlansProducts",
    "ProductRates",
    "ServesCalls",
    "Source",
    "Target",
    "Unit",
    "VectorUnit",
    "cpu_target",
    "dot_product_instruction",
    "gpu_numbers",
]  # fmt: skip
