"""Policies: what is done to a nest where the user asks for nothing else.

Each gives a schedule, or a Reason why the nest stays opaque.
"""
