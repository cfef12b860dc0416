"""Capture of the programs that JAX compiles while some code runs, as HLO modules."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.jax_program.mlir import module_from_mlir
from xla_explorer.hlo.module import HloModule


@contextmanager
def captured_programs() -> Iterator[list[HloModule]]:
    """Yield a list that receives one module per program that JAX compiles in the block, in order.

    The list is filled when the block ends. Functions that JAX had compiled before are missing,
    because they are not compiled again. Source: JAX's option `jax_dump_ir_to`.
    """
    jax = import_optional("jax", "jax")
    found: list[HloModule] = []
    before = jax.config.values.get("jax_dump_ir_to", "")
    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_dump_ir_to", folder)
        try:
            yield found
        finally:
            jax.config.update("jax_dump_ir_to", before)
            for path in sorted(Path(folder).glob("*_compile.mlir")):
                module = module_from_mlir(path.read_text())
                named = re.fullmatch(r"jax_ir\d+_(?:jit_)?(.*)_compile", path.stem)
                module.name = named.group(1) if named else module.name
                found.append(module)
