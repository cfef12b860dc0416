"""`from_jax`: what `jax.jit` would hand to XLA, as an HloModule."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.foreign_calls import bind_foreign_calls
from xla_explorer.frontends.jax_program.host_callbacks import HostCallback, bind_callbacks, keep, start_with_own_tokens
from xla_explorer.frontends.jax_program.mlir import computation_of, hlo_text, refined_shapes
from xla_explorer.frontends.source_places import complete_source_places, forget_callers
from xla_explorer.hlo.given_values import Array, array_of
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo


class JaxProgram(NamedTuple):
    """A lowered JAX function.

    module: parameters are the array leaves of the arguments, results the leaves of what the function returns. parameters: for each
    parameter of the module, the number of the leaf that it takes (JAX drops leaves that play no part when the function came
    jitted). in_tree, out_tree: how leaves make up the arguments and the result. results: shape and type of each result leaf. callbacks:
    Python functions that it calls; they can be called as long as this lives.
    """

    module: HloModule
    parameters: tuple[int, ...]
    in_tree: Any
    out_tree: Any
    results: tuple[Any, ...]
    callbacks: tuple[HostCallback, ...] = ()

    def arrays(self, leaves: Sequence[Any]) -> list[Array]:
        """What the parameters take of the leaves of a call, in their types, as JAX converts them: s32 of int64 unless 64 bits are on."""
        shapes = [parameter.shape for parameter in self.module.entry.parameters()]
        return [array_of(leaves[number]).astype(shape.element_type.dtype, copy=False)
                for number, shape in zip(self.parameters, shapes, strict=True)]  # fmt: skip


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
    jitted: Any = function
    if not hasattr(function, "trace") or static_argnums is not None or static_argnames is not None or donate_argnums is not None:
        options = {"static_argnums": static_argnums, "static_argnames": static_argnames, "donate_argnums": donate_argnums}
        jitted = jax.jit(function, keep_unused=True, **{name: value for name, value in options.items() if value is not None})
    with warnings.catch_warnings():
        # A donation that no result can use is a fact of the module, not a mistake of who looks at it.
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        lowered = jitted.trace(*arguments, **(keywords or {})).lower(lowering_platforms=(platform,))
    refined = refined_shapes(lowered.compiler_ir("stablehlo"))
    computation = lowered.compiler_ir("hlo") if refined is None else computation_of(refined)
    name, place = _definition(function)
    module = parse_hlo(hlo_text(computation))
    module.name = name or module.name
    start_with_own_tokens(module)
    bind_foreign_calls(module)
    callbacks = bind_callbacks(module, lowered._lowering.compile_args.get("host_callbacks") or ())
    forget_callers(module, __file__)
    complete_source_places(module, place)
    count = len(module.entry.parameters())
    leaves = lowered.in_tree.num_leaves
    kept = tuple(range(leaves)) if count == leaves else tuple(sorted(lowered._lowering.compile_args["kept_var_idx"]))
    results = tuple(jax.tree_util.tree_leaves(lowered.out_info))
    return JaxProgram(module, kept, lowered.in_tree, lowered.out_tree, results, callbacks)


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
        Plain, jitted, or made by `jax.grad`, `jax.vmap` and their kin. Shardings and donations of a jitted one are kept.
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
    program = lower(function, args_or_specs, keywords, static_argnums=static_argnums, static_argnames=static_argnames,
                    donate_argnums=donate_argnums, platform=platform)
    keep(program.callbacks)
    return program.module


def _definition(function: Callable[..., Any]) -> tuple[str, tuple[str, int] | None]:
    """Name and place of the Python function below wrappers such as jit, grad and vmap."""
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    name = getattr(plain, "__name__", "")
    return name if name.isidentifier() else "", (code.co_filename, code.co_firstlineno) if code is not None else None
