"""`xe.xla.sweep_flags` and `xe.xla.time`: a program given to real XLA in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.explorer.sessions.arguments import Signature, random_arguments
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.explorer.xla.what_if import Flags, Variant, WhatIf, flag_variants, timed
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program import lower
from xla_explorer.hlo.module import HloModule


def sweep_flags(program: Any, *arrays: Any, flags: Flags, repeats: int = 20) -> WhatIf:
    """Compile a program by real XLA with other flags, each in a child process of its own, time them in turns and compare the results.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments; of a module without them, random ones.
    flags
        Flag -> value or values, one setting for each; or texts of several flags each, `["--xla_cpu_enable_fast_math=true"]`.
    repeats
        Runs of each that are timed.

    Returns
    -------
    WhatIf
        A row a setting, the default first: times, compile time, kernels, the difference of the results; what XLA said where it failed.

    Raises
    ------
    XlaProcessError
        XLA refuses the program with its default flags.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> flags = {"xla_cpu_enable_fast_math": [True], "xla_disable_hlo_passes": ["fusion"]}
    >>> xe.xla.sweep_flags(xe.example("attention"), flags=flags).best.label  # doctest: +SKIP
    'default'
    """
    module, leaves = given(program, arrays)
    return timed(flag_variants(module, flags), leaves, repeats)


def time(
    program: Any, *arrays: Any, against: ModuleLike | None = None, environments: Sequence[str] = (), repeats: int = 20
) -> WhatIf:
    """Compile and time a program by real XLA as it is: an edited module beside the one it was, or by the XLA of several JAX versions.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments; of a module without them, random ones.
    against
        Another module with the same parameters, which comes first: what the program is compared with.
    environments
        Folders of virtual environments with other versions of jax, beside this one's.
    repeats
        Runs of each that are timed.

    Returns
    -------
    WhatIf
        A row for each module and environment, timed in turns.

    Raises
    ------
    XlaProcessError
        XLA refuses the first, or an environment has no Python.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[64] parameter(0) e = f32[64] exponential(x) ROOT r = f32[64] add(e, x) }"
    >>> edited = text.replace("exponential", "tanh")
    >>> xe.xla.time(edited, against=text).rows[1].difference > 0  # doctest: +SKIP
    True
    """
    module, leaves = given(program, arrays)
    first = [Variant("given", module)] if against is None else [Variant("against", as_module(against)), Variant("given", module)]
    others = [Variant(f"{one.label} by {place}", one.module, python=place) for place in environments for one in first]
    return timed([*first, *others], leaves, repeats)


def given(program: Any, arrays: tuple[Any, ...]) -> tuple[HloModule, list[Any]]:
    """(the module, the leaves that its parameters take; random ones where none are given)."""
    if callable(program) and not isinstance(getattr(program, "module", None), HloModule):
        lowered = lower(program, arrays)
        module = lowered.module
        arrays = tuple(lowered.arrays(import_optional("jax", "jax").tree_util.tree_leaves(arrays)))
    else:
        module = as_module(program)
    return module, Signature(module).leaves(arrays or random_arguments(module))
