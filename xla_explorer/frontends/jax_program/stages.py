"""Objects of JAX that hold a program: results of its stages, of its exporter and of jaxlib.

Source: jax.stages (Traced, Lowered, Compiled), jax.export (Exported), jax.extend.core
(ClosedJaxpr), jaxlib's `ir.Module` and `XlaComputation`.
"""

from __future__ import annotations

import io
import types
from collections.abc import Callable
from typing import Any

from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program.foreign_mlir import module_of_foreign_mlir
from xla_explorer.frontends.jax_program.lowered_program import JaxProgram, program_of_lowered
from xla_explorer.frontends.jax_program.mlir import module_from_mlir, module_of_jaxlib
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.hlo.module import HloModule

_PACKAGES = ("jax", "jaxlib")
_WRAPPED_AS = ("lowered", "compiled", "traced")


def is_stage(given: Any) -> bool:
    """Return True if an object is one of JAX's that hold a program, or of a library that wraps one.

    JAX itself is not imported.
    """
    return _is_jaxs(jaxs_stage(given))


def jaxs_stage(given: Any) -> Any:
    """Return JAX's object inside a library's object (equinox), or the object itself.

    The attribute is `lowered`, `compiled` or `traced`.
    """
    if _is_jaxs(given):
        return given
    own = getattr(given, "__dict__", {})
    slots = {name: getattr(given, name, None) for name in _WRAPPED_AS if _is_slot(given, name)}
    held = {**own, **slots}
    return next((held[name] for name in _WRAPPED_AS if _is_jaxs(held.get(name))), given)


def _is_slot(given: Any, name: str) -> bool:
    """Return True if a name is a field, whose reading runs no code of the object."""
    return isinstance(getattr(type(given), name, None), types.MemberDescriptorType)


def _is_jaxs(given: Any) -> bool:
    kind = type(given)
    return kind.__name__ in _READERS and kind.__module__.partition(".")[0] in _PACKAGES


def stage_module(given: Any) -> HloModule:
    """Return the module of an object for which `is_stage` holds.

    Of `Compiled` it is XLA's optimised module, else the program as lowered.
    """
    found = _read(given)
    return found.module if isinstance(found, JaxProgram) else found


def stage_program(given: Any) -> JaxProgram | None:
    """Return the lowered function of a `Traced`, `Lowered` or `ClosedJaxpr`, else None.

    Its arguments are pytrees.
    """
    found = _read(given)
    return found if isinstance(found, JaxProgram) else None


def _read(given: Any) -> JaxProgram | HloModule:
    stage = jaxs_stage(given)
    return _READERS[type(stage).__name__](stage)


def _of_jaxpr(closed: Any) -> JaxProgram:
    jax, core = import_optional("jax", "jax"), import_optional("jax.extend.core", "jax")
    if not hasattr(closed, "in_avals"):  # an open jaxpr, of a JAX that distinguishes the two
        closed = core.ClosedJaxpr(closed, ())
    specifications = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in closed.in_avals]
    function = jax.jit(core.jaxpr_as_fun(closed), keep_unused=True)
    program = program_of_lowered(function.trace(*specifications).lower())
    program.module.out_tree = None  # a jaxpr has a flat list of results
    return program


def _of_jaxlibs_module(given: Any) -> HloModule:
    module = module_of_jaxlib(given)
    complete_source_places(module)
    return module


def bytecode_of(module: Any) -> bytes:
    """Return the bytecode of one of jaxlib's MLIR modules."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return stream.getvalue()


def _of_compiled(compiled: Any) -> HloModule:
    (module,) = compiled.runtime_executable().hlo_modules()
    found = _of_jaxlibs_module(module)
    found.out_tree = compiled.out_tree
    return found


def _of_exported(exported: Any) -> HloModule:
    """Read the bytes of an exported program in a child process.

    The program may be another's: JAX deserializes it without reading it.
    """
    program = bytes(exported.mlir_module_serialized)
    module = module_of_foreign_mlir(program, f"the exported {exported.fun_name}")
    module.filename, module.out_tree = None, exported.out_tree
    return module


_READERS: dict[str, Callable[[Any], JaxProgram | HloModule]] = {
    "Traced": lambda traced: program_of_lowered(traced.lower()),
    "Lowered": lambda lowered: program_of_lowered(lowered),
    "Compiled": _of_compiled,
    "Exported": _of_exported,
    "ClosedJaxpr": _of_jaxpr,
    "Jaxpr": _of_jaxpr,  # since jax 0.12 the name of both
    "Module": lambda module: module_from_mlir(bytecode_of(module)),
    "XlaComputation": lambda computation: _of_jaxlibs_module(computation.get_hlo_module()),
}
