"""How XLA:GPU emits kernels, how long it takes them to be, and which become one with several results: for replays; no pass of ours."""
