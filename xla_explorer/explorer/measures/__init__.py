"""What it costs: times, kernels, buffers, counters of the emulator, timelines, charts."""
