"""`xe.xla.why_slow_to_compile`: where real XLA's compile time goes, and what causes it."""

from xla_explorer.explorer.xla.compile_time.causes import CompileCause
from xla_explorer.explorer.xla.compile_time.kernel_compile import KernelCompile
from xla_explorer.explorer.xla.compile_time.report import (
    CompileStage,
    PassTime,
    WhySlowToCompile,
)
from xla_explorer.explorer.xla.compile_time.why import why_slow_to_compile

__all__ = [
    "CompileCause",
    "CompileStage",
    "KernelCompile",
    "PassTime",
    "WhySlowToCompile",
    "why_slow_to_compile",
]
