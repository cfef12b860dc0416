"""Policies: default schedules of loop nests.

Each returns a schedule, or the reason for opaque code.
"""
