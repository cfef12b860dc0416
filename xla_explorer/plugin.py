"""Stable imports for extensions: passes, rules, opcodes and backends in packages of their own.

These names keep their meaning. Everything below this module may move.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.kernel_module import KernelDialect
from xla_explorer.backends.interfaces import (
    CompilationStage,
    CompileOptions,
    CompileResult,
    DeviceMemory,
    KernelTiming,
    LinearTransferManager,
    ProfileResult,
    ProgramStep,
    hlo_stage,
)
from xla_explorer.backends.registry import register
from xla_explorer.compiler.buffers import Allocation, BufferAssignment, BufferSlice, assign_buffers
from xla_explorer.compiler.codegen.kernels.thread_number import numbers_threads
from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.lowering.pipeline import lowering_step
from xla_explorer.compiler.codegen.lowering.record_step import RecordStep
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.default_pipelines import (
    default_simplification_pipeline,
    requested_pipeline,
)
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import HloPass, make_pass, register_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.trace import PassTrace
from xla_explorer.compiler.rewriting import (
    Exactness,
    Pattern,
    Rule,
    RuleSet,
    any_,
    constant,
    one_of,
    operator,
    rewrite_computation,
    scalar,
    splat,
)
from xla_explorer.compiler.target import (
    Abilities,
    GpuUnit,
    Kind,
    Launch,
    Link,
    Source,
    Target,
    VectorUnit,
    cpu_target,
)
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.simplifiers.checked_rule import rule
from xla_explorer.explorer.display.display import Svg, table_html
from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.rules.claims import check_claim
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.attributes.values import WindowDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

__all__ = [
    "Abilities",
    "Allocation",
    "BufferAssignment",
    "BufferSlice",
    "CompilationStage",
    "CompileOptions",
    "CompileResult",
    "DeviceMemory",
    "Exactness",
    "GpuUnit",
    "HloComputation",
    "HloInstruction",
    "HloModule",
    "HloPass",
    "Journal",
    "KernelDialect",
    "KernelTiming",
    "Kind",
    "Launch",
    "LinearTransferManager",
    "Link",
    "NestStep",
    "PassContext",
    "PassPipeline",
    "PassTrace",
    "Pattern",
    "ProfileResult",
    "ProgramStep",
    "Reason",
    "RecordStep",
    "Rule",
    "RuleSet",
    "Shape",
    "Source",
    "Svg",
    "Target",
    "VectorUnit",
    "WindowDimension",
    "XlaExplorerError",
    "any_",
    "assign_buffers",
    "build_fusion",
    "check_claim",
    "constant",
    "cpu_target",
    "default_simplification_pipeline",
    "escape",
    "hlo_stage",
    "identity_element",
    "literal_from_array",
    "lowering_step",
    "make_pass",
    "numbers_threads",
    "one_of",
    "operator",
    "optimize",
    "order_callees_first",
    "refuse",
    "register",
    "register_pass",
    "requested_pipeline",
    "rewrite_computation",
    "rule",
    "scalar",
    "sequential_computations",
    "splat",
    "table_html",
]
