"""Constraints of single opcodes that a shape rule does not express.

A constraint sees one instruction and returns None or a Reason. It reads shapes, attributes and the signatures of called
computations, and nothing else: the verifier asks once for all instructions that agree in these.
"""
