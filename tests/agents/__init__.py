"""The tools of agents and their server."""
