"""Reason codes of collectives that stay in their iteration (collective-pipeliner)."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_STORE = "store its result, and nothing else, in a slice of the loop's state"
PIPELINING = table(
    {
        "not-one-value": (
            "the collective has several operands, or an order of its own",
            "%all-reduce has several operands or control edges",
            "nothing to do: only collectives of one array are pipelined",
        ),
        "used-otherwise": (
            "an instruction other than a slice of the state reads the collective",
            "%add uses %all-reduce outside of a slice",
            _STORE,
        ),
        "not-one-slice": (
            "the result reaches no slice of the state, or several",
            "%all-reduce is stored in 2 slices",
            _STORE,
        ),
        "several-indices": (
            "the slice is not indexed along one dimension",
            "%dynamic-update-slice moves along 2 dimensions",
            "index one dimension by the loop's counter, the others by zero",
        ),
        "not-state": (
            "the slice is not one of the same element of the state",
            "%dynamic-update-slice does not update its element of the state",
            "update the buffer that the loop carries",
        ),
        "state-read": (
            "the loop reads the buffer that it fills",
            "element 1 of the state is read by others",
            "read the buffer after the loop only",
        ),
        "index-not-linear": (
            "the index of the slice does not move in equal steps",
            "%index does not move in equal steps",
            "index by the counter times a constant, plus a constant",
        ),
        "not-covered": (
            "the slices of all iterations are not the rows of the buffer, each once",
            "%dynamic-update-slice does not write each of its 4 rows",
            "let each iteration write one row of dimension 0",
        ),
    },
)
