"""No HLO here: reasons, diagnostics with source spans, the journal, unique names, optional packages."""
