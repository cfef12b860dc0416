"""Exercises by name, deadlines, random programs, small counter-examples."""
