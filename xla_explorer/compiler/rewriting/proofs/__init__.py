"""Proofs of rewrite rules by an SMT solver: both sides as terms, equal for every value.

A rule's example is retyped and resized as by `claim_check`. Each parameter element becomes a
symbol. The modules before and after the rule become a term for each result element, and the solver
decides whether two terms can differ. Integers are bit-vectors and floats are IEEE numbers; a claim
`real` is an identity of real numbers. An opcode without a meaning here is an uninterpreted
function, which is sound: equal terms stay equal for whatever it computes.
"""
