"""The course: exercises, one module for each notebook, and `check`, which compares an answer with the reference and shows the smallest
program on which they differ. Reference solutions are not in the package: they live with the tests."""

from xla_explorer.course import (
    nb01_reading,
    nb02_builder,
    nb03_dead_code,
    nb04_common_subexpressions,
    nb05_algebra,
    nb06_fusion_legality,
    nb07_fusion_heuristics,
    nb08_buffers,
    nb09_llvm,
    nb10_ptx,
    nb11_roofline,
    nb12_retarget,
    nb13_own_device,
)
from xla_explorer.course.registry import Exercise, UnknownExerciseError, check, exercises
from xla_explorer.course.result import CheckResult, ExerciseNotPassedError, Failure

# The exercises register themselves when they are imported.
_NOTEBOOKS = (
    nb01_reading,
    nb02_builder,
    nb03_dead_code,
    nb04_common_subexpressions,
    nb05_algebra,
    nb06_fusion_legality,
    nb07_fusion_heuristics,
    nb08_buffers,
    nb09_llvm,
    nb10_ptx,
    nb11_roofline,
    nb12_retarget,
    nb13_own_device,
)

__all__ = ["CheckResult", "Exercise", "ExerciseNotPassedError", "Failure", "UnknownExerciseError", "check", "exercises"]
