"""History, decisions, rules, provenance, overrides, bisection, minimization."""
