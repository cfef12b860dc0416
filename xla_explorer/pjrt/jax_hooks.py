"""Hooks into JAX for our platform: lowering rules, donation, callbacks into Python.

Only this file and `jax_interrupts` reach into jax._src. Each hook is applied on its own. If a
version of JAX differs, a warning names the missing feature, and the rest works.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.foundation.warning import warn
from xla_explorer.pjrt.jax_interrupts import raise_interrupts

# With CPU's rules these become calls of LAPACK. Without, JAX has no rule or a very large program.
BORROWED = (
    "eig", "eigh", "hessenberg", "geqp3", "schur", "tridiagonal", "svd", "lu", "geqrf", "householder_product", "ormqr", "threefry2x32",
    "random_gamma", "tridiagonal_solve", "debug_callback", "debug_print", "pure_callback", "io_callback",
    "spsolve", "check",
)  # fmt: skip
CPU = "cpu"


def ir_context() -> Any:
    """Return a context of MLIR with JAX's dialects."""
    from jax._src.interpreters import mlir

    return mlir.make_ir_context()


def apply_hooks(platform: str) -> None:
    """Apply every hook to JAX.

    If our devices are named like JAX's CPU, only the hooks that it needs too are applied.
    """
    for what, hook in _HOOKS.items():
        if platform == CPU and hook not in _ALSO_AS_CPU:
            continue
        try:
            hook(platform)
        except (ImportError, AttributeError, KeyError, TypeError) as problem:
            warn(
                f"JAX on {platform} is without {what}: this version of JAX has no {problem}",
                RuntimeWarning,
            )


def _donation(platform: str) -> None:
    from jax._src.interpreters import mlir

    if platform not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(platform)


class _Rules(dict[Any, Any]):
    """Our own lowering rules, else rules of JAX's CPU for `BORROWED` primitives.

    Rules of modules that are imported later are found as well.
    """

    def __init__(self, own: dict[Any, Any], of_cpu: dict[Any, Any]) -> None:
        super().__init__(own)
        self.of_cpu = of_cpu

    def __contains__(self, primitive: Any) -> bool:
        return super().__contains__(primitive) or (
            primitive.name in BORROWED and primitive in self.of_cpu
        )

    def __missing__(self, primitive: Any) -> Any:
        return self.of_cpu[primitive]


def _lowering_rules(platform: str) -> None:
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    rules[platform] = _Rules(rules[platform], rules[CPU])


def _is_ours(ctx: Any, platform: str) -> bool:
    """Return True if a module is lowered for our devices only."""
    if tuple(ctx.module_context.platforms) != (platform,):
        return False
    return platform != CPU or "xla_explorer" in str(
        getattr(ctx.module_context.backend, "platform_version", "")
    )


def _custom_partitioning(platform: str) -> None:
    """Lower `custom_partitioning` to the function itself, because our devices run it whole."""
    from jax._src import core, custom_partitioning
    from jax._src.interpreters import mlir

    primitive = custom_partitioning.custom_partitioning_p
    original = custom_partitioning._custom_partitioning_lowering_rule

    def whole(ctx: Any, *values: Any, call: Any, **how: Any) -> Any:
        if not _is_ours(ctx, platform):
            return original(ctx, *values, call=call, **how)
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    mlir.register_lowering(primitive, whole, platform=platform)


def _platform_branches(platform: str) -> None:
    """Let `jax.lax.platform_dependent` use its CPU branch, if it has none for us and no default."""
    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    number, choose = conditionals._platform_index_lowering, conditionals._cond_lowering

    def with_ours(branches: Any) -> Any:
        if branches is None or any(names is None or platform in names for names in branches):
            return branches
        return tuple([(*names, platform) if "cpu" in names else names for names in branches])

    def number_of_branch(ctx: Any, *, platforms: Any, **older: Any) -> Any:
        # An older JAX passes separately whether there is a default.
        return number(
            ctx, platforms=platforms if older.get("has_default") else with_ours(platforms), **older
        )

    def chosen_branch(ctx: Any, *arguments: Any, **parameters: Any) -> Any:
        if "branches_platforms" in parameters:
            parameters["branches_platforms"] = with_ours(parameters["branches_platforms"])
        return choose(ctx, *arguments, **parameters)

    mlir.register_lowering(conditionals.platform_index_p, number_of_branch, platform=platform)
    mlir.register_lowering(conditionals.cond_p, chosen_branch, platform=platform)


def _exported_for_the_cpu(platform: str) -> None:
    """Run functions that `jax.export` wrote for JAX's CPU on our devices."""
    from jax._src.export import _export
    from jax._src.interpreters import mlir

    original = _export._call_exported_lowering

    def call(ctx: Any, *args: Any, exported: Any) -> Any:
        if platform not in exported.platforms and _is_ours(ctx, platform):
            names = tuple([platform if name == CPU else name for name in exported.platforms])
            exported = dataclasses.replace(exported, platforms=names)
        return original(ctx, *args, exported=exported)

    mlir.register_lowering(_export.call_exported_p, call, platform=platform)


