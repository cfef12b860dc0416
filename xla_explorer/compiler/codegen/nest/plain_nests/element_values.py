"""The statements of a plain nest that compute one element of an HLO instruction."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.nest.ir import (
    BoundAxis,
    Case,
    Combination,
    Compute,
    Constant,
    Iota,
    Load,
    Origin,
    Reduce,
    SelectRegion,
)
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import (
    OpenScope,
    accumulator_type,
    addressed,
    combines_in_any_order,
    compute_of,
    scalar,
)
from xla_explorer.compiler.codegen.nest.plain_nests.nest_scopes import NestScopes, NoNestError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    MOVEMENT,
    Axis,
    Guard,
    Place,
    Read,
    Substitution,
    index,
    reads_of,
)
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import TUPLE, OpcodeSpec, opcode
from xla_explorer.hlo.primitive_type import PrimitiveType

_ADD, _BITCAST_CONVERT, _MAP = map(opcode, ("add", "bitcast-convert", "map"))
_COMBINING = frozenset({"reduce", "reduce-window", "dot", "convolution"})
WITH_RESULTS = frozenset({"reduce", "reduce-window"})


class ElementValues(NestScopes):
    """The values of a plain nest that is being built, computed on demand."""

    # -- values ------------------------------------------------------------------------------------
    def value(self, i: HloInstruction, at: Place) -> int:
        """Return the value number of an array's element."""
        return self.values(i, at)[0]

    def values(self, i: HloInstruction, at: Place) -> tuple[int, ...]:
        """Return the value number of an element of each result of an instruction.

        Chains of thousands of instructions are walked without recursion.
        """
        stack: list[tuple[HloInstruction, Place, list[tuple[HloInstruction, Place]] | None]] = [
            (i, at, None)
        ]
        found: tuple[int, ...] | None = None
        while stack:
            current, here, needed = stack[-1]
            found = self.known(current, here) if needed is None else None
            if found is None:
                if needed is None:
                    stack[-1] = current, here, needed = current, here, self.needed(current, here)
                    if missing := [(*x, None) for x in reversed(needed) if self.known(*x) is None]:
                        stack += missing
                        continue
                found = self.computed(current, here, needed)
                depth = max([self.depth[number] for number in found], default=0)
                self.scopes[depth].known[current, id(here)] = found
            stack.pop()
        assert found is not None
        return found

    def needed(self, i: HloInstruction, at: Place) -> list[tuple[HloInstruction, Place]]:
        """Return the elements to compute before an element of an instruction.

        Empty for instructions whose code spans several scopes.
        """
        if i in self.forwarded:
            return [(self.forwarded[i], at)]
        name = i.opcode.name
        if i in self.arrays or name in _COMBINING or not (i.opcode.elementwise or name in MOVEMENT):
            return []
        if i.opcode.elementwise and not [
            o
            for o in i.operands
            if not o.shape.is_array or o.shape.dimensions != i.shape.dimensions
        ]:
            return [(o, at) for o in i.operands]
        reads = self.reads(i, at)
        addressing = [r for r in reads if r.addressing]
        moved = (
            []
            if addressing or (reads and reads[0].guards)
            else [r for r in reads if not r.addressing]
        )
        return [(i.operands[r.operand], self.place(r.place)) for r in (addressing or moved)]

    def computed(
        self, i: HloInstruction, at: Place, needed: list[tuple[HloInstruction, Place]]
    ) -> tuple[int, ...]:
        """Write the statements of an element after those of the `needed` elements."""
        if i in self.forwarded:
            return self.values(*needed[0])
        if (
            i.opcode.elementwise
            and i.opcode is not _MAP
            and i not in self.arrays
            and i.shape.is_array
            and True not in i.shape.dynamic
        ):
            values = [(self.known(*x) or self.values(*x))[0] for x in needed]
            made = compute_of(next(self.numbers), i, values, self.origin(i, at))
            return self.put(made, max([self.depth[v] for v in values]))
        if (
            i.shape.is_array and 0 in i.shape.dimensions and i not in self.arrays
        ):  # no element exists
            return (self.constant(0, i.shape.element_type),)
        name, origin, number = i.opcode.name, self.origin(i, at), next(self.numbers)
        if (not i.shape.is_array and name not in WITH_RESULTS) or any(
            any(shape.dynamic) for _, shape in i.shape.leaves()
        ):
            message = f"%{i.name} must be an array, got {i.shape.text_without_layout}"
            raise NoNestError(refuse("not-an-array", message))
        if i in self.arrays:
            return self.put_load(number, i, at, origin)
        if name == "get-tuple-element" and i.operands[0].opcode.name in WITH_RESULTS:
            return (self.values(i.operands[0], at)[i.attribute("index")],)
        if name == "constant":
            return self.put_literal(number, i)
        if name == "iota":
            x = at[i.attribute("iota_dimension")]
            return self.put(Iota(number, i.shape.element_type, x, origin), self.depth_of(x))
        if name in _COMBINING:
            return self.reduction(i, at, origin)
        values = [self.value(*x) for x in needed]
        if i.opcode is _MAP:
            return self.inlined(i.to_apply, values)
        if name in MOVEMENT:
            return self.moved(i, at, values, origin)
        raise NoNestError(
            refuse("no-loop-nest", f"%{i.name}: {name} has no loop nest", opcode=name)
        )

    def put_load(
        self, number: int, i: HloInstruction, at: Place, origin: Origin
    ) -> tuple[int, ...]:
        """Write the load of an operand's element, inside the guards that keep it in its array."""
        inside = all(
            x.bounds[0] >= 0 and x.bounds[1] < n
            for x, n in zip(at, i.shape.dimensions, strict=True)
        )
        least = 0 if inside else self.barrier() if i.shape.element_count else len(self.scopes) - 1
        load = Load(number, i.shape.element_type, self.arrays[i].name, at, origin)
        return self.put(load, max(self.depth_of(*at), least))

    def put_literal(self, number: int, i: HloInstruction) -> tuple[int, ...]:
        """Write the value of a constant whose elements are equal."""
        if i.literal.splat is None:
            message = f"%{i.name} is a constant with several values: it must be an operand"
            raise NoNestError(refuse("array-constant", message))
        return self.put(Constant(number, scalar(i.literal), Origin(i.id)), 0)

    def reads(self, i: HloInstruction, at: Place) -> list[Read]:
        """Return the reads of an element by the index map of its instruction."""
        found = reads_of(i, at)
        if isinstance(found, Reason):
            raise NoNestError(found)
        return found

    def moved(
        self, i: HloInstruction, at: Place, values: list[int], origin: Origin
    ) -> tuple[int, ...]:
        """Write the element of the first read whose guards hold."""
        reads = self.reads(i, at)
        if not reads:
            return (self.constant(0, i.shape.element_type),)
        addressing = [r for r in reads if r.addressing]
        if addressing:  # name runtime values by the numbers of the loaded indices
            numbers = {
                (i.operands[r.operand], r.place): number
                for r, number in zip(addressing, values, strict=True)
            }
            reads = [addressed(r, numbers) for r in reads if not r.addressing]
        first, operand = reads[0], i.operands[reads[0].operand]
        if not first.guards or len(reads) == 1:
            found = self.values(operand, self.place(first.place))
            if operand.shape.element_type is i.shape.element_type:
                return found
            made = Compute(
                next(self.numbers),
                i.shape.element_type,
                _BITCAST_CONVERT,
                found,
                NO_ATTRIBUTES,
                origin,
            )
            return self.put(made, self.depth[found[0]])
        depth = max(self.depth_of(*at, *[x for r in reads for x in r.place]), self.barrier())
        cases = []
        for read in reads:
            with self.scope(depth, (), True) as inner:
                value = self.value(i.operands[read.operand], self.place(read.place))
            cases.append(Case(read.guards, tuple(inner.body), value))
            if not read.guards:
                break
        else:  # one of the guards holds: the last needs no condition
            cases[-1] = Case((), cases[-1].body, cases[-1].value)
        return self.put(
            SelectRegion(next(self.numbers), i.shape.element_type, tuple(cases), origin), depth
        )

    # -- combining ---------------------------------------------------------------------------------
    def reduction(self, i: HloInstruction, at: Place, origin: Origin) -> tuple[int, ...]:
        """Write a reduction over the axes of the index map, renamed for this nest."""
        reads = self.reads(i, at)
        is_product = i.opcode.name in ("dot", "convolution")
        inputs = reads if is_product else reads[: len(reads) // 2]
        operands = [i.operands[r.operand] for r in inputs]
        wide = accumulation_type(i) if is_product else accumulator_type(i)
        initial = (
            [self.constant(0, wide)]
            if is_product and wide
            else [self.value(i.operands[r.operand], ()) for r in reads[len(reads) // 2 :]]
        )
        if wide is not None and not is_product:
            initial = [self.through(initial[0], (i.operands[1].shape.element_type, wide), None)]
        if any(axis.extent == 0 for axis in inputs[0].over):
            return self.narrowed(i, tuple(initial), wide, origin)
        axes = [Axis(next(self.letters), axis.extent) for axis in inputs[0].over]
        renamed: Substitution = {
            old: index(new) for old, new in zip(inputs[0].over, axes, strict=True)
        }
        guards = tuple([Guard(g.expression.substitute(renamed), g.bound) for g in inputs[0].guards])
        depth = max(
            [self.depth_of(*at), self.barrier(), *[self.depth[number] for number in initial]]
        )
        with self.scope(depth, axes, bool(guards)) as inner:
            places = [self.place(tuple([x.substitute(renamed) for x in r.place])) for r in inputs]
            values = [self.value(o, place) for o, place in zip(operands, places, strict=True)]
            if wide is not None:
                kinds = [
                    operand_steps(i, k) if is_product else (o.shape.element_type, wide)
                    for k, o in enumerate(operands)
                ]
                values = [
                    self.through(value, steps, None)
                    for value, steps in zip(values, kinds, strict=True)
                ]
                values = [self.product(values, wide)] if is_product else values
        elements = (wide,) if wide else tuple([o.shape.element_type for o in operands])
        combiner = (
            _ADD if is_product else i.to_apply.root.opcode if wide else self.combiner(i, elements)
        )
        ids, bound = (
            tuple([next(self.numbers) for _ in values]),
            tuple([BoundAxis(a) for a in axes]),
        )
        found = self.put(
            Reduce(
                ids,
                elements,
                combiner,
                tuple(initial),
                bound,
                tuple(inner.body),
                tuple(values),
                guards,
                origin,
            ),
            depth,
        )
        return self.narrowed(i, found, wide, origin)

    def narrowed(
        self, i: HloInstruction, found: tuple[int, ...], wide: PrimitiveType | None, origin: Origin
    ) -> tuple[int, ...]:
        """Convert the result of a reduction from a wider type to the type of its instruction."""
        if wide is None:
            return found
        is_product = i.opcode.name in ("dot", "convolution")
        return (
            self.through(
                found[0], sum_steps(i) if is_product else (wide, i.shape.element_type), origin
            ),
        )

    def combiner(
        self, i: HloInstruction, elements: tuple[PrimitiveType, ...]
    ) -> OpcodeSpec | Combination:
        """Return the combiner of a reduction: an associative opcode or several operations."""
        computation = i.to_apply
        parameters, root = computation.parameters(), computation.root
        if [p.shape.element_type for p in parameters] != [*elements, *elements]:
            raise NoNestError(
                refuse(
                    "reducer-of-other-types",
                    f"%{i.name}: its reducer must compute in the types of its operands",
                )
            )
        if len(elements) == 1 and combines_in_any_order(i):
            if identity_element(root.opcode.name, elements[0]) is not None:
                return root.opcode  # the identity element stands for skipped points
        numbers = [next(self.numbers) for _ in parameters]
        before, self.scopes = self.scopes, [OpenScope()]
        self.depth.update(dict.fromkeys(numbers, 0))
        results = self.inlined(computation, numbers)
        body, self.scopes = tuple(self.scopes[0].body), before
        half = len(elements)
        return Combination(tuple(numbers[:half]), tuple(numbers[half:]), body, results)

    def inlined(self, computation: HloComputation, arguments: Sequence[int]) -> tuple[int, ...]:
        """Write a computation of scalars, and return its results."""
        values: dict[HloInstruction, int] = dict(
            zip(computation.parameters(), arguments, strict=True)
        )
        depth = max([self.depth[a] for a in arguments], default=0)
        root = computation.root
        for i in computation.post_order():
            if i in values or (i is root and i.opcode is TUPLE):
                continue
            number, operands = next(self.numbers), [values[o] for o in i.operands]
            if i.opcode is _MAP:
                (values[i],) = self.inlined(i.to_apply, operands)
            elif i.shape.is_scalar and (i.opcode.elementwise or i.opcode.name == "constant"):
                is_number, at = i.opcode.name == "constant", self.origin(i, ())
                values[i] = self.put(
                    Constant(number, i.literal, at)
                    if is_number
                    else compute_of(number, i, operands, at),
                    depth,
                )[0]
            else:
                raise NoNestError(
                    refuse(
                        "reducer-not-elementwise",
                        f"scalar code must be elementwise, got %{i.name} ({i.opcode.name})",
                    )
                )
        return tuple([values[o] for o in (root.operands if root.opcode is TUPLE else (root,))])
