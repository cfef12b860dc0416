"""`xe.xla`: what real XLA did with a program, how long it took, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from xla_explorer.backends.xla.xla_platform import XlaExecutable
from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.xla import ProfileError, ReplayedFusion, XlaProfile, read_profile, replay_fusion
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program import lower
from xla_explorer.hlo.module import HloModule

__all__ = ["ProfileError", "ReplayedFusion", "XlaProfile", "profile", "read_profile", "replay_fusion"]


def profile(program: Any, *arrays: Any, repeats: int = 20) -> XlaProfile:
    """Compile a program with real XLA:CPU, run it, and read what XLA's own profiler recorded.

    XLA runs in a child process; the extra `jax` must be installed.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments; of a module without them, random ones.
    repeats
        Runs that are recorded, after one that is not.

    Returns
    -------
    XlaProfile
        XLA's kernels by their own times, joined to instructions and the user's source lines. Its `session` is XLA's compile.

    Raises
    ------
    MissingExtraError
        jax is not installed.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[64] parameter(0) e = f32[64] exponential(x) ROOT r = f32[64] add(e, x) }"
    >>> found = xe.xla.profile(text)  # doctest: +SKIP
    >>> found.kernels()["share"].sum()  # doctest: +SKIP
    1.0
    """
    if callable(program) and not isinstance(getattr(program, "module", None), HloModule):
        lowered = lower(program, arrays)
        session = compile_module(lowered.module, backend="xla")
        leaves = [np.asarray(leaf) for leaf in import_optional("jax", "jax").tree_util.tree_leaves(arrays)]
        arrays = tuple([leaves[number] for number in lowered.parameters])
    else:
        session = compile_module(program, backend="xla")
    arrays = arrays or random_arguments(session.source)
    executable = session.executable
    assert isinstance(executable, XlaExecutable)
    recorded = executable.record(session.signature.leaves(arrays), repeats)
    return XlaProfile(session.source.name, recorded, lambda name, number: session.module, session)
