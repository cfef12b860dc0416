"""What the policy `xla` does in XLA's order: groups of devices, halos, and methods."""
