"""Programs of several devices: propagation of shardings, and the partitioner."""
