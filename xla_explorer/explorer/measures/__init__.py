"""Times, kernels, buffers, emulator counters, timelines, charts."""
