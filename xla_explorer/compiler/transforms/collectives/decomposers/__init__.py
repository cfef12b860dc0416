"""Collectives as other collectives and local operations."""
