"""Wrong answers to the exercises of notebook 13."""

from __future__ import annotations

from tests.explorer.course.mistakes import mistake, solution, variant

compile_for, load = solution("nb13.compile", "compile_for"), solution("nb13.executable", "load")


def naive(computation, slots, result, new_slot):
    program = []

    def push(i):
        if i.opcode.name == "parameter":
            program.append(("push", slots[i.parameter_number]))
        elif i.opcode.name == "broadcast":
            program.append(("constant", i.operands[0].literal.scalar, i.shape.element_count))
        else:
            for o in i.operands:
                push(o)
            program.append((i.opcode.name,))

    push(computation.root)
    return [*program, ("store", result)]


mistake("nb13.compile", "computed-twice", 4)(naive)
mistake("nb13.compile", "machine-stopped", 2)(lambda *given: compile_for(*given)[:-1])
mistake("nb13.compile", "machine-stopped")(
    lambda c, slots, result, new_slot: compile_for(c, slots, result, lambda: 1000)
)


@mistake("nb13.compile", "wrong-value", 3)
def _(computation, slots, result, new_slot):  # parameters in reverse
    return compile_for(computation, slots[::-1], result, new_slot)


@mistake("nb13.executable", "too-many-copies")
def _(machine, program, weights):
    def run(x):
        slots = [machine.allocate() for _ in range(4)]
        for slot, value in zip(slots, [x, *weights], strict=False):
            machine.copy_in(slot, value)
        machine.run(program(slots[:3], slots[3]))
        return machine.copy_out(slots[3])

    return run


@mistake("nb13.executable", "memory-lost")
def _(machine, program, weights):
    resident = [machine.allocate() for _ in weights]
    for slot, value in zip(resident, weights, strict=True):
        machine.copy_in(slot, value)

    def run(x):
        source, result = machine.allocate(), machine.allocate()
        machine.copy_in(source, x)
        machine.run(program([source, *resident], result))
        return machine.copy_out(result)

    return run


mistake("nb13.executable", "wrong-value")(
    lambda machine, program, weights: load(machine, program, weights[::-1])
)


def peephole(change):
    return lambda c, slots, result, new_slot: change(
        compile_for(c, slots, result, new_slot), c, slots, result, new_slot
    )


mistake("nb13.compile", "machine-stopped")(
    peephole(lambda p, c, slots, result, new_slot: p[:1] + p)
)  # one push too many
mistake("nb13.compile", "machine-stopped")(
    peephole(lambda p, *_: [x if len(x) > 1 else x[0] for x in p])
)  # names, not tuples
mistake("nb13.compile", "machine-stopped")(
    peephole(lambda p, *_: [(x[0], *x[1:2]) if x[0] == "constant" else x for x in p])
)  # a constant without length
mistake("nb13.compile", "machine-stopped")(
    peephole(lambda p, *_: [("pop", *x[1:]) if x[0] == "store" else x for x in p])
)
mistake("nb13.compile", "wrong-value")(
    peephole(lambda p, *_: [("constant", abs(x[1]), x[2]) if x[0] == "constant" else x for x in p])
)
mistake("nb13.compile", "machine-stopped")(
    peephole(lambda p, *_: [("constant", x[1], 1) if x[0] == "constant" else x for x in p])
)  # one element
mistake("nb13.compile", "machine-stopped")(
    lambda c, slots, result, new_slot: compile_for(c, range(1, 9), result, new_slot)
)  # slots as they happen to be numbered
mistake("nb13.compile", "machine-stopped")(lambda c, slots, result, new_slot: [])
mistake("nb13.compile", "machine-stopped")(
    lambda c, slots, result, new_slot: str(compile_for(c, slots, result, new_slot))
)
mistake("nb13.compile", "another-form")(lambda c, slots, result, new_slot: None)
mistake("nb13.compile", "raised-AttributeError")(
    lambda c, slots, result, new_slot: compile_for(c.entry, slots, result, new_slot)
)
mistake("nb13.compile", "wrong-value")(
    lambda c, slots, result, new_slot: compile_for(c, slots, result, lambda: result)
)


@mistake("nb13.compile", "input-overwritten")
def _(c, slots, result, new_slot):  # the first argument's slot is used for what comes
    program = compile_for(c, slots, result, new_slot)
    return [*program, ("push", result), ("store", slots[0])]


@mistake("nb13.compile", "machine-stopped")
def _(c, slots, result, new_slot):  # all parameters are pushed, read or not
    return [*[("push", s) for s in slots], *compile_for(c, slots, result, new_slot)]


@mistake("nb13.compile", "module-changed")
def _(c, slots, result, new_slot):  # removes what it has translated
    program = compile_for(c, slots, result, new_slot)
    if c.root.operands:
        c.set_root(c.root.operands[0])
    return program


@variant("nb13.compile")
def _(
    c, slots, result, new_slot
):  # unread values are left out, and a list of tuples is a generator's
    yield from compile_for(c, slots, result, new_slot)


def resident(machine, weights):
    slots = []
    for weight in weights:
        slots.append(machine.allocate())
        machine.copy_in(slots[-1], weight)
    return slots


@mistake("nb13.executable", "too-many-copies")
def _(machine, program, weights):  # looks at the result twice
    run = load(machine, program, weights)
    return lambda x: (run(x), machine.copy_out(len(weights) + 1))[0]


@mistake("nb13.executable", "wrong-value")
def _(machine, program, weights):  # the result of the first run
    run, known = load(machine, program, weights), []

    def once(x):
        known[:] = known or [run(x)]
        return known[0]

    return once


@mistake("nb13.executable", "wrong-value")
def _(machine, program, weights):  # computed on the host
    load(machine, program, weights)
    return lambda x: x * weights[0]


mistake("nb13.executable", "no-function")(
    lambda machine, program, weights: load(machine, program, weights)(weights[0])
)
mistake("nb13.executable", "wrong-value")(
    lambda machine, program, weights: lambda x: list(load(machine, program, weights)(x))
)
mistake("nb13.executable", "too-many-copies")(
    lambda machine, program, weights: lambda x: load(machine, program, weights)(x)
)
mistake("nb13.executable", "raised-StackMachineError")(
    lambda machine, program, weights: lambda x: (machine.run(program([0, 1, 2], 3)), x)[1]
)  # nothing allocated


SHARED = {}


@mistake("nb13.executable", "not-alone")
def _(machine, program, weights):  # one dictionary for all that are loaded
    slots = SHARED
    slots["weights"] = resident(machine, weights)
    source, result = machine.allocate(), machine.allocate()

    def run(x):
        machine.copy_in(source, x)
        machine.run(program([source, *slots["weights"]], result))
        return machine.copy_out(result)

    return run


@mistake("nb13.executable", "raised-StackMachineError")
def _(machine, program, weights):  # gives the weights back, too
    slots = resident(machine, weights)

    def run(x):
        source, result = machine.allocate(), machine.allocate()
        machine.copy_in(source, x)
        machine.run(program([source, *slots], result))
        value = machine.copy_out(result)
        for slot in (source, result, *slots):
            machine.deallocate(slot)
        return value

    return run


@variant("nb13.executable")
def _(machine, program, weights):  # allocated and given back in each run
    slots = resident(machine, weights)

    def run(x):
        source, result = machine.allocate(), machine.allocate()
        try:
            machine.copy_in(source, x)
            machine.run(program([source, *slots], result))
            return machine.copy_out(result)
        finally:
            machine.deallocate(source)
            machine.deallocate(result)

    return run
