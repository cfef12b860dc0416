"""Borders of shardings as domain instructions."""
