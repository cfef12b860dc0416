"""Services without HLO: reasons, diagnostics, the journal, names, child processes.

Start reading at `reason.py`.
"""
