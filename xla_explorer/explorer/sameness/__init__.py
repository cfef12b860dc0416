"""Equality of two programs: adversarial arguments, tricks, tiers, reproducers."""
