"""Shared parts of tests: programs, fakes, limits of time."""
