"""The exercises of the notebooks, and what checks and grades them.

Reference solutions are not in the package, but with the tests. Start reading at
`checking/registry.py`.
"""

from xla_explorer.course import (
    nb01_reading,
    nb02_builder,
    nb03_dead_code,
    nb04_common_subexpressions,
    nb05_algebra,
    nb05_proofs,
    nb06_fusion_legality,
    nb07_fusion_heuristics,
    nb08_buffers,
    nb09_llvm,
    nb10_ptx,
    nb11_roofline,
    nb12_retarget,
    nb13_own_device,
    nb14_miscompile,
    nb15_schedules,
    nb16_loops,
    nb17_dataflow,
    nb18_jax_step,
    nb19_shared_memory,
)
from xla_explorer.course.capstone import accelerator_checks, attention_checks
from xla_explorer.course.checking.passes import check_pass
from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import (
    Exercise,
    UnknownExerciseError,
    check,
    exercise,
    exercises,
    hidden,
)
from xla_explorer.course.checking.result import CheckResult, ExerciseNotPassedError, Failure
from xla_explorer.course.grades.grade import Grade, NotebookUnreadableError, grade
from xla_explorer.course.grades.progress import Progress, hint, progress
from xla_explorer.course.mini import checks, native_checks

# The exercises register themselves when they are imported.
_NOTEBOOKS = (
    nb01_reading,
    nb02_builder,
    nb03_dead_code,
    nb04_common_subexpressions,
    nb05_algebra,
    nb05_proofs,
    nb06_fusion_legality,
    nb07_fusion_heuristics,
    nb08_buffers,
    nb09_llvm,
    nb10_ptx,
    nb11_roofline,
    nb12_retarget,
    nb13_own_device,
    nb14_miscompile,
    nb15_schedules,
    nb16_loops,
    nb17_dataflow,
    nb18_jax_step,
    nb19_shared_memory,
    checks,
    native_checks,
    attention_checks,
    accelerator_checks,
)

__all__ = [
    "CheckResult",
    "Exercise",
    "ExerciseNotPassedError",
    "Failure",
    "Grade",
    "NotebookUnreadableError",
    "Progress",
    "UnknownExerciseError",
    "cases_of",
    "check",
    "check_pass",
    "exercise",
    "exercises",
    "grade",
    "hidden",
    "hint",
    "progress",
    "random_program",
]
