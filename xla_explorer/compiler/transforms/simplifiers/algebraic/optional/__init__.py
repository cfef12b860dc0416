"""Rules that an option of the algebraic simplifier enables, as in XLA."""
