"""Reads the profiles of XLA programs (`*.xplane.pb`): which instruction took how long, and the modules that the profile itself holds.

`read_profile` takes a file, or a folder that `jax.profiler.trace` wrote. No TensorFlow, no jaxlib.
"""

from xla_explorer.frontends.xla_profile.kernels import KernelEvent, is_copy, kernel_events
from xla_explorer.frontends.xla_profile.profile import ProfiledProgram, ProfileError, RecordedProfile, read_profile
from xla_explorer.frontends.xla_profile.space import Space, read_space

__all__ = [
    "KernelEvent",
    "ProfileError",
    "ProfiledProgram",
    "RecordedProfile",
    "Space",
    "is_copy",
    "kernel_events",
    "read_profile",
    "read_space",
]
