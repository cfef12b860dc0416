"""Collectives of a loop moved to another iteration or out of the loop (collective-pipeliner)."""
