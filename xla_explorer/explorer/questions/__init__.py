"""History, decisions, provenance, overrides, bisection, minimization."""
