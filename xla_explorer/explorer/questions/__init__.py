"""History, decisions, rules, provenance, overrides, bisection, reduction."""
