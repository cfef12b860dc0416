"""Twenty JAX programs with three planted mistakes each, and how many of them are named."""
