"""Templates of new backends, for XLA's three scenarios."""
