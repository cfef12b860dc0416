"""Object code of functions that are finished, while the other functions of their program are still being written.

Python writes a program and LLVM generates its code; LLVM works without the interpreter's lock, so that on two cores both go on at once.
What is handed over here needs no optimiser, only code generation (`Effort.FINAL`), which is nearly all of LLVM's time for such functions.
The cut depends on what is handed over and on nothing else, so that the same program gives the same objects each time.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import replace

from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, IrModule, OptimizationOptions, optimize_and_emit, run_pipeline
from xla_explorer.backends.llvm.module_partition import without_functions
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.parallel_llvm import compilation_threads, emit_object
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm_version, own_target_machine

PASSES = "none"  # what LLVM does before it generates code


class EarlyObjects:
    """The objects of one program. seconds: what the writer of the program waited for here."""

    def __init__(self, description: TargetDescription, options: OptimizationOptions, cache: ObjectCache | None) -> None:
        self.description, self.options, self.cache = description, options, cache
        self.seconds = 0.0
        self._functions: set[str] = set()
        self._objects: list[Future[bytes] | bytes] = []

    def add(self, ir_text: str, functions: Collection[str]) -> None:
        """Compile a module of finished functions, which others may call by name."""
        started = time.perf_counter()
        self._functions.update(functions)
        self._objects.append(self._compile(ir_text))
        self.seconds += time.perf_counter() - started

    def _compile(self, ir_text: str) -> Future[bytes] | bytes:
        key = ""
        if self.cache is not None:
            key = self.cache.key(ir_text, self.description.cache_key(), self.options.cache_key(), llvm_version(), PASSES)
            stored = self.cache.get(key)
            if stored is not None:
                return stored
        # Parsed here: a thread that comes back from each short call of LLVM would wait for the interpreter each time.
        ir = IrModule(ir_text, self.description, verify=self.options.verify)
        run_pipeline(ir.module, own_target_machine(self.description, self.options.level), self.options, PASSES)

        def emit() -> bytes:
            with ir:
                machine = own_target_machine(self.description, self.options.level)
                found = emit_object(machine, ir.module, self.options.reduces_strength(self.description))
            if self.cache is not None:
                self.cache.put(key, found)
            return found

        return compilation_threads().submit(emit)

    def with_rest(self, ir_text: str, parts: int) -> CompiledObject:
        """The program as a whole: what is not compiled yet of its text is compiled now. parts: see `optimize_and_emit`."""
        rest = without_functions(ir_text, self._functions) if self._functions else None
        compiled = optimize_and_emit(rest or ir_text, self.description, options=self.options, cache=self.cache, parts=parts)
        if rest is None:  # nothing was handed over, or the text cannot be cut
            return compiled
        early = [found if isinstance(found, bytes) else found.result() for found in self._objects]
        return replace(compiled, ir_text=ir_text, objects=(*early, *compiled.objects))
