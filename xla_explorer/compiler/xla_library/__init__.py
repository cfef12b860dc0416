"""XLA:CPU's choice of operations for YNNPACK, for replays."""
