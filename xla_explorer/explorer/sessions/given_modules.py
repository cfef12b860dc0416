"""`xe.verify` and `xe.evaluate` for everything that holds a module."""

from __future__ import annotations

import inspect
from typing import Any

from xla_explorer.explorer.sessions.arguments import Result, Signature
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.explorer.sessions.pytrees import is_node
from xla_explorer.foundation.keywords import check_keywords, explains_arguments
from xla_explorer.foundation.limits import limited_run
from xla_explorer.hlo import evaluator, verifier
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.verifier import VerifierOptions


@explains_arguments
@limited_run()
def verify(module: ModuleLike, options: VerifierOptions | None = None) -> None:
    """Check that a module is well formed.

    Source: xla/service/hlo_verifier.cc for the module, the StableHLO constraints of each opcode for
    instructions.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        A module, HLO text, the path of a file, or an object that has a module.
    options : VerifierOptions, optional
        The checks; by default those of XLA.

    Raises
    ------
    HloVerifyError
        The module breaks rules; `.violations` has every one, with code, place and message.
    HloParseError
        The text is malformed.
    LoadError
        The file cannot be read.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.verify("ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }")
    """
    if options is None:
        verifier.verify(as_module(module))
    else:
        verifier.verify(as_module(module), options)


@explains_arguments
@limited_run()
def evaluate(module: ModuleLike, *arrays: Any, **options: Any) -> Result:
    """Return the result of a module by the reference evaluator, which is numpy.

    ElidedConstantsWarning is given if the text omits values of constants.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        As for `xe.verify`.
    *arrays
        One argument per parameter: an array of the parameter's dtype and dimensions, a Python
        number, or a tuple of such for a tuple parameter. Pytrees of the arrays are accepted too.
    **options
        `evaluator`, `max_elements`, `as_xla_cpu` and the others of `hlo.evaluator.evaluate`.

    Returns
    -------
    array, tuple or pytree
        As a session returns it: the pytree of a traced JAX function, else an array or (nested)
        tuples of arrays.

    Raises
    ------
    EvaluationError, ArgumentError
        An argument does not fit; the message names the parameter, what it must be and what was
        given.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> square = "ENTRY main { x = f32[] parameter(0) ROOT r = f32[] multiply(x, x) }"
    >>> float(xe.evaluate(square, 3.0))
    9.0
    """
    source = as_module(module)
    warn_of_elided_constants(source)
    check_keywords(
        "xe.evaluate has no", options, list(inspect.signature(evaluator.evaluate).parameters)[2:]
    )
    if any(map(is_node, arrays)):
        arrays = tuple(Signature(source).leaves(arrays))
    found = evaluator.evaluate(source, *arrays, **options)
    if source.out_tree is None:
        return found
    return Signature(source).pack(found if isinstance(found, tuple) else (found,))
