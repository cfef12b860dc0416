"""Starts, dones and tokens of collectives and feeds."""
