"""The rules of the algebraic simplifier, a module for each family of operations, and the pass that applies them."""
