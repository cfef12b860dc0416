"""Wrong answers of the kinds that students give: each is caught, with a small program, and not with an accident of the checker."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

import tests.explorer.course.mistakes_nb07
import tests.explorer.course.mistakes_nb11
import tests.explorer.course.mistakes_nb14
import tests.explorer.course.mistakes_nb15
import tests.explorer.course.mistakes_nb16
import tests.explorer.course.mistakes_nb17
import tests.explorer.course.mistakes_nb18
import tests.explorer.course.mistakes_nb19  # noqa: F401  # which add their own
import xla_explorer as xe
from tests.explorer.course.mistakes import MISTAKES, mistake
from tests.notebooks.course_notebooks import solution_cells
from xla_explorer.course.fusion_plan import default_plan, is_given, required
from xla_explorer.course.nb05_algebra import CANDIDATES
from xla_explorer.course.nb06_fusion_legality import KERNELS_OF_THEIR_OWN

if not solution_cells():
    pytest.skip("the reference solutions are not in this copy: the checks are NOT tried with mistakes made from them", allow_module_level=True)

def solution(exercise: str, name: str, **scope: Any) -> Any:
    """What a cell of the reference solutions defines under a name."""
    exec(solution_cells()[exercise], scope)
    return scope[name]


def solution_text(name: str) -> str:
    """The PTX of a reference solution."""
    return str(solution(name, name.replace("nb10.", "") + "_sum"))


other_path = solution("nb06.path", "other_path")
may_merge = solution(
    "nb06.legality",
    "may_merge",
    xe=xe,
    other_path=other_path,
    NO_LOOP=("parameter", "constant", "tuple", "get-tuple-element", "after-all"),
    OWN_KERNEL=KERNELS_OF_THEIR_OWN,
)
live_ranges = solution("nb08.liveness", "live_ranges")


RIGHT_QUIZ = solution("nb01.quiz", "answers")
mistake("nb01.quiz", "no-number")({k: v for k, v in RIGHT_QUIZ.items() if k != "rank of f32[]"})
mistake("nb01.quiz", "no-number")({**RIGHT_QUIZ, "rank of f32[]": "0"})
mistake("nb01.quiz", "no-number")({**RIGHT_QUIZ, "rank of f32[]": None})
mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "bytes of bf16[10,3]": 120})
mistake("nb01.quiz", "wrong-number")({**RIGHT_QUIZ, "fastest dimension of f32[2,3,5]{0,2,1}": 1})


@mistake("nb01.strides", "wrong-strides", 1)
def _(dimensions, order, size):  # ignores the layout
    out, step = [], size
    for d in reversed(dimensions):
        out.insert(0, step)
        step *= d
    return tuple(out)


@mistake("nb01.strides", "wrong-strides", 1)
def _(dimensions, order, size):  # in the order of the layout
    out, step = [], size
    for d in order:
        out.append(step)
        step *= dimensions[d]
    return tuple(out)


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape):  # one level only
    return [((k,), part) for k, part in enumerate(shape.tuple_shapes)] if shape.is_tuple else [((), shape)]


@mistake("nb01.leaves", "wrong-leaves", 1)
def _(shape):  # paths of the last number only
    def walk(s, path):
        return [leaf for k, part in enumerate(s.tuple_shapes) for leaf in walk(part, (k,))] if s.is_tuple else [(path, s)]

    return walk(shape, ())


@mistake("nb02.softmax", "not-finite")
def _(x):
    return x.exp() / x.exp().sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "wrong-value")
def _(x):  # over everything
    e = (x - x.max()).exp()
    return e / e.sum()


@mistake("nb02.softmax", "not-finite")
def _(x):  # the largest of all rows: another row may be far below it
    e = (x - x.max()).exp()
    return e / e.sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "over-budget")
def _(x):
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    f = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / f.sum(axis=-1, keepdims=True)


@mistake("nb02.softmax", "no-value")
def _(x):
    return 3


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # cancellation
    m = x.mean(axis=-1, keepdims=True)
    return (x - m) * ((x * x).mean(axis=-1, keepdims=True) - m * m + 1e-5).rsqrt() * g + b


@mistake("nb02.layernorm", "not-finite")
def _(x, g, b):  # no epsilon
    c = x - x.mean(axis=-1, keepdims=True)
    return c / (c * c).mean(axis=-1, keepdims=True).sqrt() * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # epsilon after the square root
    c = x - x.mean(axis=-1, keepdims=True)
    return c / ((c * c).mean(axis=-1, keepdims=True).sqrt() + 1e-5) * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # a tenth of the epsilon
    c = x - x.mean(axis=-1, keepdims=True)
    return c * ((c * c).mean(axis=-1, keepdims=True) + 1e-6).rsqrt() * g + b


@mistake("nb02.layernorm", "wrong-value")
def _(x, g, b):  # gain after bias
    c = x - x.mean(axis=-1, keepdims=True)
    return (c * ((c * c).mean(axis=-1, keepdims=True) + 1e-5).rsqrt() + b) * g


mistake("nb03.live", "other-set", 3)(lambda computation: {computation.root, *computation.root.operands})
mistake("nb03.live", "other-set", 2)(lambda computation: set(computation.instructions.values()))


def sweep(module, order, may=lambda i: i.opcode.name != "parameter" and not i.opcode.side_effect, computations=None):
    changed = False
    for c in computations or module.computations.values():
        for i in order(list(c.post_order())):
            if not i.users and i is not c.root and may(i):
                c.remove(i)
                changed = True
    return changed


mistake("nb03.dce", "dead-left", 3)(lambda m: sweep(m, lambda o: o))
mistake("nb03.dce", "parameter-removed", 2)(lambda m: sweep(m, reversed, lambda i: not i.opcode.side_effect))
mistake("nb03.dce", "side-effect-lost", 4)(lambda m: sweep(m, reversed, lambda i: i.opcode.name != "parameter"))
mistake("nb03.dce", "dead-left")(lambda m: sweep(m, reversed, computations=[m.entry]))
mistake("nb03.dce", "untrue-verdict", 1)(lambda m: sweep(m, reversed) or True)
mistake("nb03.dce", "untrue-verdict", 2)(lambda m: sweep(m, reversed) and False)
mistake("nb03.dce", "no-verdict", 2)(lambda m: sweep(m, reversed) and None)
mistake("nb03.dce", "raised-ValueError", 2)(lambda m: bool([m.entry.remove(i) for i in list(m.entry.post_order())[:1]]))


@mistake("nb03.dce", "value-changed", 2)
def _(m):
    i = m.entry.root
    if i.opcode.name == "negate":
        m.entry.replace(i, i.operands[0])
        m.entry.remove(i)
        return True
    return False


def cse(m, key, skip=("parameter",), effects=False):
    changed, seen = False, {}
    for i in list(m.entry.post_order()):
        if i.opcode.name in skip or (i.opcode.side_effect and not effects):
            continue
        first = seen.setdefault(key(i), i)
        if first is not i:
            m.entry.replace(i, first)
            m.entry.remove(i)
            changed = True
    return changed


def cse_by(key, **options):
    return lambda m: cse(m, key, **options)


def full(i):
    return i.opcode, i.shape, i.operands, i.attributes, i.called, i.payload.key if i.opcode.name == "constant" else None


def ordered(i):
    operands = tuple(sorted([o.id for o in i.operands])) if i.opcode.commutative else tuple([o.id for o in i.operands])
    return i.opcode, i.shape, operands, i.attributes, i.called, i.payload.key if i.opcode.name == "constant" else None


mistake("nb04.cse", "not-well-formed")(cse_by(lambda i: (*full(i)[:1], *full(i)[2:])))
for exercise, right in (("nb04.cse", full), ("nb04.commutative", ordered)):

    def without(*places: int, key: Any = right) -> Any:
        return lambda i: tuple([part for k, part in enumerate(key(i)) if k not in places])

    mistake(exercise, "value-changed")(cse_by(without(3)))
    mistake(exercise, "value-changed")(cse_by(without(4)))
    mistake(exercise, "value-changed")(cse_by(without(5)))
    mistake(exercise, "side-effect-lost")(cse_by(right, effects=True))
mistake("nb04.cse", "value-changed")(lambda m: cse(m, lambda i: (*full(i)[:5], i.literal.scalar if i.opcode.name == "constant" else None)))
mistake("nb04.cse", "equal-left", 4)(lambda m: cse(m, full, skip=("parameter", "constant")))
mistake("nb04.commutative", "equal-left", 4)(lambda m: cse(m, full))
mistake("nb04.commutative", "value-changed", 5)(
    lambda m: cse(m, lambda i: (*full(i)[:2], tuple(sorted(o.id for o in i.operands)), *full(i)[3:]))
)


def splat(i):
    i = i.operands[0] if i.opcode.name == "broadcast" else i
    return i.literal.splat if i.opcode.name == "constant" else None


def rule(test, result):
    return lambda i: result(i) if test(i) else None


mistake("nb05.rules", "rule-missing-1 (one)")(lambda i: None)
mistake("nb05.rules", "value-changed", 3)(rule(lambda i: i.opcode.name == "add" and splat(i.operands[1]) == 0, lambda i: i.operands[0]))
mistake("nb05.rules", "value-changed", 4)(
    rule(lambda i: i.opcode.name == "multiply" and splat(i.operands[1]) == 0, lambda i: i.operands[1])
)
mistake("nb05.rules", "value-changed", 3)(rule(lambda i: i.opcode.name == "divide" and splat(i.operands[0]) == 1, lambda i: i.operands[1]))
mistake("nb05.rules", "raised-RuntimeError")(
    rule(lambda i: i.opcode.name == "add", lambda i: i.parent.add("add", i.shape, i.operands[::-1]))
)
mistake("nb05.rules", "rule-missing-1 (one)", 3)(
    rule(lambda i: i.opcode.name == "multiply" and splat(i.operands[1]) == 1, lambda i: i.operands[0])
)
SAFE = {"x * 1 -> x", "x * 2 -> x + x", "x / 4 -> x * 0.25", "max(x, x) -> x"}
RIGHT = {
    name: None
    if name in SAFE
    else {
        "x * 0 -> 0": math.inf,
        "x + 0 -> x": -0.0,
        "x - x -> 0": math.nan,
        "x / x -> 1": 0.0,
        "x / 3 -> x * (1/3)": 5.0,
        "(x + y) - y -> x": (1.0, 1e30),
    }[name]
    for name in CANDIDATES
}
mistake("nb05.unsafe", "not-safe")({**RIGHT, "x / 3 -> x * (1/3)": None})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x + 0 -> x": 1.0})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "x / 4 -> x * 0.25": math.nan})
mistake("nb05.unsafe", "not-a-witness")({**RIGHT, "(x + y) - y -> x": 1.0})


def fold(m, may, order=lambda o: o, any_shape=False):
    from xla_explorer.hlo.evaluator import Evaluator
    from xla_explorer.hlo.literal import literal_from_array

    changed = False
    for i in order(list(m.entry.post_order())):
        if i.operands and (any_shape or i.shape.is_array) and all(o.opcode.name == "constant" for o in i.operands) and may(i):
            array = Evaluator().evaluate_instruction(i, [o.literal.array for o in i.operands])
            m.entry.replace(i, m.entry.add_constant(literal_from_array(array, i.shape)))
            m.entry.remove(i)
            changed = True
    return changed


mistake("nb05.fold", "side-effect-lost")(lambda m: fold(m, lambda i: i.shape.element_count <= 64))
mistake("nb05.fold", "too-large", 2)(lambda m: fold(m, lambda i: i.opcode.name != "rng"))
mistake("nb05.fold", "not-folded")(lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count <= 64, reversed))
mistake("nb05.fold", "not-folded")(lambda m: fold(m, lambda i: i.opcode.name == "add"))


mistake("nb05.fold", "not-folded", 2)(lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count < 64))
mistake("nb05.fold", "too-large", 2)(lambda m: fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count < 66))


@mistake("nb05.fold", "tuple-folded", 3)
def _(m):  # tuples too
    return fold(m, lambda i: i.opcode.name != "rng" and i.shape.element_count <= 64, any_shape=True)


@mistake("nb06.path", "missed-path")
def _(p, c):  # one step only
    return next(([p, m, c] for m in c.operands if m is not p and p in m.operands), None)


@mistake("nb06.path", "no-such-path", 3)
def _(p, c):
    return [p, c] if p in c.operands else other_path(p, c)


@mistake("nb06.path", "not-a-path", 4)
def _(p, c):
    found = other_path(p, c)
    return found and found[::-1]


mistake("nb06.path", "missed-path")(lambda p, c: None)


def legality_without(*codes):
    def judge(p, c):
        reason = may_merge(p, c)
        return None if reason is not None and reason.code in codes else reason

    return judge


for code in ("not-an-operand", "no-loop", "side-effect", "own-kernel", "reduce-is-root-only", "control-dependency", "would-create-cycle"):
    mistake("nb06.legality", f"wrong-code-{code}")(legality_without(code))
mistake("nb06.legality", "no-reason")(lambda p, c: may_merge(p, c) is None)
mistake("nb06.legality", "no-message")(lambda p, c: (r := may_merge(p, c)) and xe.Reason(r.code, ""))
mistake("nb06.legality", "wrong-code-accepted")(lambda p, c: may_merge(p, c) or xe.Reason("no-loop", "never"))

mistake("nb07.plan", "no-gain")(default_plan)
mistake("nb07.plan", "too-much-work")(required)
mistake("nb07.plan", "must-be-stored", 2)(lambda computation: set())
mistake("nb07.plan", "worse-than-default", 3)(lambda computation: {i for i in computation.instructions.values() if not is_given(i)})


def changed_ranges(change):
    def ranges(computation):
        return change(computation, live_ranges(computation))

    return ranges


mistake("nb08.liveness", "result-freed")(
    changed_ranges(lambda c, r: {i: (a, max([a] + [c.post_order().index(u) for u in i.users])) for i, (a, _) in r.items()})
)
mistake("nb08.liveness", "wrong-range", 4)(
    changed_ranges(lambda c, r: {i: (a, b if b == len(c.post_order()) - 1 else b - 1) for i, (a, b) in r.items()})
)
mistake("nb08.liveness", "too-many", 2)(changed_ranges(lambda c, r: {**dict.fromkeys(c.parameters(), (0, 0)), **r}))


@mistake("nb08.assign", "too-large")
def _(ranges):  # one after the other
    return [sum([size for size, _, _ in ranges[:k]]) for k in range(len(ranges))]


mistake("nb08.assign", "overlap")(lambda ranges: [0] * len(ranges))


def first_fit(ranges, order, meets):
    offsets, placed = [0] * len(ranges), []
    for k in order(ranges):
        at = 0
        for low, high in sorted([(offsets[j], offsets[j] + ranges[j][0]) for j in placed if meets(ranges[j], ranges[k])]):
            if low - at >= ranges[k][0]:
                break
            at = max(at, high)
        offsets[k] = at
        placed.append(k)
    return offsets


def decreasing(ranges):
    return sorted(range(len(ranges)), key=lambda k: (-ranges[k][0], ranges[k][1]))


mistake("nb08.assign", "overlap")(lambda r: first_fit(r, decreasing, lambda a, b: a[1] < b[2] and b[1] < a[2]))
mistake("nb08.assign", "too-large")(
    lambda r: first_fit(r, lambda s: sorted(range(len(s)), key=lambda k: s[k][0]), lambda a, b: a[1] <= b[2] and b[1] <= a[2])
)
mistake("nb08.assign", "not-aligned")(lambda r: [o + 1 for o in first_fit(r, decreasing, lambda a, b: a[1] <= b[2] and b[1] <= a[2])])


WARP, BLOCK = [solution_text(name) for name in ("nb10.warp", "nb10.block")]
mistake("nb10.warp", "wrong-sum")(WARP.replace("%f1, 16, 31", "%f1, 8, 31"))
mistake("nb10.warp", "fault")(WARP.replace("@%p1 bra done;", ""))
mistake("nb10.warp", "fault")(WARP.replace("%r1, 4;", "%r1, 8;"))
mistake("nb10.warp", "form")(WARP.replace("shfl.sync.down.b32 %f2, %f1,", "mov.f32 %f2, %f1; //"))
mistake("nb10.warp", "cannot-be-read")(WARP.replace("ret;\n}", "ret;"))
mistake("nb10.block", "fault")(BLOCK.replace("bar.sync 0;", "bar.warp.sync 0xffffffff;"))
mistake("nb10.block", "fault")(BLOCK.replace("setp.ge.u32 %p1, %r3, %r2;", "setp.gt.u32 %p1, %r3, %r2;"))
mistake("nb10.block", "wrong-sum")(BLOCK.replace("add.u32 %r3, %r3, 256;", "add.u32 %r3, %r3, 512;"))
mistake("nb10.block", "form")(WARP)


def cost_with(**change):
    def cost(i):
        from xla_explorer.hlo.analysis.cost import instruction_cost

        known = instruction_cost(i)
        return change.get(i.opcode.name, lambda o, b, i: (o, b))(int(known.flops + known.transcendentals), int(known.bytes_accessed), i)

    return cost


mistake("nb11.cost", "wrong-cost-dot", 3)(cost_with(dot=lambda o, b, i: (o // 2, b)))
mistake("nb11.cost", "wrong-cost-reduce")(cost_with(reduce=lambda o, b, i: (i.operands[0].shape.element_count, b)))
mistake("nb11.cost", "wrong-cost-broadcast", 2)(cost_with(broadcast=lambda o, b, i: (i.shape.element_count, b)))
mistake("nb11.cost", "wrong-cost-reduce")(cost_with(reduce=lambda o, b, i: (o, b - 4)))
mistake("nb11.cost", "wrong-cost-multiply", 2)(
    lambda i: (cost_with()(i)[0], i.shape.byte_size + sum([o.shape.byte_size for o in set(i.operands)]))
)
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: peak)
mistake("nb11.bound", "divides-by-zero")(lambda o, b, peak, bandwidth: min(peak, o / b * bandwidth))
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: o / (o / peak + b / bandwidth))
PLACES = {
    "add of f32[1000000]": "memory",
    "exponential of f32[1000000]": "memory",
    "sum of f32[1000,1000] over dimension 1": "memory",
    "dot of f32[1024,1024] and f32[1024,1024]": "arithmetic",
    "dot of f32[1024,1024] and f32[1024,1]": "arithmetic",
}
mistake("nb11.place", "wrong-place")(PLACES)
mistake("nb11.place", "wrong-place")(dict.fromkeys(PLACES, "memory"))


SCOPE: dict[str, Any] = {"xe": xe}
for cell in ("nb09.emit", "nb09.sum", "nb12.elf", "nb12.build", "nb13.compile", "nb13.executable"):
    exec(solution_cells()[cell], SCOPE)
EMIT, SUM = SCOPE["emit"], SCOPE["sum_ir"]
mistake("nb09.emit", "wrong-value", 3)(lambda c: EMIT(c).replace("@llvm.maximum.f32", "@llvm.maxnum.f32"))
mistake("nb09.emit", "not-written")(
    lambda c: (
        EMIT(c)
        .replace("%next, %n", "%i, %n")
        .replace("icmp slt i64 %i", "icmp slt i64 %more0")
        .replace("%more = icmp", "%more0 = add i64 %i, 2\n  %more = icmp")
    )
)
mistake("nb09.emit", "wrong-value", 3)(lambda c: EMIT(c).replace("fsub float %v0, %v1", "fsub float %v1, %v0"))
mistake("nb09.emit", "outside")(lambda c: EMIT(c).replace("icmp slt i64 %next, %n", "icmp sle i64 %next, %n"))
mistake("nb09.emit", "outside")(lambda c: EMIT(c).replace("br i1 %none, label %done, label %loop", "br label %loop"))
mistake("nb09.emit", "outside")(lambda c: EMIT(c).replace("ptr %out, i64 %i", "ptr %out, i64 %n"))
mistake("nb09.emit", "not-written")(lambda c: EMIT(c).replace("ptr %place\n", "ptr null\n"))
mistake("nb09.emit", "cannot-run")(lambda c: EMIT(c).replace("fneg", "fnegate"))
mistake("nb09.emit", "crashed")(lambda c: EMIT(c).replace("getelementptr float, ptr %x", "getelementptr <1000000000 x float>, ptr %x"))
mistake("nb09.sum", "not-vectorised")(SUM.replace(" reassoc", ""))
mistake("nb09.sum", "promises-too-much")(SUM.replace("reassoc", "fast"))
mistake("nb09.sum", "wrong-sum")(
    SUM.replace("phi float [ 0.0, %entry ], [ %longer, %loop ]\n  %address", "phi float [ 1.0, %entry ], [ %longer, %loop ]\n  %address")
)
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 64) if data[:4] == b"\x7fELF" else None)
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 32 * data[4]) if data[:4] == b"\x7fELF" else None)
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 32 * data[4]))
mistake("nb12.build", "wrong-machine")(lambda module: xe.aot(module, "aarch64-linux-gnu", prefix="device"))
mistake("nb12.build", "no-vectors")(lambda module: xe.aot(module, "riscv64-linux-gnu", prefix="device"))
mistake("nb12.build", "wrong-prefix")(lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v"))


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
mistake("nb13.compile", "machine-stopped", 2)(lambda *given: SCOPE["compile_for"](*given)[:-1])
mistake("nb13.compile", "machine-stopped")(lambda c, slots, result, new_slot: SCOPE["compile_for"](c, slots, result, lambda: 1000))


@mistake("nb13.compile", "wrong-value", 3)
def _(computation, slots, result, new_slot):  # parameters in reverse
    return SCOPE["compile_for"](computation, slots[::-1], result, new_slot)


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


mistake("nb13.executable", "wrong-value")(lambda machine, program, weights: SCOPE["load"](machine, program, weights[::-1]))


@pytest.mark.parametrize(("name", "code", "most", "answer"), MISTAKES, ids=[f"{n}-{c}-{k}" for k, (n, c, _, _) in enumerate(MISTAKES)])
@pytest.mark.sampled(28)
def test_mistake_is_caught(name: str, code: str, most: int | None, answer: Any) -> None:
    result = xe.course.check(name, copy.copy(answer))
    assert result.status == "failed" and result.failure is not None, repr(result)
    assert result.failure.code == code, repr(result)
    assert result.failure.message and (result.failure.expected or result.failure.got)
    if most is not None:
        assert result.failure.module is not None and result.failure.module.instruction_count() <= most, repr(result)


def test_every_exercise_has_two_mistakes() -> None:
    for name in [name for name in xe.course.exercises() if name.startswith("nb")]:  # pages and examples declare others
        assert sum([n == name for n, _, _, _ in MISTAKES]) >= 2, name
