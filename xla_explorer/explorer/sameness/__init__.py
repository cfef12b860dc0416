"""Whether two programs are the same: adversarial arguments, tricks, tiers, reproducers."""
