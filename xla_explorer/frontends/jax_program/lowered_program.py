"""Lowered JAX programs: a module, and the pytrees of its arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.foreign_calls import bind_foreign_calls
from xla_explorer.frontends.jax_program.host_callbacks import (
    HostCallback,
    bind_callbacks,
    start_with_own_tokens,
)
from xla_explorer.frontends.jax_program.mlir import computation_of, module_of_jaxlib, refined_shapes
from xla_explorer.frontends.source_places import complete_source_places, forget_callers
from xla_explorer.hlo.given_values import Array, array_of
from xla_explorer.hlo.module import HloModule


class JaxProgram(NamedTuple):
    """A lowered JAX function.

    module: its parameters are array leaves of the arguments, its results leaves of the function's
    result. parameters: for each parameter of the module, the number of its leaf. JAX drops unused
    leaves if the function came jitted. in_tree, out_tree: the pytrees of arguments and result.
    results: shape and type of each result leaf. callbacks: Python functions that the program calls,
    callable as long as this record lives.
    """

    module: HloModule
    parameters: tuple[int, ...]
    in_tree: Any
    out_tree: Any
    results: tuple[Any, ...]
    callbacks: tuple[HostCallback, ...] = ()

    def arrays(self, leaves: Sequence[Any]) -> list[Array]:
        """Return the parameters' arrays from the leaves of a call, converted as JAX does.

        Without 64-bit types, int64 becomes s32.
        """
        shapes = [parameter.shape for parameter in self.module.entry.parameters()]
        return [array_of(leaves[number]).astype(shape.element_type.dtype, copy=False)
                for number, shape in zip(self.parameters, shapes, strict=True)]  # fmt: skip


def program_of_lowered(
    lowered: Any, name: str = "", place: tuple[str, int] | None = None, traced_in: str | None = None
) -> JaxProgram:
    """Return the program of a `jax.stages.Lowered`.

    name, place: of the function that was lowered, if available. traced_in: our file that called
    JAX; stack frames of its callers are dropped.
    """
    jax = import_optional("jax", "jax")
    refined = refined_shapes(lowered.compiler_ir("stablehlo"))
    computation = lowered.compiler_ir("hlo") if refined is None else computation_of(refined)
    module = module_of_jaxlib(computation.get_hlo_module())
    module.name = name or module.name
    module.out_tree = lowered.out_tree
    start_with_own_tokens(module)
    bind_foreign_calls(module)
    callbacks = bind_callbacks(module, lowered._lowering.compile_args.get("host_callbacks") or ())
    if traced_in is not None:
        forget_callers(module, traced_in)
    complete_source_places(module, place)
    count = len(module.entry.parameters())
    leaves = lowered.in_tree.num_leaves
    kept = (
        tuple(range(leaves))
        if count == leaves
        else tuple(sorted(lowered._lowering.compile_args["kept_var_idx"]))
    )
    results = tuple(jax.tree_util.tree_leaves(lowered.out_info))
    return JaxProgram(module, kept, lowered.in_tree, lowered.out_tree, results, callbacks)
