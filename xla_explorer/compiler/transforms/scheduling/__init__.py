"""Scheduling: the order of execution of every computation, and its streams."""
