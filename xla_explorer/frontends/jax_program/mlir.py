"""StableHLO (text, bytecode, portable artifacts) to HLO through jaxlib."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.hlo.module import HloModule

_DONATIONS: Final = ("tf.aliasing_output", "jax.buffer_donor")


class MlirConversionError(XlaExplorerError, ValueError):
    """jaxlib refuses the program; its own words are the message."""


def module_of_jaxlib(module: Any, filename: str | None = None) -> HloModule:
    """Return jaxlib's HloModule as one of ours, with metadata, stack frames and all constants.

    It travels as a proto: HLO text spells each element of a constant in decimal.
    """
    return read_hlo_proto(module.as_serialized_hlo_module_proto(), filename).module


def refined_shapes(module: Any) -> bytes | None:
    """Return a StableHLO module with all dynamic shapes of its functions refined, as bytecode.

    The entry has static shapes, and calls functions of symbolic shapes (an export). JAX refines
    them when it compiles. None for a module without such functions.
    """
    if all(
        "?" not in str(function.type)
        for function in module.body.operations
        if hasattr(function, "type")
    ):
        return None
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    mlir = import_optional("jaxlib._jax", "jax").mlir
    return bytes(
        mlir.refine_polymorphic_shapes(
            stream.getvalue(), enable_shape_assertions=True, validate_static_shapes=True
        )
    )


def computation_of(program: str | bytes) -> Any:
    """Return jaxlib's XlaComputation of MLIR text or bytecode."""
    mlir = import_optional("jaxlib._jax", "jax").mlir
    return mlir.mlir_module_to_xla_computation(program, use_tuple_args=False, return_tuple=False)


def _brought_up_to_date(program: bytes) -> bytes:
    """Return a portable artifact (VHLO) as bytecode of this jaxlib's StableHLO."""
    from jax._src.interpreters import mlir as jax_mlir

    mlir = import_optional("jaxlib._jax", "jax").mlir
    with jax_mlir.make_ir_context():
        found = mlir.deserialize_portable_artifact(program)
        if isinstance(found, bytes | str):
            return found if isinstance(found, bytes) else found.encode()
        stream = io.BytesIO()
        found.operation.write_bytecode(stream)
        return stream.getvalue()


def without_donation(program: bytes) -> bytes:
    """Return StableHLO (text or bytecode) as bytecode of a program that keeps its arguments."""
    from jax._src.interpreters import mlir as jax_mlir

    ir = import_optional("jaxlib.mlir.ir", "jax")
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(program)
        for function in module.body.operations:
            if "arg_attrs" in function.attributes:
                kept = [
                    ir.DictAttr.get(
                        {one.name: one.attr for one in given if one.name not in _DONATIONS}
                    )
                    for given in function.attributes["arg_attrs"]
                ]
                function.attributes["arg_attrs"] = ir.ArrayAttr.get(kept)
        stream = io.BytesIO()
        module.operation.write_bytecode(stream)
        return stream.getvalue()


def triton_text_here(bytecode: bytes) -> str:
    """Return the text of a kernel's bytecode in Triton's dialect, read in this process.

    `foreign_mlir.triton_text` reads bytecode of other programs.

    Raises
    ------
    MissingExtraError
        jaxlib is not installed, or has no such dialect.
    MlirConversionError
        jaxlib cannot read the bytecode.
    """
    ir, dialect = [
        import_optional(name, "jax") for name in ("jaxlib.mlir.ir", "jaxlib.triton.dialect")
    ]
    with ir.Context() as context:
        dialect.register_dialect(context)
        context.load_all_available_dialects()
        context.allow_unregistered_dialects = True
        try:
            return str(ir.Module.parse(bytecode))
        except Exception as problem:  # jaxlib raises several kinds
            raise MlirConversionError("which this jaxlib cannot read") from problem


def stablehlo_text_here(program: bytes) -> str:
    """Return the text of StableHLO bytecode or of a portable artifact, read in this process.

    `foreign_mlir.stablehlo_text` reads bytecode of other programs.

    Raises
    ------
    MissingExtraError
        jaxlib is not installed.
    MlirConversionError
        jaxlib cannot read the bytecode.
    """
    ir, jax_mlir = [
        import_optional(name, "jax") for name in ("jaxlib.mlir.ir", "jax._src.interpreters.mlir")
    ]
    with suppress(Exception):  # bytecode that is not a portable artifact
        program = _brought_up_to_date(program)
    with jax_mlir.make_ir_context():
        try:
            return str(ir.Module.parse(program).operation.get_asm(enable_debug_info=True))
        except Exception as problem:  # jaxlib raises several kinds
            said = " ".join(str(problem).split())
            raise MlirConversionError(f"jaxlib cannot read the bytecode: {said}") from problem


def module_from_mlir(program: str | bytes, filename: str | None = None) -> HloModule:
    """Return an HLO module from StableHLO or MHLO of this process.

    The program is MLIR text, bytecode, or a portable artifact.
    `foreign_mlir.module_of_foreign_mlir` reads programs of others.

    Raises
    ------
    MissingExtraError
        jaxlib is not installed.
    MlirConversionError
        jaxlib cannot read or convert the program.
    """
    module = read_hlo_proto(
        serialized_hlo(program, filename), Path(filename).name if filename else None
    ).module
    complete_source_places(module)
    return module


def serialized_hlo(program: str | bytes, filename: str | None = None) -> bytes:
    """Return the HLO proto of StableHLO or MHLO, as `module_from_mlir` reads it."""
    import_optional("jax", "jax")  # registers the dialects
    if isinstance(program, bytes) and program[:4] != b"ML\xefR":
        program = program.decode()
    try:
        try:
            computation = computation_of(program)
        except Exception as first:
            if not isinstance(program, bytes):
                raise
            try:
                computation = computation_of(_brought_up_to_date(program))
            except Exception:
                raise first from None  # the problem of the program, not of the second attempt
        return bytes(computation.get_hlo_module().as_serialized_hlo_module_proto())
    except Exception as problem:  # jaxlib raises several kinds
        said = " ".join(str(problem).split("\n\nDiagnostics", 1)[0].split())
        hint = (
            "give the open sizes: xe.load(path, shapes=[...]) with a shape for each argument"
            if "dynamic" in said
            else (
                "xla_explorer reads what jaxlib's StableHLO reads; check that the file is "
                "complete, its dialect and its version"
            )
        )
        raise MlirConversionError(
            f"{filename or 'the MLIR program'} cannot be converted to HLO: {said}", hint
        ) from problem
