"""The constraints on more than one instruction, by code; numbered M1, M2 ... in this order.

Constraints on one instruction are in `constraints.py`. Source: hlo_verifier.cc, hlo_module.cc,
sharding_verifier.
"""

from __future__ import annotations

MODULE_CONSTRAINTS: dict[str, str] = {
    # the graph
    "entry-absent": "There is an entry computation.",
    "entry-elsewhere": "The entry belongs to the module.",
    "entry-called": "Nothing calls the entry.",
    "root-absent": "Each computation has a root.",
    "root-elsewhere": "The root is in its computation.",
    "operand-elsewhere": "Operands are in the computation of their user.",
    "users-stale": "An operand lists each of its users.",
    "parent-stale": "An instruction is listed in its computation, and under its id.",
    "control-predecessor-elsewhere": "Control predecessors are in the same computation.",
    "cycle": "No instruction depends on itself, by operands and control predecessors.",
    "callee-elsewhere": "Called computations belong to the module.",
    "recursion": "No computation leads back to itself.",
    "name-repeated": "No two instructions have one name.",
    "parameter-number": "Parameter numbers are natural numbers.",
    "parameter-repeated": "No two parameters have one number.",
    "parameter-gap": "Parameter numbers leave out none.",
    # order and pairs
    "schedule-repeats": "A schedule has each instruction once.",
    "schedule-stranger": "A schedule has no instruction of another computation.",
    "schedule-incomplete": "A schedule has all instructions.",
    "schedule-order": "In a schedule, operands and control predecessors precede their users.",
    "pair": "What waits reads what it waits for; a start has one user, its done (or update).",
    "thread": (
        "A called computation runs on the thread of its caller, unless it is started "
        "asynchronously."
    ),
    "channel": (
        "No two kinds of operation share a channel, unless the program runs on several partitions."
    ),
    "global-ids-without-groups": "Groups of global device ids are listed.",
    "global-ids-without-channel": "Global device ids come with a channel.",
    "sharding": "A sharding names no negative device and tiles as many dimensions as the value has.",
    "operand-alias": "A result that has the memory of an operand has the operand's shape.",
    "call-operands": "A custom call of a known target takes the operands of the target.",
    "call-results": "A custom call of a known target returns what the target computes of its operands.",
    # the header
    "entry-layout": (
        "The shapes in entry_computation_layout are those of the entry (with layouts, where "
        "these count)."
    ),
    "alias": "An alias names an output and a parameter of one size, each once.",
    "donor": "A donated parameter exists and is not aliased at once.",
    # buffers
    "pin": "A pin has one alias and holds what it is given.",
    "buffer-from-nowhere": "A buffer in a result comes from a pin or from an operand.",
    "buffer-written-twice": "A buffer is handed on once.",
}
