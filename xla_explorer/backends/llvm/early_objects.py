"""Object code of finished functions while other functions of the program are still written.

Python writes a program and LLVM generates its code without the interpreter's lock, so two cores do
both at once. Early functions need no optimiser, only code generation (`OptimizationLevel.FINAL`),
which is nearly all of LLVM's time for them. The partition depends on the early functions alone, so
the same program gives the same objects each time.

An early function is compiled under a symbol made from its text without its name. Programs whose
functions have equal texts share its code: in the cache, and loaded in the process.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.backends.llvm.code_maker import Made, submit
from xla_explorer.backends.llvm.crashed_code import finished
from xla_explorer.backends.llvm.llvm_compiler import (
    CompiledObject,
    OptimizationOptions,
    SharedObject,
    optimize_and_emit,
)
from xla_explorer.backends.llvm.llvm_module import Job
from xla_explorer.backends.llvm.module_partition import without_functions
from xla_explorer.backends.llvm.object_cache import ObjectCache
from xla_explorer.backends.llvm.target_machine import TargetDescription, llvm_version
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import module_text

PASSES = "none"  # what LLVM does before it generates code
_ALONE = "f"  # name of a function in the text that its symbol is made from


class _Compiled(NamedTuple):
    """A module of functions. symbols: its symbol of each function, by the function's name."""

    key: str
    symbols: dict[str, str]
    job: Job
    future: Future[Made]


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
        self._hits = 0
        self._stored: dict[str, SharedObject] = {}  # of other programs, by the object's key
        self._compiled: list[_Compiled] = []

    def add(self, module: LlvmModule) -> None:
        """Compile a module of finished functions, which others may call by name.

        A function that the cache has is not compiled.
        """
        started = time.perf_counter()
        self._functions.update([function.name for function in module.functions])
        missing: dict[str, LlvmFunction] = {}
        symbols: dict[str, str] = {}
        for function in module.functions:
            symbol = self._symbol(function)
            if not self._take_stored(function.name, symbol):
                symbols[function.name] = symbol
                missing[symbol] = function
        if missing:
            self._compile(module, missing, symbols)
        self.seconds += time.perf_counter() - started

    def _symbol(self, function: LlvmFunction) -> str:
        """Return the symbol of a function: equal for equal code for the same target."""
        alone = function._replace(name=_ALONE, linkage="")
        text = module_text(
            LlvmModule((alone,), globals=function.globals, declarations=function.declarations)
        )
        return f"kernel_{self._key(text)}"

    def _key(self, text: str) -> str:
        return ObjectCache.key(
            text, self.description.cache_key(), self.options.cache_key(), llvm_version(), PASSES
        )

    def _take_stored(self, name: str, symbol: str) -> bool:
        """Take a function's code from the cache, if it is there."""
        key = None if self.cache is None else self.cache.get(symbol.removeprefix("kernel_"))
        if self.cache is None or key is None:
            return False
        found = self._stored.get(key.decode())
        if found is None:
            data = self.cache.get(key.decode())
            if data is None:  # deleted since
                return False
            found = self._stored[key.decode()] = SharedObject(key.decode(), (data,), {})
        found.symbols[name] = symbol
        self._hits += 1
        return True

    def _compile(
        self, module: LlvmModule, missing: dict[str, LlvmFunction], symbols: dict[str, str]
    ) -> None:
        """Submit functions, by their symbols, to LLVM as one module."""
        renamed = [f._replace(name=symbol, linkage="") for symbol, f in missing.items()]
        part = replace(
            module,
            functions=tuple(renamed),
            globals=tuple(dict.fromkeys([g for f in renamed for g in f.globals])),
            declarations=tuple(dict.fromkeys([d for f in renamed for d in f.declarations])),
        )
        job = Job("object", part, PASSES, self.description, self.options)
        key = ObjectCache.key("object", self._key(job.ir_text))
        self._compiled.append(_Compiled(key, symbols, job, submit(job)))

    def _finished(self, unit: _Compiled) -> tuple[SharedObject, tuple[str, ...]]:
        """Return the object of a module, and the remarks about it."""
        result = finished(unit.job, unit.future)
        if self.cache is not None and not result.remarks:
            self.cache.put(unit.key, *result.data)
            for symbol in unit.symbols.values():
                self.cache.put(symbol.removeprefix("kernel_"), unit.key.encode())
        names = {symbol: name for name, symbol in unit.symbols.items()}
        return (
            SharedObject(unit.key, result.data, unit.symbols),
            tuple([_renamed(remark, names) for remark in result.remarks]),
        )

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
        made = [self._finished(unit) for unit in self._compiled]
        return replace(
            compiled,
            ir=module,
            shared=(*self._stored.values(), *[shared for shared, _ in made]),
            shared_hits=self._hits,
            remarks=(*[r for _, remarks in made for r in remarks], *compiled.remarks),
        )


def _renamed(remark: str, names: dict[str, str]) -> str:
    """Return a remark with the functions' own names."""
    for symbol, name in names.items():
        remark = remark.replace(symbol, name)
    return remark
