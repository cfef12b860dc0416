"""The algebraic simplifier: its rules, a module for each family of operations, and the pass."""
