"""Notebook 17, dataflow analysis: liveness, a generic solver, and dominators."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from xla_explorer.course.checking.registry import Cases, WrongAnswerError, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.explorer.session import Session

Given = Mapping[str, Sequence[str]]
_NAME = re.compile(r"%([\w.$-]+)")
_DEFINED = re.compile(r"\s*%([\w.$-]+) =")
_VARIABLES = ("a", "b", "c", "d")


class Block(NamedTuple):
    """A basic block.

    uses: the names that it reads before it writes them. defines: the names that it writes. goes_to:
    labels.
    """

    uses: frozenset[str]
    defines: frozenset[str]
    goes_to: tuple[str, ...]


Blocks = dict[str, Block]


def flow_of(session: Session, kernel: str) -> Blocks:
    """Return the basic blocks of a kernel's emitted LLVM IR, by label, the entry first.

    Operands of a `phi` count as uses in its block.
    """
    basic = session.llvm.control_flow(kernel, stage="llvm-ir").basic_blocks
    labels = {block.label for block in basic}
    found: Blocks = {}
    for block in basic:
        uses: set[str] = set()
        defines: set[str] = set()
        for line in block.lines:
            if line.text.startswith("define"):
                continue
            made = _DEFINED.match(line.text)
            read = _NAME.findall(line.text[made.end() :] if made else line.text)
            uses |= {name for name in read if name not in defines and name not in labels}
            if made:
                defines.add(made[1])
        found[block.label] = Block(frozenset(uses), frozenset(defines), block.goes_to)
    return found


def text_of(blocks: Blocks) -> str:
    """Return a line for each block."""

    def names(some: frozenset[str]) -> str:
        return ", ".join(sorted(some)) or "nothing"

    return "\n".join([(f"{label}: uses {names(b.uses)}; defines {names(b.defines)}; goes to "
    f"{', '.join(b.goes_to) or 'the end'}")
                      for label, b in blocks.items()])  # fmt: skip


def random_blocks(seed: int, count: int) -> Blocks:
    """Return a flow graph with `count` blocks that are all reachable from the first."""
    choice = random.Random(seed)
    labels = [f"B{n}" for n in range(count)]
    goes: dict[str, list[str]] = {label: [] for label in labels}
    for n in range(1, count):
        goes[labels[choice.randrange(max(0, n - 3), n)]].append(labels[n])
    for _ in range(choice.randint(0, count)):
        goes[choice.choice(labels)].append(choice.choice(labels))
    order = labels[:1] + choice.sample(labels[1:], count - 1)

    def some(share: float) -> frozenset[str]:
        return frozenset(v for v in _VARIABLES if choice.random() < share)

    return {
        label: Block(some(0.25), some(0.35), tuple(dict.fromkeys(goes[label]))) for label in order
    }


def _flows() -> list[Blocks]:
    loop = {"entry": Block(frozenset(), frozenset("ab"), ("loop",)), "loop": Block(frozenset("a"), frozenset("a"), ("loop", "end")),
            "end": Block(frozenset("b"), frozenset(), ())}  # fmt: skip
    two_ways = {"top": Block(frozenset(), frozenset("a"), ("left", "right")), "left": Block(frozenset(), frozenset("a"), ("join",)),
                "right": Block(frozenset(), frozenset(), ("join",)), "join": Block(frozenset("a"), frozenset(), ())}  # fmt: skip
    never = {
        "top": Block(frozenset("a"), frozenset(), ("again",)),
        "again": Block(frozenset(), frozenset("b"), ("again",)),
    }
    return [loop, two_ways, never, *[random_blocks(seed, 1 + seed // 8) for seed in range(100)]]


def _is_alive(blocks: Blocks, label: str, name: str) -> bool:
    # A path from the block's beginning to a use, on which nothing defines the name before.
    seen, todo = {label}, [label]
    while todo:
        block = blocks[todo.pop()]
        if name in block.uses:
            return True
        if name not in block.defines:
            todo += [other for other in block.goes_to if other not in seen]
            seen.update(block.goes_to)
    return False


def _mapped(blocks: Blocks, got: Any) -> dict[str, set[str]]:
    if (
        not isinstance(got, dict)
        or set(got) != set(blocks)
        or any(not isinstance(v, (set, frozenset)) for v in got.values())
    ):
        raise WrongAnswerError(Failure("no-sets", f"The answer is a dictionary with a set for each block of\n{text_of(blocks)}",
                                  f"sets for {', '.join(blocks)}", repr(got)[:400]))  # fmt: skip
    return {label: set(values) for label, values in got.items()}


@exercise(
    "nb17.live_in",
    "Write live_in(blocks): for each label the set of names that are alive where its block begins.",
    "A name is alive there when the block uses it, or does not define it and a following block "
    "needs it.",
    hints=(
        "live_in[b] = uses[b] | (live_out[b] - defines[b]); live_out[b] is the union of live_in over goes_to.",
        (
            "Begin with empty sets, and iterate until nothing changes: a loop needs a second "
            "iteration."
        ),
        "The order of the blocks determines the number of iterations, not the result.",
    ),
)
def live_in(function: Callable[[Blocks], Any]) -> Cases:
    """Check loops, joining paths and endless loops, then random graphs of 1 to 13 blocks."""
    for blocks in _flows():
        want = {
            label: {name for name in _VARIABLES if _is_alive(blocks, label, name)}
            for label in blocks
        }
        got = _mapped(blocks, function(dict(blocks)))
        yield _first_other("alive", blocks, want, got)


def _first_other(
    word: str, blocks: Blocks, want: dict[str, set[str]], got: dict[str, set[str]]
) -> Failure | None:
    label = next((label for label in blocks if want[label] != got[label]), None)
    if label is None:
        return None
    extra, missing = sorted(got[label] - want[label]), sorted(want[label] - got[label])
    code, what, hint = (
        (f"not-{word}", f"{extra[0]} is not in the set", "Follow every path by hand: what is the first that happens?") if extra
        else (f"missed-{word}", f"{missing[0]} is missing", "Is there a path through a loop first?")
    )  # fmt: skip
    where = f"At {label}, {what}. The blocks:\n{text_of(blocks)}"
    return Failure(code, where, repr(sorted(want[label])), repr(sorted(got[label])), hint=hint)


@exercise(
    "nb17.solve",
    "Write solve(given, update, bottom): the least values with value[n] = update(n, [value[g] "
    "for g in given[n]]).",
    "All values are `bottom` at first, and every node waits to be computed.",
    hints=(
        (
            "When the value of n changed, all nodes that have n among their given ones must be "
            "computed again, and no others."
        ),
        "Make a table of the readers of each node before you begin.",
        "A node that waits already need not wait twice.",
    ),
)
def solve(function: Callable[[Given, Callable[[str, list[Any]], Any], Hashable], Any]) -> Cases:
    """Check longest paths, minima and unions, also on long chains in a bad order.

    A node is computed again only for a change of a given one.
    """
    for given, update, bottom in _systems():
        values, calls, allowed = dict.fromkeys(given, bottom), 0, len(given)
        readers = {n: sum([n in others for others in given.values()]) for n in given}
        budget = 50 * len(given) ** 2 + 1000

        def counted(node: str, of_given: Sequence[Any], update: Any = update, values: Any = values, readers: Any = readers,
                    budget: int = budget, given: Given = given) -> Any:  # fmt: skip
            nonlocal calls, allowed
            calls += 1
            if node not in given or len(list(of_given)) != len(given[node]):
                raise WrongAnswerError(Failure("other-arguments", f"update was called for {node!r} with {list(of_given)!r}.",
                                          "a node and the values of its given ones, in order", repr(node)))  # fmt: skip
            if calls > budget:
                raise WrongAnswerError(Failure("no-end", f"update was called {calls} times for {len(given)} nodes.", "an end", "none",
                                          hint="Only a *changed* value puts readers on the worklist."))  # fmt: skip
            value = update(node, list(of_given))
            if value != values[node]:
                values[node], allowed = value, allowed + readers[node]
            return value

        want = _fixpoint(given, update, bottom)
        got = function(dict(given), counted, bottom)
        shown = "; ".join(
            [f"{n} from {', '.join(g) or 'nothing'}" for n, g in list(given.items())[:8]]
        )
        if not isinstance(got, dict) or set(got) != set(given):
            raise WrongAnswerError(Failure("no-values", f"The answer is a dictionary with a value for each node. Nodes: {shown}",
                                      repr(want)[:300], repr(got)[:300]))  # fmt: skip
        wrong = next((n for n in given if got[n] != want[n]), None)
        if wrong is not None:
            yield Failure("not-solved", f"The value of {wrong} is not what update gives for it. Nodes: {shown}", repr(want[wrong]),
                          repr(got[wrong]), hint="Was every node on the worklist at first, and every reader of a changed one?")  # fmt: skip
        elif calls > allowed:
            yield Failure("too-often", f"{calls} calls of update for {len(given)} nodes.", f"at most {allowed}", str(calls),
                          hint="Compute a node again only when one of its given values changed, and let it wait only once.")  # fmt: skip
        else:
            yield None


def _fixpoint(given: Given, update: Callable[[str, list[Any]], Any], bottom: Any) -> dict[str, Any]:
    values = dict.fromkeys(given, bottom)
    while True:  # all of them, round by round
        new = {n: update(n, [values[g] for g in given[n]]) for n in given}
        if new == values:
            return values
        values = new


def _systems() -> list[tuple[Given, Callable[[str, list[Any]], Any], Any]]:
    def longest(node: str, before: list[int]) -> int:
        return min(max(before, default=0) + 1, 60)

    def smallest(node: str, before: list[int]) -> int:
        return min([int(node[1:]), *before])

    def collected(node: str, before: list[frozenset[str]]) -> frozenset[str]:
        return frozenset({node}).union(*before)

    chain = {f"n{k}": [f"n{k - 1}"] if k else [] for k in range(40)}
    backwards = dict(reversed(chain.items()))
    ring = {f"n{k}": [f"n{(k + 1) % 30}"] for k in range(30)}
    alone: Given = {"n0": []}
    itself: Given = {"n3": ["n3"]}
    made: list[tuple[Given, Callable[[str, list[Any]], Any], Any]] = [
        (alone, longest, 0), (itself, smallest, 99), (chain, longest, 0), (backwards, longest, 0), (ring, smallest, 99),
        (backwards, collected, frozenset()),
    ]  # fmt: skip
    for seed in range(30):
        choice = random.Random(seed)
        count = 2 + seed // 3
        names = [f"n{k}" for k in range(count)]
        given = {n: choice.sample(names, choice.randint(0, min(3, count))) for n in names}
        made.append((given, (smallest, collected)[seed % 2], (99, frozenset())[seed % 2]))
    return made


@exercise(
    "nb17.dominators",
    "Write dominators(blocks): for each label the set of blocks through which every path from "
    "the entry to it goes.",
    "A block dominates itself. Another block dominates it if it dominates all of its predecessors.",
    hints=(
        (
            "dominators[b] = {b} | the intersection of dominators over the predecessors of b; "
            "those of the entry are {entry}."
        ),
        "Begin with *all* blocks for every one but the entry: empty sets would stay too small.",
        "The first label of the dictionary is the entry, also if a block branches back to it.",
    ),
)
def dominators(function: Callable[[Blocks], Any]) -> Cases:
    """Check the dominators of the same graphs, whose blocks are all reachable."""
    for blocks in _flows():
        want = {
            label: {d for d in blocks if d == label or not _reached(blocks, label, d)}
            for label in blocks
        }
        got = _mapped(blocks, function(dict(blocks)))
        yield _first_other("dominating", blocks, want, got)


def _reached(blocks: Blocks, goal: str, without: str) -> bool:
    entry = next(iter(blocks))
    if entry == without:
        return False
    seen, todo = {entry}, [entry]
    while todo:
        new = [
            other for other in blocks[todo.pop()].goes_to if other not in seen and other != without
        ]
        seen.update(new)
        todo += new
    return goal in seen
