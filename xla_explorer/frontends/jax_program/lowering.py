"""`from_jax`: the program that `jax.jit` passes to XLA, as an HloModule."""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program.host_callbacks import keep
from xla_explorer.frontends.jax_program.lowered_program import JaxProgram, program_of_lowered
from xla_explorer.frontends.jax_program.stages import bytecode_of, is_stage, stage_module
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
    shardings: Mapping[str, Any] | None = None,
) -> JaxProgram:
    """Trace and lower a function; see `from_jax`. shardings: `in_shardings`, `out_shardings`."""
    options = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        **(shardings or {}),
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    named = keywords or {}
    if not chosen and is_jitted(function) and not _is_jitted_by_jax(function):
        return _lowered_by_library(function, arguments, named, platform)
    lowered = _lowered(_jitted(function, chosen), arguments, named, platform)
    return program_of_lowered(lowered, *_definition(function), traced_in=__file__)


def stablehlo_bytecode(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> bytes | None:
    """Return the program that `lower` reads, as JAX passes it to XLA's CPU.

    None for a function that a library on top of JAX jitted.
    """
    if is_jitted(function) and not _is_jitted_by_jax(function):
        return None
    lowered = _lowered(_jitted(function, {}), arguments, keywords, "cpu")
    return bytecode_of(lowered.compiler_ir("stablehlo"))


def _jitted(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    if is_jitted(function) and not options:
        return function
    jax = import_optional("jax", "jax")
    return jax.jit(_as_function(function), keep_unused=True, **options)


def _lowered(
    jitted: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], platform: str
) -> Any:
    with warnings.catch_warnings():
        # An unusable donation is a property of the module, not a mistake of its reader.
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        return jitted.trace(*arguments, **keywords).lower(lowering_platforms=(platform,))


def is_jitted(function: Any) -> bool:
    """Return True if JAX, or a library on top of it, jitted an object.

    A bound method does not count, though it shows the attributes of its function.
    """
    return hasattr(function, "lower") and not isinstance(function, types.MethodType)


def _as_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the object.

    `jax.jit` accepts neither a method of a jitted function nor an object without a hash.
    """
    if inspect.isfunction(function) or inspect.isbuiltin(function) or is_jitted(function):
        return function

    def called(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    called.__name__ = _name_of(function)
    return called


def _name_of(function: Any) -> str:
    """Return the name after which JAX names the module of a function."""
    return str(getattr(inspect.unwrap(function), "__name__", type(function).__name__))


def _is_jitted_by_jax(function: Any) -> bool:
    return type(function).__module__.partition(".")[0] in ("jax", "jaxlib")


def _lowered_by_library(
    function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], platform: str
) -> JaxProgram:
    """Lower a function jitted by a library on top of JAX, such as equinox or flax.nnx.

    Its arguments may hold leaves that JAX does not accept as arrays. The program's parameters are
    the arrays among them.
    """
    jax = import_optional("jax", "jax")
    leaves, tree = jax.tree_util.tree_flatten((tuple(arguments), dict(keywords)))
    numbers = [
        number
        for number, leaf in enumerate(leaves)
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype")
    ]

    def called(*arrays: Any) -> Any:
        merged = list(leaves)
        for number, array in zip(numbers, arrays, strict=True):
            merged[number] = array
        given, named = jax.tree_util.tree_unflatten(tree, merged)
        return function(*given, **named)

    called.__name__ = _name_of(function)
    jitted = jax.jit(called, keep_unused=True)
    lowered = _lowered(jitted, [leaves[number] for number in numbers], {}, platform)
    program = program_of_lowered(lowered, *_definition(function), traced_in=__file__)
    kept = tuple([numbers[parameter] for parameter in program.parameters])
    return program._replace(parameters=kept, in_tree=tree)


@explains_arguments
def from_jax(
    function: Callable[..., Any],
    *args_or_specs: Any,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    platform: str = "cpu",
    **keywords: Any,
) -> HloModule:
    """Return the HLO module of a JAX function, before XLA's passes.

    Each instruction has the user's file and line. Source: jax.stages (Traced.lower). Needs the
    extra `jax`.

    Parameters
    ----------
    function
        Plain, jitted, or made by `jax.grad`, `jax.vmap` and the like. Shardings and donations of a
        jitted one are kept. Or an object that JAX made of a function: `jax.stages.Traced`,
        `Lowered` or `Compiled`, `jax.export.Exported`, a jaxpr. Then there are no example
        arguments.
    *args_or_specs
        Example arguments, arrays or `jax.ShapeDtypeStruct`, in any pytree.
    static_argnums, static_argnames, donate_argnums
        As `jax.jit` takes them.
    platform
        The device for which JAX lowers (`cpu`, `cuda`, `tpu`); it decides the library calls of
        linear algebra.
    **keywords
        Example keyword arguments.

    Returns
    -------
    HloModule
        The module.

    Raises
    ------
    MissingExtraError
        jax is not installed. Exceptions that JAX raises while it traces the function are passed on.

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
