"""Equality of two programs: tricks refused, right rewrites accepted."""
