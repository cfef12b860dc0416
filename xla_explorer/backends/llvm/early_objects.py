"""Object code of finished functions while other functions of the program are still written.

Python writes a program and LLVM generates its code without the interpreter's lock, so two cores do
both at once. Early functions need no optimiser, only code generation (`OptimizationLevel.FINAL`),
which is nearly all of LLVM's time for them. The partition depends on the early functions alone, so
the same program gives the same objects each time.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace

from xla_explorer.backends.llvm.code_maker import Made, submit
from xla_explorer.backends.llvm.crashed_code import finished
from xla_explorer.backends.llvm.llvm_compiler import (
    CompiledObject,
    OptimizationOptions,
    optimize_and_emit,
)
from xla_explorer.backends.llvm.llvm_module import Job
from xla_explorer.backends.llvm.module_partition import without_functions
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm_version
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule

PASSES = "none"  # what LLVM does before it generates code


class EarlyObjects:
    """The early objects of one program. seconds: time that its writer waited."""

    def __init__(
        self,
        description: TargetDescription,
        options: OptimizationOptions,
        cache: ObjectCache | None,
    ) -> None:
        self.description, self.options, self.cache = description, options, cache
        self.seconds = 0.0
        self._functions: set[str] = set()
        self._objects: list[
            tuple[str, Job, Future[Made] | bytes]
        ] = []  # with the key of each in the cache

    def add(self, module: LlvmModule) -> None:
        """Compile a module of finished functions, which others may call by name."""
        started = time.perf_counter()
        self._functions.update([function.name for function in module.functions])
        job = Job("object", module, PASSES, self.description, self.options)
        key, stored = "", None
        if self.cache is not None:
            key = ObjectCache.key(
                job.ir_text,
                self.description.cache_key(),
                self.options.cache_key(),
                llvm_version(),
                PASSES,
            )
            stored = self.cache.get(key)
        self._objects.append((key, job, submit(job) if stored is None else stored))
        self.seconds += time.perf_counter() - started

    def _finished(
        self, key: str, job: Job, found: Future[Made] | bytes
    ) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
        """Return the objects of a module, and the remarks about them."""
        if isinstance(found, bytes):
            return (found,), ()
        result = finished(job, found)
        if self.cache is not None and not result.remarks:
            self.cache.put(key, *result.data)
        return result.data, result.remarks

    def with_rest(self, module: LlvmModule, parts: int) -> CompiledObject:
        """Compile the functions of a module that have no object yet, and return the whole program.

        parts: see `optimize_and_emit`.
        """
        rest = without_functions(module, self._functions) if self._functions else None
        compiled = optimize_and_emit(
            rest or module, self.description, options=self.options, cache=self.cache, parts=parts
        )
        if rest is None:  # no object was made early, or the module must stay whole
            return compiled
        early = [self._finished(*row) for row in self._objects]
        objects = [data for made, _ in early for data in made]
        remarks = [remark for _, emitted in early for remark in emitted]
        return replace(
            compiled,
            ir=module,
            objects=(*objects, *compiled.objects),
            remarks=(*remarks, *compiled.remarks),
        )
