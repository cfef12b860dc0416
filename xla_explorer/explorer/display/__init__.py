"""What everything shows itself with: text, HTML tables, code with colours, wide frames, numbers with units."""
