"""Passes that express one operation by simpler ones."""
