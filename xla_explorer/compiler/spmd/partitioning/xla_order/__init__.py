"""Steps of the policy `xla` in XLA's order: groups of devices, halos, and methods."""
