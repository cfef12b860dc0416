"""`from_jax`: what `jax.jit` would hand to XLA, as an HloModule."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program.host_callbacks import keep
from xla_explorer.frontends.jax_program.lowered_program import JaxProgram, program_of_lowered
from xla_explorer.frontends.jax_program.stages import is_stage, jaxs_stage, stage_module
from xla_explorer.hlo.module import HloModule


def lower(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: dict[str, Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    platform: str = "cpu",
) -> JaxProgram:
    """Trace and lower a function; see `from_jax`."""
    jax = import_optional("jax", "jax")
    options = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    with warnings.catch_warnings():
        # A donation that no result can use is a fact of the module, not a mistake of who looks at it.
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        lowered = None if chosen else _lowered_by_library(function, arguments, keywords or {})
        if lowered is None:
            jitted: Any = (
                function
                if hasattr(function, "trace") and not chosen
                else jax.jit(function, keep_unused=True, **chosen)
            )
            lowered = jitted.trace(*arguments, **(keywords or {})).lower(
                lowering_platforms=(platform,)
            )
    return program_of_lowered(lowered, *_definition(function), traced_in=__file__)


def _lowered_by_library(
    function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """The `jax.stages.Lowered` of a function that a library on top of JAX jitted (equinox's `filter_jit`), whose arguments may hold what
    JAX takes for no array; None of other functions."""
    if hasattr(function, "trace") or not hasattr(function, "lower"):
        return None
    found = jaxs_stage(function.lower(*arguments, **keywords))
    return found if type(found).__name__ == "Lowered" else None


def from_jax(
    function: Callable[..., Any],
    *args_or_specs: Any,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    platform: str = "cpu",
    **keywords: Any,
) -> HloModule:
    """The HLO module that JAX makes of a function: before XLA's passes, with the user's file and line on each instruction.

    Source: jax.stages (Traced.lower). Needs the extra `jax`.

    Parameters
    ----------
    function
        Plain, jitted, or made by `jax.grad`, `jax.vmap` and their kin. Shardings and donations of a jitted one are kept. Or what JAX made
        of one, which takes no arguments here: `jax.stages.Traced`, `Lowered` or `Compiled`, `jax.export.Exported`, a jaxpr.
    *args_or_specs
        Example arguments, arrays or `jax.ShapeDtypeStruct`, in any pytree.
    static_argnums, static_argnames, donate_argnums
        As `jax.jit` takes them.
    platform
        For which device JAX lowers (`cpu`, `cuda`, `tpu`); it decides which library calls linear algebra becomes.
    **keywords
        Example keyword arguments.

    Returns
    -------
    HloModule
        The module.

    Raises
    ------
    MissingExtraError
        jax is not installed. What JAX raises while it traces the function is passed on.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> module = xe.from_jax(lambda x: x + 1, np.ones(3, np.float32))
    >>> module.entry.root.shape.text_without_layout
    'f32[3]'
    """
    if is_stage(function):
        return stage_module(function)
    program = lower(
        function,
        args_or_specs,
        keywords,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
        platform=platform,
    )
    keep(program.callbacks)
    return program.module


def _definition(function: Callable[..., Any]) -> tuple[str, tuple[str, int] | None]:
    """Name and place of the Python function below wrappers such as jit, grad and vmap."""
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    name = getattr(plain, "__name__", "")
    return name if name.isidentifier() else "", (
        code.co_filename,
        code.co_firstlineno,
    ) if code is not None else None
