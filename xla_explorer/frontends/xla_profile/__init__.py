"""XLA's profiles (`*.xplane.pb`): times per instruction, and their modules.

`read_profile` takes a file, or a folder that `jax.profiler.trace` wrote. No TensorFlow, no jaxlib.
"""

from xla_explorer.frontends.xla_profile.kernels import KernelEvent, is_copy, kernel_events
from xla_explorer.frontends.xla_profile.profile import (
    PROFILE_ENDINGS,
    ProfiledProgram,
    ProfileError,
    RecordedProfile,
    read_profile,
)
from xla_explorer.frontends.xla_profile.runs import with_runs
from xla_explorer.frontends.xla_profile.space import Space, read_space
from xla_explorer.frontends.xla_profile.steps import StepEvent

__all__ = [
    "PROFILE_ENDINGS",
    "KernelEvent",
    "ProfileError",
    "ProfiledProgram",
    "RecordedProfile",
    "Space",
    "StepEvent",
    "is_copy",
    "kernel_events",
    "read_profile",
    "read_space",
    "with_runs",
]