def _inspection(platform: str) -> None:
    """Support `jax.debug.inspect_array_sharding` on several devices.

    XLA calls the function by an address; our compiler calls it by the same key.
    """
    from jax._src.lib import xla_client

    # Start-up time: JAX imports this module in every process.
    from xla_explorer.pjrt.sharded.devices_layout import sharding_proto
    from xla_explorer.pjrt.sharded.shardy import inspectors

    original = xla_client.encode_inspect_sharding_callback

    def encode(function: Any) -> Any:
        def answered(sharding: Any) -> None:
            proto = xla_client.OpSharding()
            proto.ParseFromString(sharding_proto(sharding))
            function(xla_client.HloSharding.from_proto(proto))

        key = original(function)
        function.answered = answered  # JAX keeps the function until its program has run
        inspectors[bytes(key)] = answered
        return key

    xla_client.encode_inspect_sharding_callback = encode


def _outside_of_meshes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function without a mesh, as JAX's own CPU calls it.

    Our callbacks run on the thread that started the program, which may have a mesh.
    """
    try:
        from jax._src import mesh, sharding_impls

        no_mesh, no_devices = mesh.empty_abstract_mesh, mesh.empty_concrete_mesh
        without, alone = mesh.use_abstract_mesh, sharding_impls._internal_use_concrete_mesh
    except (ImportError, AttributeError):  # an older JAX, whose meshes are not part of the context
        return function

    def call(*arguments: Any) -> Any:
        with without(no_mesh), alone(no_devices):
            return function(*arguments)

    return call


def _with_that_of_the_token(sharding: Any) -> Any:
    """Return Shardy's shardings of a callback's results, preceded by one for the token."""
    from jax._src.sharding_impls import SdyArray, SdyArrayList

    if not isinstance(sharding, SdyArrayList) or not sharding.shardings:
        return sharding
    devices = sharding.shardings[0].logical_device_ids
    return SdyArrayList(
        (SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=devices), *sharding.shardings)
    )


def _callbacks(platform: str) -> None:
    """Lower `jax.pure_callback`, `io_callback`, `debug.print` to custom calls by number.

    The number is that of a function of this process.
    """
    from jax._src import callback as jax_callback
    from jax._src import core, dtypes, ffi
    from jax._src.interpreters import mlir
    from jax.interpreters import mlir as public

    # Start-up time: JAX imports this module in every process.
    from xla_explorer.pjrt.callbacks import CALLBACK, added

    original = jax_callback.emit_python_callback
    canonical = getattr(dtypes, "canonicalize_value", np.asarray)

    def emit(
        ctx: Any,
        function: Any,
        token: Any,
        operands: Any,
        operand_avals: Any,
        result_avals: Any,
        *,
        has_side_effect: bool,
        sharding: Any = None,
        **rest: Any,
    ) -> Any:
        if not _is_ours(ctx, platform):
            given = {**rest, "has_side_effect": has_side_effect, "sharding": sharding}
            return original(ctx, function, token, operands, operand_avals, result_avals, **given)
        number, call = added(
            _outside_of_meshes(function),
            result_avals,
            bool(token),
            canonical,
            bool(rest.get("partitioned")),
        )
        ctx.module_context.add_keepalive(call)
        if token:
            operands = [token, *operands]
            ctx = dataclasses.replace(
                ctx,
                avals_in=[core.abstract_token, *ctx.avals_in],
                avals_out=[core.abstract_token, *ctx.avals_out],
            )
        lower = ffi.build_ffi_lowering_function(CALLBACK, has_side_effect=has_side_effect)
        made = lower(ctx, *operands, number=number)
        if sharding is not None:
            mlir.set_sharding(
                ctx.module_context,
                made,
                _with_that_of_the_token(sharding) if token and result_avals else sharding,
            )
        results = list(made.results)
        if token:
            token, *results = results
        return results, token, call

    jax_callback.emit_python_callback = emit
    if hasattr(public, "emit_python_callback"):  # the same under its public name
        public.emit_python_callback = emit


def _buffer_callbacks(platform: str) -> None:
    """Lower `jax.experimental.buffer_callback`, which fills arrays, to a callback."""
    from jax import errors
    from jax._src import buffer_callback, ffi, tree_util
    from jax._src.interpreters import mlir
    from jax._src.lib import ffi as jaxlib_ffi

    # Start-up time: JAX imports this module in every process.
    from xla_explorer.pjrt.callbacks import CALLBACK, BufferContext, BufferView, added

    original = buffer_callback._buffer_callback_lowering

    def lower(
        ctx: Any,
        *args: Any,
        callback: Any,
        in_tree: Any,
        out_tree: Any,
        has_side_effect: bool,
        input_output_aliases: Any,
        **rest: Any,
    ) -> Any:
        if not _is_ours(ctx, platform):
            return original(
                ctx,
                *args,
                callback=callback,
                in_tree=in_tree,
                out_tree=out_tree,
                has_side_effect=has_side_effect,
                input_output_aliases=input_output_aliases,
                **rest,
            )
        results, context = (
            ctx.avals_out,
            BufferContext(jaxlib_ffi.ExecutionStage.EXECUTE, errors.JaxRuntimeError),
        )

        def filled(*operands: Any) -> Any:
            made = [np.zeros(result.shape, result.dtype) for result in results]
            aliases = dict(input_output_aliases)
            for source, to in aliases.items():
                made[to] = operands[source]  # a copy, which is the call's
            for number, operand in enumerate(operands):
                operand.flags.writeable = number in aliases
            positional, named = tree_util.tree_unflatten(
                in_tree, [operand.view(BufferView) for operand in operands]
            )
            if (
                callback(
                    context,
                    tree_util.tree_unflatten(out_tree, [m.view(BufferView) for m in made]),
                    *positional,
                    **named,
                )
                is not None
            ):
                raise ValueError("buffer_callback callback must not return any values.")
            return made

        number, call = added(filled, results, False, np.asarray)
        ctx.module_context.add_keepalive(call)
        return ffi.ffi_lowering(CALLBACK, has_side_effect=has_side_effect)(
            ctx, *args, number=number
        )

    mlir.register_lowering(buffer_callback.buffer_callback_p, lower, platform=platform)


def _compilation_cache(platform: str) -> None:
    """Enable JAX's persistent cache, which is for a fixed list of platforms."""
    from jax._src import compilation_cache

    original, enabled = compilation_cache.is_cache_used, compilation_cache._is_cache_enabled

    def is_cache_used(backend: Any) -> bool:
        return bool(enabled()) if backend.platform == platform else bool(original(backend))

    compilation_cache.is_cache_used = is_cache_used


