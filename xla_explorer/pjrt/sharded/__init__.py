"""Programs for several virtual devices: the shardings of arguments and results."""
