"""Loop nests as kernels: for every schedule the emulated values are those of the evaluator, and no thread races with another."""

import random
from collections import Counter

import pytest

from tests.backends.gpu.emitters.emitter_runner import run
from tests.compiler.codegen.nest.nest_checks import assert_near
from tests.compiler.codegen.nest.test_directives import BODIES, COMPUTATIONS, plain
from xla_explorer.backends.gpu.emitters.drafts import NestSchedule
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_draft
from xla_explorer.backends.gpu.emitters.selection import finished
from xla_explorer.compiler.codegen.kernels import load_kernel_writers
from xla_explorer.compiler.codegen.kernels.kernel import kernel_slots
from xla_explorer.compiler.codegen.nest.schedule import parse_directives, run_schedule
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.foundation.reason import Reason

NAMES = ("split", "split", "split", "vectorize", "unroll", "reorder", "collapse", "block", "block", "thread", "thread", "warp")


def random_text(choice, nest):
    """A directive, often one that is refused."""
    name, axes = choice.choice(NAMES), list(nest.axes())
    axis = choice.choice(axes)
    following = axes[(axes.index(axis) + 1) % len(axes)]
    if name == "split":
        return f"split{{{axis},{choice.choice((2, 3, 4, 8, 16))}}}"
    if name in ("reorder", "collapse"):
        return f"{name}{{{axis},{following}{choice.choice(('', ',repeating')) if name == 'collapse' else ''}}}"
    return f"{name}{{{axis}}}"


def scheduled(nest, text):
    """The nest with the directives of a text, none of which is refused."""
    found, trace = run_schedule(nest, parse_directives(text))
    assert all(step.changed for step in trace.steps), [(str(step.name), step.changed) for step in trace.steps]
    return found


def run_nest(text, nest, *inputs, assemble=False):
    """The kernel of a nest of a module's root."""

    def write(root, facts):
        load_kernel_writers()
        draft = nest_draft(root, NestSchedule((), nest, "loop-nest", ""), kernel_slots(root))
        assert not isinstance(draft, Reason), draft
        return finished(draft, kernel_slots(root), ())

    return run(text, *inputs, assemble=assemble, write=write)


def module_of(body):
    return f"HloModule m\n{COMPUTATIONS}\nENTRY main {{ {BODIES[body]} }}"


def check_random_schedules(seed, count):
    choice, seen = random.Random(seed), Counter()
    for _ in range(count):
        body = choice.choice(list(BODIES))
        nest, operands, wanted = plain(body)
        done = []
        for _ in range(choice.randint(1, 9)):
            (directive,) = parse_directives(random_text(choice, nest))
            after, _ = run_schedule(nest, [directive])
            done += [str(directive)] if after is not nest else []
            nest = after
        try:
            assert_near(run_nest(module_of(body), nest, *operands).values, wanted, f"{body}: {','.join(done)}\n{nest_text(nest)}")
        except BaseException:
            print(body, ",".join(done), nest_text(nest), sep="\n")
            raise
        seen.update([text.partition("{")[0] for text in done])
    return seen


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(1)
def test_random_schedules_give_equal_values(seed):
    seen = check_random_schedules(seed, 10)
    assert {"split", "thread"} <= seen.keys(), seen