def _dlpack(platform: str) -> None:
    """Export our arrays through DLPack as numpy arrays, because they are in host memory.

    jaxlib exports arrays of a fixed list of platforms only.
    """
    from jax._src.array import ArrayImpl

    original, original_device = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def is_ours(array: Any) -> bool:
        return [device.platform for device in array.devices()] == [platform]

    def dlpack(self: Any, **wanted: Any) -> Any:
        if not is_ours(self):
            return original(self, **wanted)
        try:
            return np.asarray(self).__dlpack__(**wanted)
        except BufferError:  # an older consumer has no read-only arrays
            return np.array(self).__dlpack__(**wanted)

    def dlpack_device(self: Any) -> Any:
        return (1, 0) if is_ours(self) else original_device(self)  # kDLCPU

    ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__ = dlpack, dlpack_device


_HOOKS: dict[str, Callable[[str], None]] = {
    "donation": _donation,
    "the lowering rules of linear algebra": _lowering_rules,
    "branches for a platform": _platform_branches,
    "functions exported for the CPU": _exported_for_the_cpu,
    "callbacks into Python": _callbacks,
    "callbacks that fill buffers": _buffer_callbacks,
    "custom partitioning": _custom_partitioning,
    "inspection of shardings": _inspection,
    "the persistent compilation cache": _compilation_cache,
    "DLPack": _dlpack,
    "interrupts of a compile": raise_interrupts,
}
_ALSO_AS_CPU = (_callbacks, _buffer_callbacks, _custom_partitioning, _inspection, raise_interrupts)


def capsule(table: Any) -> Any:
    """Return the table as the capsule that jaxlib accepts."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return new(ctypes.addressof(table), b"pjrt_c_api", None)


def register(platform: str, capsule: Any) -> None:
    """Register the plugin with a priority below JAX's own CPU.

    Only programs that select the platform use it. A failure is quiet, because it must not disturb
    other programs.
    """
    from jax._src import xla_bridge

    _with_the_cpu(platform)
    known = getattr(xla_bridge, "_nonexperimental_plugins", None)
    if isinstance(known, set):
        known.add(platform)
    xla_bridge.register_plugin(platform, priority=-10, c_api=capsule)
    factories = getattr(xla_bridge, "_backend_factories", {})
    if platform in factories and hasattr(factories[platform], "fail_quietly"):
        factories[platform] = dataclasses.replace(factories[platform], fail_quietly=True)


def _with_the_cpu(platform: str) -> None:
    """Add JAX's CPU to a user's list of platforms that has ours alone.

    JAX puts the arguments of callbacks there.
    """
    import jax

    if getattr(jax.config, "jax_platforms", None) == platform:
        jax.config.update("jax_platforms", f"{platform},{CPU}")


def register_profiler(capsule: Any) -> None:
    """Register our profiler with `jax.profiler`. capsule: the table with the profiler extension."""
    try:
        from jaxlib import _profiler as profiler
    except ImportError:
        from jaxlib.xla_client import profiler  # an older one
    try:
        profiler.register_plugin_profiler(capsule)
    except AttributeError:
        warn(
            "traces of jax.profiler are without rows of xla_explorer: this version of jaxlib "
            "takes none",
            RuntimeWarning,
        )
