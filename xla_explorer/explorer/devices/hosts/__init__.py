"""Profiles of several hosts, joined: clocks, meetings in collectives, stragglers, links."""
