"""`xe.xla.sweep_flags` and `xe.xla.time`: a program compiled by real XLA in several ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.xla.host_callbacks import without_host_callbacks
from xla_explorer.backends.xla.several_devices import refuse_to_measure_on_one
from xla_explorer.explorer.sessions.arguments import ArgumentError, Signature, random_arguments
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module, has_module
from xla_explorer.explorer.xla.what_if import Flags, Variant, WhatIf, flag_variants, timed
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program import JaxProgram, lower
from xla_explorer.frontends.jax_program.stages import is_stage, stage_module, stage_program
from xla_explorer.hlo.given_values import array_of
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


@explains_arguments
def sweep_flags(
    program: Any, *arrays: Any, flags: Flags, repeats: int = 20, **keywords: Any
) -> WhatIf:
    """Compile a program by real XLA with other flags, time the variants and compare the results.

    Each flag has its own child process; the runs alternate.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments, or `jax.ShapeDtypeStruct` for random ones; random ones for a module without
        them.
    flags
        Flag -> value or values, one setting for each; or texts of several flags each,
        `["--xla_cpu_enable_fast_math=true"]`.
    repeats
        Timed runs of each.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    WhatIf
        A row for each setting, the default first: times, compile time, kernels, the difference of
        the results, XLA's message if it failed.

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
    module, leaves = given(program, arrays, keywords)
    return timed(flag_variants(runnable(module), flags), leaves, repeats)


@explains_arguments
def time(
    program: Any,
    *arrays: Any,
    against: ModuleLike | None = None,
    environments: Sequence[str] = (),
    repeats: int = 20,
    **keywords: Any,
) -> WhatIf:
    """Compile and time a program by real XLA; compare another module or other JAX versions.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments, or `jax.ShapeDtypeStruct` for random ones; random ones for a module without
        them.
    against
        Another module with the same parameters; it comes first, as the base of the comparison.
    environments
        Folders of virtual environments with other versions of jax to compare with this one.
    repeats
        Timed runs of each.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    WhatIf
        A row for each module and environment, in alternating runs.

    Raises
    ------
    XlaProcessError
        XLA refuses the first, or an environment has no Python.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> edited = text.replace("tanh", "sine")
    >>> xe.xla.time(edited, against=text).rows[1].difference > 0  # doctest: +SKIP
    True
    """
    module, leaves = given(program, arrays, keywords)
    first = (
        [Variant("given", runnable(module))]
        if against is None
        else [
            Variant("against", runnable(as_module(against))),
            Variant("given", runnable(module)),
        ]
    )
    others = [
        Variant(f"{one.label} by {place}", one.module, python=place)
        for place in environments
        for one in first
    ]
    return timed([*first, *others], leaves, repeats)


def runnable(module: HloModule) -> HloModule:
    """Return the module as real XLA runs it on one device.

    UnsupportedOpcodeError if it needs several.
    """
    refuse_to_measure_on_one(module)
    return without_host_callbacks(module)[0]


def given(
    program: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any] | None = None
) -> tuple[HloModule, list[Any]]:
    """Return the module, and the leaves that its parameters take.

    Missing leaves are random: of a module without arguments, and of specifications
    (`jax.ShapeDtypeStruct`).
    """
    is_jax = is_stage(program)
    if is_jax or (callable(program) and not has_module(program)):
        lowered = stage_program(program) if is_jax else lower(program, arrays, dict(keywords or {}))
        if lowered is not None and (arrays or keywords or not is_jax):
            leaves = import_optional("jax", "jax").tree_util.tree_leaves((arrays, keywords or {}))
            return lowered.module, _leaves_of_program(lowered, leaves)
        module = stage_module(program) if lowered is None else lowered.module
    else:
        module = as_module(program)
    if keywords:
        message = (
            f"keyword arguments ({', '.join(keywords)}) are those of a JAX function, got "
            f"{type(program).__name__}"
        )
        raise ArgumentError(message, "pass arrays in order")
    if not arrays or any(map(_is_specification, arrays)):
        return module, Signature(module).leaves(random_arguments(module))
    return module, Signature(module).leaves(arrays)


def _leaves_of_program(program: JaxProgram, leaves: Sequence[Any]) -> list[Any]:
    """Return the parameters' leaves in their types; a random one for each specification."""
    signature = Signature(program.module)
    if len(leaves) == program.in_tree.num_leaves:
        taken = [leaves[number] for number in program.parameters]
    else:
        taken = _match_leaves(program.module, leaves)
    if any(map(_is_missing, taken)):
        random = random_arguments(program.module)
        taken = [
            made if _is_missing(leaf) else leaf for leaf, made in zip(taken, random, strict=True)
        ]
    kinds = [shape.element_type.dtype for shape in signature.shapes]
    return signature.leaves(
        [array_of(leaf).astype(kind, copy=False) for leaf, kind in zip(taken, kinds, strict=True)]
    )


def _match_leaves(module: HloModule, leaves: Sequence[Any]) -> list[Any]:
    """Return for each parameter the next leaf of its shape and kind, else None.

    Static arguments, and objects that a library does not take for arrays, are leaves but no
    parameters.
    """
    rest, taken = list(leaves), []
    for parameter in module.entry.parameters():
        number = next((k for k, leaf in enumerate(rest) if _fits(leaf, parameter.shape)), None)
        taken.append(None if number is None else rest.pop(number))
    return taken


def _fits(leaf: Any, shape: Shape) -> bool:
    wanted = shape.element_type.dtype.kind
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return tuple(leaf.shape) == shape.dimensions and getattr(leaf.dtype, "kind", None) == wanted
    return (
        isinstance(leaf, bool | int | float | complex)
        and shape.is_scalar
        and np.asarray(leaf).dtype.kind == wanted
    )


def _is_missing(leaf: Any) -> bool:
    return leaf is None or _is_specification(leaf)


def _is_specification(leaf: Any) -> bool:
    """Return True if an argument has a shape and a type, but no elements."""
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype") and not hasattr(leaf, "__array__")
