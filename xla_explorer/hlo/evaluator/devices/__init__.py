"""Collectives, replicated runs, infeed, send and receive."""
