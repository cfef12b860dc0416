"""The plain loop nest of an instruction or fusion: a loop for each dimension of the result that has several steps, no choice made.

A value stands in the outermost loop that has all it needs. Loads that only guards keep inside their
array stay under these guards.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from xla_explorer.compiler.codegen.nest.hlo_parts import (
    Scope,
    accumulator_type,
    addressed,
    array_names,
    combines_in_any_order,
    compute_of,
    has_interior_padding,
    identifier,
    scalar,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Array,
    BoundAxis,
    Case,
    Combination,
    Compute,
    Constant,
    Definition,
    For,
    Iota,
    Load,
    LoopNest,
    Origin,
    Reduce,
    SelectRegion,
    Store,
    ids_of,
)
from xla_explorer.compiler.codegen.nest.scans.from_hlo import scanned_dimension, write_scan
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import (
    MOVEMENT,
    ZERO,
    Axis,
    Guard,
    IndexExpression,
    Place,
    Read,
    RuntimeValue,
    Substitution,
    index,
    reads_of,
)
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps
from xla_explorer.hlo.attributes import NO_ATTRIBUTES
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.opcodes import FUSION, TUPLE, OpcodeSpec, opcode
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import array_shape

_ADD, _MULTIPLY, _CONVERT, _BITCAST_CONVERT, _MAP = map(
    opcode, ("add", "multiply", "convert", "bitcast-convert", "map")
)
_COMBINING = frozenset({"reduce", "reduce-window", "dot", "convolution"})
_WITH_RESULTS = frozenset({"reduce", "reduce-window"})  # perhaps several
MOST_STATEMENTS = 10_000
_LETTERS = "ijklmnpqrstuvwxyzabcdefgh"


class NoNest(Exception):
    """There is no nest, for a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def nest_of(
    i: HloInstruction, in_place: bool = False, copied: bool = False, scans: bool = True
) -> LoopNest | Reason:
    """The plain nest of an instruction or fusion as a kernel of its own, or a Reason where it has none.

    Its arrays are the operands, each once, and the results. in_place: the result of a
    dynamic-update-slice is the memory of what it updates, and there is a step for each element of
    the update alone. copied: all that it updates is copied before that; of a pad with gaps, all is
    padding before its operand is stored. scans: windows that are running values are one scan, not a
    reduction each.
    """
    operands = list(dict.fromkeys(i.operands))
    fused = i.called[0] if i.opcode is FUSION else None
    root = fused.root if fused is not None else i
    roots = root.operands if fused is not None and root.opcode is TUPLE else (root,)
    arrays = [*operands, *[r for r in roots if r.opcode.name not in _WITH_RESULTS]]
    bad = next((x for x in arrays if not x.shape.is_array), None)
    if bad is not None:
        return refuse(
            "not-an-array",
            f"%{bad.name} must be an array, as all of a kernel, got {bad.shape.text_without_layout}",
        )
    if any(any(shape.dynamic) for x in (*operands, *roots) for _, shape in x.shape.leaves()):
        return refuse(
            "dynamic-dimensions", f"%{i.name} has dimensions whose sizes are known at run time"
        )
    try:
        builder = PlainNest(operands, fused, i.operands)
        return (
            builder.updating_kernel(i, root, copied)
            if in_place or copied
            else builder.kernel(i, roots, scans)
        )
    except NoNest as found:
        return found.reason
    except RecursionError:
        return refuse(
            "nest-too-large", f"%{i.name}: its cases and reductions are nested too deeply"
        )


