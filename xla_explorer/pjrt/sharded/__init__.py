"""Programs for several virtual devices: how arguments and results lie on them."""
