"""Wrong answers to the exercises of notebook 22."""

from __future__ import annotations

import numpy as np

from tests.explorer.course.mistakes import mistake, solution, variant

product, fast = solution("nb22.product", "product"), solution("nb22.fast", "product_in_groups")
compile_for = solution("nb22.compile", "compile_for")
load = solution("nb22.backend", "load", compile_for=compile_for)


def without(program, name):
    return [i for i in program if i[0] != name]


mistake("nb22.product", "machine-stopped")(lambda *given: without(product(*given), "fill"))
mistake("nb22.product", "wrong-value")(lambda *given: without(product(*given), "store"))
mistake("nb22.product", "wrong-value")(
    lambda a, b, c, rows, depth, columns: product(a, b, c, rows, 1, columns)
)
mistake("nb22.product", "machine-stopped")(
    lambda a, b, c, rows, depth, columns: product(a, b, c, columns, depth, rows)
)
mistake("nb22.product", "wrong-value")(
    lambda a, b, c, rows, depth, columns: product(b, a, c, rows, depth, columns)
)
mistake("nb22.product", "machine-stopped")(
    lambda a, b, c, rows, depth, columns: product(a, b, c, 8 * rows, 8 * depth, 8 * columns)
)
mistake("nb22.product", "wrong-value")(
    lambda *given: [p for n, p in enumerate(product(*given)) if p[0] != "fill" or n == 0]
)
mistake("nb22.product", "machine-stopped")(lambda *given: [("fill", 16, 0.0), *product(*given)])
mistake("nb22.product", "machine-stopped")(
    lambda *given: [("load", 0, given[0], 0), *product(*given)]
)
variant("nb22.product")(fast)

