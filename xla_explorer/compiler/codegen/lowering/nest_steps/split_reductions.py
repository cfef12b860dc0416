"""The step `split-reductions`: each thread reduces its own elements, then threads combine results.

A reduction over loops and threads becomes one over threads, whose element is a private reduction of
each thread. The private one begins with the identity element, and the initial value is combined
once, at the end. Combiners of several operations have no identity, so each thread begins with the
initial values; combining these again must change nothing, as for argmax.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Combination,
    Constant,
    LoopNest,
    Reduce,
    Statement,
)
from xla_explorer.compiler.codegen.nest.launch import crosses_threads
from xla_explorer.compiler.codegen.nest.policies.base import is_sum_of_products
from xla_explorer.compiler.codegen.nest.rewriting import rewritten
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.shape import array_shape


def with_private_reductions(nest: LoopNest) -> LoopNest:
    """Return the nest whose reductions over threads have private parts."""
    body = rewritten(nest.body, partial(_split, numbers=itertools.count(nest.fresh_id())))
    return nest if body is nest.body else replace(nest, body=body)


def _split(s: Statement, numbers: Iterator[int]) -> Statement | None:
    if not isinstance(s, Reduce) or s.each or not crosses_threads(s):
        return None
    own = tuple([b for b in s.axes if not b.kind.is_launched])
    if not own and not s.guards:
        return None
    start: Body = ()
    initial = s.initial
    if not isinstance(s.combiner, Combination):
        start, initial = (begin := _begin(s, next(numbers)),), (begin.id,)
    ids = tuple([next(numbers) for _ in s.ids])
    private = replace(s, ids=ids, initial=initial, axes=own)
    launched = tuple([b for b in s.axes if b.kind.is_launched])
    return replace(s, axes=launched, body=(*start, private), values=ids, guards=())


def _begin(s: Reduce, number: int) -> Constant:
    """Return the constant with which each thread begins.

    Sums of products begin with 0, which multiply-adds keep in the zero register.
    """
    assert not isinstance(s.combiner, Combination)
    (element,) = s.elements
    value = 0.0 if is_sum_of_products(s) else identity_element(s.combiner.name, element)
    return Constant(number, literal_from_array(value, array_shape(element, ())))


SPLIT_REDUCTIONS = NestStep(
    "split-reductions",
    "Let each thread reduce its own elements before threads combine their results.",
    with_private_reductions,
    for_cpus=False,
)
