"""Passes on programs for several devices."""