mistake("nb22.fast", "too-slow-product")(product)
mistake("nb22.fast", "too-slow-product")(lambda *given: fast(*given, side=2))
mistake("nb22.fast", "machine-stopped")(
    lambda a, b, c, rows, depth, columns: fast(
        a, b, c, -(-rows // 3) * 3, depth, -(-columns // 3) * 3
    )
)
mistake("nb22.fast", "wrong-value")(
    lambda a, b, c, rows, depth, columns: fast(
        a, b, c, max(rows // 3 * 3, 1), depth, max(columns // 3 * 3, 1)
    )
)
mistake("nb22.fast", "raised-IndexError")(lambda *given: fast(*given, side=4))


def replaced(program, old, new):
    return [(new, *i[1:]) if i[0] == old else i for i in program]


mistake("nb22.compile", "wrong-value")(
    lambda *given: replaced(compile_for(*given), "maximum-rows", "add-rows")
)
mistake("nb22.compile", "wrong-value")(lambda *given: without(compile_for(*given), "transpose"))
mistake("nb22.compile", "wrong-value")(
    lambda c, arrays, result, new_array: compile_for(c, arrays[::-1], result, new_array)
)
mistake("nb22.compile", "wrong-value")(lambda *given: without(compile_for(*given), "maximum-rows"))
mistake("nb22.compile", "wrong-value")(lambda *given: compile_for(*given)[:-1])
mistake("nb22.compile", "machine-stopped")(
    lambda c, arrays, result, new_array: compile_for(c, arrays, result, lambda rows, columns: 99)
)
mistake("nb22.compile", "computed-twice")(
    lambda *given: [*compile_for(*given), *compile_for(*given)]
)


@mistake("nb22.compile", "input-overwritten")  # results in the arrays of parameters
def _(computation, arrays, result, new_array):
    program = compile_for(computation, arrays, result, new_array)
    return [*program, ("fill", 0, 0.0), ("store", arrays[0], 0, 0, 0)]


mistake("nb22.backend", "wrong-value")(
    lambda module, machine: lambda arguments: np.zeros(module.result_shape().dimensions, np.float32)
)


@mistake("nb22.backend", "memory-lost")
def _(module, machine):
    load(module, machine)  # other sizes are refused
    return lambda arguments: load(module, machine)(arguments)


@mistake("nb22.backend", "not-on-the-machine")
def _(module, machine):
    from xla_explorer.hlo.evaluator import evaluate

    load(module, machine)
    return lambda arguments: evaluate(module, *arguments)


@mistake("nb22.backend", "wrong-value")  # one set of arrays for all programs
def _(module, machine):
    if not hasattr(machine, "mine"):
        machine.mine = [machine.allocate(32, 32) for _ in range(4)]
    run = load(module, machine)
    machine.last = run
    return lambda arguments: (
        machine.last(arguments) if len(arguments) == 3 else run([a + 1 for a in arguments])
    )


@mistake("nb22.backend", "wrong-value")  # arguments are copied once
def _(module, machine):
    run, kept = load(module, machine), []

    def again(arguments):
        kept[:] = kept or [arguments]
        return run(kept[0])

    return again


@mistake("nb22.backend", "accepted-too-much")  # what does not fit is left to the run
def _(module, machine):
    if any(d % 8 for p in module.entry.parameters() for d in p.shape.dimensions):
        return lambda arguments: load(module, machine)(arguments)
    return load(module, machine)


@variant("nb22.backend")  # memory is given back after each run
def _(module, machine):
    load(module, machine)

    def run(arguments):
        before = set(machine.memory)
        result = load(module, machine)(arguments)
        for array in set(machine.memory) - before:
            machine.deallocate(array)
        return result

    return run


def given_to(change):
    """Return an answer to nb22.backend with changed arguments or results of runs."""

    def answer(module, machine):
        run = load(module, machine)
        return lambda arguments: change(run, arguments)

    return answer


mistake("nb22.backend", "wrong-value")(
    given_to(
        lambda run, arguments: (
            run(arguments[::-1]) if arguments[0].shape == arguments[-1].shape else run(arguments)
        )
    )
)
mistake("nb22.backend", "no-result")(given_to(lambda run, arguments: run(arguments).T))
mistake("nb22.backend", "wrong-value")(
    given_to(lambda run, arguments: run(arguments).astype(np.float16))
)
mistake("nb22.backend", "no-result")(
    given_to(lambda run, arguments: run(arguments)[:8])
)  # one row of tiles
mistake("nb22.backend", "not-on-the-machine")(
    given_to(lambda run, arguments: (run(arguments), run(arguments))[1])
)  # two copies
mistake("nb22.backend", "wrong-value")(
    given_to(lambda run, arguments: np.zeros_like(run(arguments)))
)
mistake("nb22.backend", "no-result")(given_to(lambda run, arguments: None))
mistake("nb22.backend", "no-result")(given_to(lambda run, arguments: [run(arguments)]))
mistake("nb22.backend", "another-form")(lambda module, machine: None)
mistake("nb22.backend", "another-form")(
    lambda module, machine: load(module, machine)(
        [np.zeros(p.shape.dimensions) for p in module.entry.parameters()]
    )
)


@mistake("nb22.backend", "memory-lost")  # each run allocates
def _(module, machine):
    load(module, machine)
    return lambda arguments: (machine.allocate(8, 8), load(module, machine)(arguments))[1]


@mistake("nb22.backend", "accepted-too-much")  # sizes are rounded up
def _(module, machine):
    if any(d % 8 for p in module.entry.parameters() for d in p.shape.dimensions):
        return lambda arguments: arguments[0]
    return load(module, machine)


@mistake("nb22.backend", "wrong-value")  # the result is read before the run
def _(module, machine):
    arrays = [machine.allocate(*p.shape.dimensions) for p in module.entry.parameters()]
    result = machine.allocate(*module.entry.root.shape.dimensions)
    program = compile_for(module.entry, arrays, result, machine.allocate)

    def run(arguments):
        for array, value in zip(arrays, arguments, strict=True):
            machine.copy_in(array, value)
        found = machine.copy_out(result)
        machine.run(program)
        return found

    return run


@mistake("nb22.backend", "wrong-value")  # the first argument only
def _(module, machine):
    arrays = [machine.allocate(*p.shape.dimensions) for p in module.entry.parameters()]
    result = machine.allocate(*module.entry.root.shape.dimensions)
    program = compile_for(module.entry, arrays, result, machine.allocate)

    def run(arguments):
        machine.copy_in(arrays[0], arguments[0])
        machine.run(program)
        return machine.copy_out(result)

    return run


def edited_product(change, whole=product):
    return lambda *given: [new for old in whole(*given) for new in change(old)]


mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [("fill", 0, 1.0)] if i[0] == "fill" else [i])
)
mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [("dot", 0, 2, 1)] if i[0] == "dot" else [i])
)  # b times a
mistake("nb22.product", "machine-stopped")(
    edited_product(lambda i: [("dot", 3, 1, 2)] if i[0] == "dot" else [i])
)
mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [i, i] if i[0] == "dot" else [i])
)  # twice
mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [("store", i[1], i[2], i[3], 1)] if i[0] == "store" else [i])
)
mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [("add", 0, 0, 1)] if i[0] == "dot" else [i])
)
mistake("nb22.product", "wrong-value")(
    edited_product(lambda i: [("store", i[1], 0, 0, 0)] if i[0] == "store" else [i])
)
mistake("nb22.product", "machine-stopped")(
    edited_product(lambda i: [("load", i[1], i[2], i[4], i[3])] if i[0] == "load" else [i])
)  # k, i
mistake("nb22.product", "machine-stopped")(
    edited_product(lambda i: [("matmul", *i[1:])] if i[0] == "dot" else [i])
)
mistake("nb22.product", "machine-stopped")(
    edited_product(lambda i: [("store", i[1] + 9, *i[2:])] if i[0] == "store" else [i])
)
mistake("nb22.product", "another-form")(
    lambda a, b, c, rows, depth: product(a, b, c, rows, depth, 1)
)
mistake("nb22.product", "another-form")(lambda *given: None)