class PlainNest:
    """A nest in the making.

    depth: of a value or an axis, the number of the scope that it belongs to, from outside.
    """

    def __init__(
        self,
        operands: list[HloInstruction],
        fused: HloComputation | None,
        arguments: Sequence[HloInstruction],
    ) -> None:
        names = array_names(operands)
        self.arrays = {o: Array(name, o.shape) for o, name in zip(operands, names, strict=True)}
        self.forwarded = (
            dict(zip(fused.parameters(), arguments, strict=True)) if fused is not None else {}
        )
        self.scopes = [Scope()]
        self.depth: dict[int | Axis, int] = {}
        self.numbers = itertools.count(1)
        self.places: dict[
            Place, Place
        ] = {}  # equal places are one object, so that what is known is found by identity
        self.letters = itertools.chain(
            _LETTERS, (f"{x}{n}" for n in itertools.count(1) for x in _LETTERS)
        )
        self.names: dict[int, str] = {}
        self.statements = 0

    # -- the kernel --------------------------------------------------------------------------------
    def kernel(
        self, i: HloInstruction, roots: Sequence[HloInstruction], scans: bool = False
    ) -> LoopNest:
        leaves = [
            (root, k, shape) for root in roots for k, (_, shape) in enumerate(root.shape.leaves())
        ]
        taken = {a.name for a in self.arrays.values()}
        names = ["out"] if len(leaves) == 1 else [f"out{k}" for k in range(len(leaves))]
        names = [f"{name}.result" if name in taken else name for name in names]
        outputs = [
            Array(name, shape, True) for name, (_, _, shape) in zip(names, leaves, strict=True)
        ]
        groups: dict[tuple[int, ...], list[tuple[HloInstruction, int, Array]]] = {}
        for (root, k, shape), output in zip(leaves, outputs, strict=True):
            groups.setdefault(shape.dimensions, []).append((root, k, output))
        for dimensions, members in groups.items():
            if 0 in dimensions:
                continue
            axes = [Axis(next(self.letters), extent) for extent in dimensions]
            order = list(reversed(members[0][2].shape.layout.minor_to_major))
            write = partial(self.stores, members, self.place(tuple([index(a) for a in axes])))
            if (
                scanned := scanned_dimension(roots[0]) if scans and len(roots) == 1 else None
            ) is not None:
                write = partial(write_scan, self, roots[0], outputs, axes, *scanned)
                order.remove(scanned[0])
            self.loops([axes[d] for d in order if axes[d].extent != 1], write)
        return LoopNest(
            identifier(i.name),
            (*self.arrays.values(), *outputs),
            tuple(self.scopes[0].body),
            self.names,
        )

    def updating_kernel(self, i: HloInstruction, root: HloInstruction, copied: bool) -> LoopNest:
        """The kernel of a dynamic-update-slice that stores its update where the operand lies.

        copied: or where it is copied before.

        A pad updates its padding.
        """
        spreads = has_interior_padding(root)
        operand, update = (root.operands[1], root.operands[0]) if spreads else root.operands[:2]
        held = self.arrays.get(self.forwarded.get(operand, operand))
        if not spreads and (
            root.opcode.name != "dynamic-update-slice" or (held is None and not copied)
        ):
            raise NoNest(
                refuse("updates-in-place", f"%{root.name} must update an operand of the kernel")
            )
        taken = {a.name for a in self.arrays.values()}
        output = Array(
            "out.result" if "out" in taken else "out",
            root.shape,
            True,
            aliases="" if held is None or copied else held.name,
        )

        def loops(x: HloInstruction, write: Callable[[Place], None]) -> None:
            axes = [Axis(next(self.letters), extent) for extent in x.shape.dimensions]
            order = [axes[d] for d in reversed(root.shape.layout.minor_to_major)]
            if 0 not in x.shape.dimensions:
                self.loops(
                    [a for a in order if a.extent != 1],
                    partial(write, self.place(tuple([index(a) for a in axes]))),
                )

        def copy(place: Place) -> None:
            value = self.value(operand, () if spreads else place)
            self.scopes[-1].body.append(Store(output.name, place, value, self.origin(root, place)))

        def target_of(place: Place) -> Place:
            if spreads:
                return tuple(
                    [
                        x * (rule.interior + 1) + rule.low
                        for x, rule in zip(place, root.attribute("padding"), strict=True)
                    ]
                )
            reads = self.reads(root, place)
            numbers = {(root.operands[r.operand], r.place): self.value(root.operands[r.operand], self.place(r.place))
                       for r in reads if r.addressing}  # fmt: skip
            inside = addressed(
                reads[0], numbers
            ).place  # of the element of the result at `place`: that less the start of the window
            return tuple([x * 2 - y for x, y in zip(place, inside, strict=True)])

        def write(place: Place) -> None:
            target = self.place(target_of(place))
            value = self.value(update, place)
            self.scopes[-1].body.append(
                Store(output.name, target, value, self.origin(root, target))
            )

        if copied:
            loops(root, copy)
        loops(update, write)
        return LoopNest(
            identifier(i.name),
            (*self.arrays.values(), output),
            tuple(self.scopes[0].body),
            self.names,
        )

    def stores(self, members: list[tuple[HloInstruction, int, Array]], place: Place) -> None:
        """The values of results at a place, then their stores."""
        values = [self.values(root, place)[k] for root, k, _ in members]
        # After all loads: a processor takes a load for one of what was just stored where the lower
        # bits of both addresses are the same.
        stores = [
            Store(o.name, place, x, self.origin(root, place))
            for x, (root, _, o) in zip(values, members, strict=True)
        ]
        self.scopes[-1].body += stores

    def loops(self, axes: list[Axis], write: Callable[[], None]) -> None:
        """Loops in one another, and what is written inside."""
        if not axes:
            write()
            return
        with self.scope(len(self.scopes) - 1, (axes[0],)) as inner:
            self.loops(axes[1:], write)
        self.scopes[-1].body.append(For(axes[0], tuple(inner.body)))

    # -- scopes ------------------------------------------------------------------------------------
    @contextmanager
    def scope(
        self, depth: int, axes: Sequence[Axis] = (), barrier: bool = False
    ) -> Iterator[Scope]:
        """Write into a new scope inside the one at a depth."""
        before, inner = self.scopes, Scope(barrier)
        self.scopes = [*before[: depth + 1], inner]
        self.depth.update(dict.fromkeys(axes, depth + 1))
        yield inner
        self.scopes = before

    def barrier(self) -> int:
        """The depth of the innermost scope with guards."""
        return max([d for d, s in enumerate(self.scopes) if s.barrier], default=0)

    def depth_of(self, *indices: IndexExpression) -> int:
        """The depth that a statement with these indices needs."""
        return max([d for _, d in self.leaves(indices)], default=0)

    def leaves(self, indices: Sequence[IndexExpression]) -> list[tuple[Axis | RuntimeValue, int]]:
        """The axes and values of run time in indices, each with its depth."""
        atoms = [
            atom for x in indices for atom in x.atoms() if isinstance(atom, (Axis, RuntimeValue))
        ]
        return [
            (atom, self.depth[atom if isinstance(atom, Axis) else int(atom.source[1:])])
            for atom in atoms
        ]

    def put(self, s: Definition, depth: int) -> tuple[int, ...]:
        """Write a statement into the scope of a depth.

        Axes inside, on which its value does not depend, are 0 in its origin.
        """
        place = s.origin.place if s.origin is not None and depth < len(self.scopes) - 1 else ()
        inside: Substitution = (
            {atom: ZERO for atom, d in self.leaves(place) if d > depth} if place else {}
        )
        if s.origin is not None and inside:
            s = replace(
                s,
                origin=Origin(
                    s.origin.instruction, self.place(tuple([x.substitute(inside) for x in place]))
                ),
            )
        self.scopes[depth].body.append(s)
        numbers = ids_of(s)
        for number in numbers:
            self.depth[number] = depth
        self.statements += 1
        if (
            self.statements > MOST_STATEMENTS
        ):  # an element that is read at two places in each of many steps is computed 2^steps times
            raise NoNest(
                refuse(
                    "nest-too-large",
                    f"the nest has more than {MOST_STATEMENTS} statements",
                    limit=MOST_STATEMENTS,
                )
            )
        return numbers

    def known(self, i: HloInstruction, at: Place) -> tuple[int, ...] | None:
        key = (i, id(at))
        for scope in reversed(self.scopes):
            if key in scope.known:
                return scope.known[key]
        return None

    def place(self, at: Place) -> Place:
        return self.places.setdefault(at, at)

    def origin(self, i: HloInstruction, at: Place) -> Origin:
        if i.id not in self.names:
            self.names[i.id] = identifier(i.name)
        return Origin(i.id, at)

    # -- values ------------------------------------------------------------------------------------
    def value(self, i: HloInstruction, at: Place) -> int:
        """The number of an element of an array."""
        return self.values(i, at)[0]

    def values(self, i: HloInstruction, at: Place) -> tuple[int, ...]:
        """The numbers of an element of each result.

        Chains, which may be thousands long, are walked without recursion.
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
        """The elements that must be there before that of an instruction whose code stands in one scope."""
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
        """Write the statements of an element whose `needed` ones are there."""
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
        ):  # guards around it never hold
            return (self.constant(0, i.shape.element_type),)
        name, origin, number = i.opcode.name, self.origin(i, at), next(self.numbers)
        if (not i.shape.is_array and name not in _WITH_RESULTS) or any(
            any(shape.dynamic) for _, shape in i.shape.leaves()
        ):
            raise NoNest(
                refuse(
                    "not-an-array", f"%{i.name} must be an array, got {i.shape.text_without_layout}"
                )
            )
        if i in self.arrays:
            inside = all(
                x.bounds[0] >= 0 and x.bounds[1] < n
                for x, n in zip(at, i.shape.dimensions, strict=True)
            )
            least = (
                0 if inside else self.barrier() if i.shape.element_count else len(self.scopes) - 1
            )
            depth = max(self.depth_of(*at), least)
            return self.put(
                Load(number, i.shape.element_type, self.arrays[i].name, at, origin), depth
            )
        if name == "get-tuple-element" and i.operands[0].opcode.name in _WITH_RESULTS:
            return (self.values(i.operands[0], at)[i.attribute("index")],)
        if name == "constant":
            if i.literal.splat is None:
                raise NoNest(
                    refuse(
                        "array-constant",
                        f"%{i.name} is a constant with several values: it must be an operand",
                    )
                )
            return self.put(Constant(number, scalar(i.literal), Origin(i.id)), 0)
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
        raise NoNest(refuse("no-loop-nest", f"%{i.name}: {name} has no loop nest", opcode=name))

    def reads(self, i: HloInstruction, at: Place) -> list[Read]:
        found = reads_of(i, at)
        if isinstance(found, Reason):
            raise NoNest(found)
        return found

    def moved(
        self, i: HloInstruction, at: Place, values: list[int], origin: Origin
    ) -> tuple[int, ...]:
        """The element of the first read whose guards hold."""
        reads = self.reads(i, at)
        if not reads:
            return (self.constant(0, i.shape.element_type),)
        addressing = [r for r in reads if r.addressing]
        if addressing:  # values of run time get the numbers of what was read for them
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
        else:  # one of the guards holds: the last needs no question
            cases[-1] = Case((), cases[-1].body, cases[-1].value)
        return self.put(
            SelectRegion(next(self.numbers), i.shape.element_type, tuple(cases), origin), depth
        )

    # -- combining ---------------------------------------------------------------------------------
    def reduction(self, i: HloInstruction, at: Place, origin: Origin) -> tuple[int, ...]:
        """A reduction over the axes that the index map brings, renamed to be this nest's own."""
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
        """Convert what a reduction has found in a wide type, if any, to the type of its result."""
        if wide is None:
            return found
        is_product = i.opcode.name in ("dot", "convolution")
        return (
            self.through(
                found[0], sum_steps(i) if is_product else (wide, i.shape.element_type), origin
            ),
        )

    def constant(self, value: object, element: PrimitiveType) -> int:
        return self.put(
            Constant(next(self.numbers), literal_from_array(value, array_shape(element, ()))), 0
        )[0]

    def through(self, value: int, kinds: Sequence[PrimitiveType], origin: Origin | None) -> int:
        """A value of the first of some types, converted to each of the others in turn."""
        for source, target in itertools.pairwise(kinds):
            if source is not target:
                value = self.put(
                    Compute(next(self.numbers), target, _CONVERT, (value,), NO_ATTRIBUTES, origin),
                    self.depth[value],
                )[0]
        return value

    def product(self, values: list[int], element: PrimitiveType) -> int:
        made = Compute(next(self.numbers), element, _MULTIPLY, tuple(values), NO_ATTRIBUTES)
        return self.put(made, max([self.depth[v] for v in values]))[0]

    def combiner(
        self, i: HloInstruction, elements: tuple[PrimitiveType, ...]
    ) -> OpcodeSpec | Combination:
        computation = i.to_apply
        parameters, root = computation.parameters(), computation.root
        if [p.shape.element_type for p in parameters] != [*elements, *elements]:
            raise NoNest(
                refuse(
                    "reducer-of-other-types",
                    f"%{i.name}: its reducer must compute in the types of its operands",
                )
            )
        if len(elements) == 1 and combines_in_any_order(i):
            if identity_element(root.opcode.name, elements[0]) is not None:
                return root.opcode  # what guards leave out is the identity
        numbers = [next(self.numbers) for _ in parameters]
        before, self.scopes = self.scopes, [Scope()]
        self.depth.update(dict.fromkeys(numbers, 0))
        results = self.inlined(computation, numbers)
        body, self.scopes = tuple(self.scopes[0].body), before
        half = len(elements)
        return Combination(tuple(numbers[:half]), tuple(numbers[half:]), body, results)

    def inlined(self, computation: HloComputation, arguments: Sequence[int]) -> tuple[int, ...]:
        """The results of a computation of scalars."""
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
                raise NoNest(
                    refuse(
                        "reducer-not-elementwise",
                        f"scalar code must be elementwise, got %{i.name} ({i.opcode.name})",
                    )
                )
        return tuple([values[o] for o in (root.operands if root.opcode is TUPLE else (root,))])
