"""Tools of agents: typed arguments, answers within a budget, a server for MCP.

Start reading at `tools.py`.
"""
