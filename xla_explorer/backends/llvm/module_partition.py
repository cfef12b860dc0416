"""Partition of one LLVM module into several of the same program, for parallel compilation.

A function that others may call or take the address of stays one symbol: defined in its part,
declared in the others. Functions that are inlined, and constants, are copied into each part that
uses them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from xla_explorer.compiler.codegen.ir.llvm_module import (
    LlvmFunction,
    LlvmModule,
    reached_functions,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

Functions = list[LlvmFunction]


def partition_module(
    module: LlvmModule, parts: int, *, minimum_lines: int = 200
) -> list[LlvmModule]:
    """Return at most `parts` modules of about equal size; `[module]` if a partition does not pay.

    minimum_lines: least code of a part. Names stay as they are; functions with internal linkage
    that are used across parts become hidden. A module with mutable variables stays whole. The
    partition depends only on the module and the number of parts.
    """
    own = separable(module)
    parts = min(parts, len(own), _line_count(own) // max(1, minimum_lines))
    if parts < 2:
        return [module]
    bins: list[Functions] = [[] for _ in range(parts)]
    loads = [0] * parts
    sizes = {function.name: len(function.body) for function in own}
    for function in sorted(own, key=lambda function: -sizes[function.name]):
        lightest = loads.index(min(loads))
        bins[lightest].append(function)
        loads[lightest] += sizes[function.name]
    return _parts(module, bins)


def separate_functions(
    module: LlvmModule,
    optimization_level: OptimizationLevel,
    *,
    minimum_lines: int = 100,
    small_rest: int = 60,
) -> tuple[LlvmModule | None, LlvmModule | None]:
    """Return two modules: functions of other optimisation levels, and those of the given one.

    Either may be None. All functions are in one module if it has variables, or a partition does not
    pay: the latter have less than `minimum_lines`, or the former have less than `small_rest` lines
    and only calls in loops (they then count as the latter).
    """
    own = separable(module)
    wanted = [function for function in own if function.optimization_level is optimization_level]
    others = [function for function in own if function.optimization_level is not optimization_level]
    if not wanted:
        return module, None
    if _line_count(others) < small_rest and not any(_works_in_loops(f, module) for f in others):
        return None, module
    if _line_count(wanted) < minimum_lines:
        return module, None
    first, second = _parts(module, [others, wanted])
    return first, second


def without_functions(module: LlvmModule, names: Collection[str]) -> LlvmModule | None:
    """Return the module without functions that another defines; None if it must stay whole."""
    own = separable(module)
    here, there = (
        [function for function in own if (function.name in names) is away] for away in (False, True)
    )
    return _parts(module, [here, there])[0] if own else None


def separable(module: LlvmModule) -> Functions:
    """Return the functions that a part may have without the others; none of a whole module."""
    if module.is_whole:
        return []
    return [function for function in module.functions if not function.is_inlined]


def _line_count(functions: Functions) -> int:
    return sum([len(function.body) for function in functions])


def _works_in_loops(function: LlvmFunction, module: LlvmModule) -> bool:
    """Return True if a loop of the function computes itself, or calls an inlined function."""
    inlined = {other.name for other in module.functions if other.is_inlined}
    return function.has_loop and (not function.callees or not inlined.isdisjoint(function.callees))


def _parts(module: LlvmModule, bins: list[Functions]) -> list[LlvmModule]:
    """Return the module of each bin: functions, copies of inlined ones, and declarations."""
    place = {function.name: number for number, group in enumerate(bins) for function in group}
    functions = (*module.functions, *module.elsewhere)
    needed = [
        reached_functions(functions, [f.name for f in group], inlined_only=True) for group in bins
    ]
    crossing = {
        name
        for number, names in enumerate(needed)
        for name in names
        if place.get(name, number) != number
    }
    parts = []
    for number, names in enumerate(needed):
        reached = [function for function in functions if function.name in names]
        defined = [f for f in reached if f.is_inlined or place.get(f.name) == number]
        here = {function.name for function in defined}
        constants = {definition for f in defined for definition in f.globals}
        called = {declaration for f in defined for declaration in f.declarations}
        parts.append(
            replace(
                module,
                functions=tuple([_visible(f) if f.name in crossing else f for f in defined]),
                globals=tuple([g for g in module.globals if g in constants]),
                elsewhere=tuple([f for f in reached if f.name not in here]),
                declarations=tuple([d for d in module.declarations if d in called]),
            )
        )
    return parts


def _visible(function: LlvmFunction) -> LlvmFunction:
    """Return a function that other parts of the program can call."""
    return function._replace(linkage=function.linkage and "hidden")
