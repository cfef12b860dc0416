"""Loop nests: the representation between HLO and LLVM IR of a kernel, as immutable data.

Begin with `ir.py`. `plain_nests/` makes the nest of an HLO instruction, `verifier.py` proves it,
`meaning.py` evaluates it in numpy. `schedule.py` applies `directives/`, which `policies/` choose.
`lowering/` writes SSA records.
"""
