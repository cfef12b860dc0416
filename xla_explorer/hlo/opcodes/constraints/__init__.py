"""Constraints of single opcodes beyond their shape rules.

A constraint checks one instruction and returns None or a Reason. It reads only shapes, attributes
and the signatures of called computations: the verifier shares the result between instructions that
agree in these.
"""
