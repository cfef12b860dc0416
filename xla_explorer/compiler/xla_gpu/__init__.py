"""How XLA:GPU emits and fuses kernels, for replays."""