mistake("nb22.fast", "too-slow-product")(lambda *given: fast(*given, side=1))
mistake("nb22.fast", "too-slow-product")(
    edited_product(lambda i: [i, i] if i[0] == "load" else [i], fast)
)
mistake("nb22.fast", "wrong-value")(
    edited_product(lambda i: [i, i] if i[0] == "dot" else [i], fast)
)
mistake("nb22.fast", "machine-stopped")(
    edited_product(lambda i: [] if i[0] == "fill" else [i], fast)
)
mistake("nb22.fast", "wrong-value")(edited_product(lambda i: [] if i[0] == "store" else [i], fast))
mistake("nb22.fast", "wrong-value")(
    edited_product(lambda i: [("fill", i[1], 2.0)] if i[0] == "fill" else [i], fast)
)
mistake("nb22.fast", "wrong-value")(
    edited_product(lambda i: [("dot", i[1], i[3], i[2])] if i[0] == "dot" else [i], fast)
)
mistake("nb22.fast", "machine-stopped")(
    edited_product(lambda i: [("load", i[1], i[2], i[4], i[3])] if i[0] == "load" else [i], fast)
)
mistake("nb22.fast", "machine-stopped")(
    edited_product(lambda i: [("fill", i[1] + 12, 0.0)] if i[0] == "fill" else [i], fast)
)
mistake("nb22.fast", "wrong-value")(
    lambda a, b, c, *sizes: (
        fast(b, a, c, *sizes)
        if sizes[0] == sizes[1] == sizes[2]
        else fast(a, b, c, sizes[0], 1, sizes[2])
    )
)
mistake("nb22.fast", "another-form")(lambda *given: None)
mistake("nb22.fast", "wrong-value")(lambda *given: [])
mistake("nb22.fast", "wrong-value")(lambda *given: fast(*given)[:-1])
mistake("nb22.fast", "too-slow-product")(lambda *given: sorted(product(*given), key=lambda i: 0))
mistake("nb22.fast", "wrong-value")(
    lambda *given: sorted(fast(*given), key=lambda i: i[0] == "store")
)  # all stores at the end

mistake("nb22.compile", "wrong-value")(
    lambda *given: replaced(compile_for(*given), "subtract", "add")
)
mistake("nb22.compile", "wrong-value")(
    lambda *given: replaced(compile_for(*given), "exponential", "tanh")
)
mistake("nb22.compile", "wrong-value")(
    lambda *given: replaced(compile_for(*given), "divide", "multiply")
)
mistake("nb22.compile", "wrong-value")(
    lambda *given: replaced(compile_for(*given), "negate", "exponential")
)
mistake("nb22.compile", "wrong-value")(lambda *given: without(compile_for(*given), "add-rows"))
mistake("nb22.compile", "machine-stopped")(lambda *given: without(compile_for(*given), "fill"))
mistake("nb22.compile", "wrong-value")(lambda *given: without(compile_for(*given), "store"))
mistake("nb22.compile", "wrong-value")(lambda *given: without(compile_for(*given), "dot"))
mistake("nb22.compile", "wrong-value")(lambda *given: [])
mistake("nb22.compile", "another-form")(lambda *given: None)
mistake("nb22.compile", "machine-stopped")(
    lambda c, arrays, result, new_array: compile_for(c, arrays, result + 99, new_array)
)
mistake("nb22.compile", "machine-stopped")(
    lambda c, arrays, result, new_array: compile_for(
        c, arrays, result, lambda rows, columns: new_array(8, 8)
    )
)
mistake("nb22.compile", "another-form")(
    lambda c, arrays, result: compile_for(c, arrays, result, None)
)
