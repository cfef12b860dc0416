"""The machine: one frozen `Target` whose numbers name their source."""

from xla_explorer.compiler.target.grouped_products import GroupedProduct, grouped_product
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
    Memory,
    OwnProduct,
    PlansProducts,
    ProductRates,
    ServesCalls,
    Source,
    Unit,
    VectorUnit,
)

__all__ = [
    "AMDGPU", "HOST_LIKE", "NVPTX", "UNSTATED", "Abilities", "Cache", "Cores", "GpuUnit", "GroupedProduct", "Kind", "Launch", "Link",
    "Memory", "OwnProduct", "PlansProducts", "ProductRates", "ServesCalls", "Source", "Target", "Unit", "VectorUnit", "cpu_target",
    "gpu_numbers", "grouped_product",
]  # fmt: skip
