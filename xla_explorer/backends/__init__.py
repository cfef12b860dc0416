"""Backends: the interfaces, the registry over entry points, and one folder per backend."""
