"""Fusion: producers computed inside their consumers, with reasons for and against."""

from xla_explorer.compiler.transforms.fusion.dot_epilogue_fusion import DotEpilogueFusion
from xla_explorer.compiler.transforms.fusion.fusion_wrapper import FusionWrapper
from xla_explorer.compiler.transforms.fusion.horizontal_fusion import (
    HorizontalInputFusion,
    HorizontalLoopFusion,
)
from xla_explorer.compiler.transforms.fusion.instruction_fusion import InstructionFusion
from xla_explorer.compiler.transforms.fusion.multi_output_fusion import MultiOutputFusion
from xla_explorer.compiler.transforms.fusion.normalization_fusion import NormalizationFusion
from xla_explorer.compiler.transforms.fusion.planning import plan_fusions
from xla_explorer.compiler.transforms.fusion.priority_fusion import PriorityFusion
from xla_explorer.compiler.transforms.fusion.xla_planning import XlaFusionPlanner

__all__ = [
    "DotEpilogueFusion",
    "FusionWrapper",
    "HorizontalInputFusion",
    "HorizontalLoopFusion",
    "InstructionFusion",
    "MultiOutputFusion",
    "NormalizationFusion",
    "PriorityFusion",
    "XlaFusionPlanner",
    "plan_fusions",
]
