"""Passes that remove what a module has for one target."""
