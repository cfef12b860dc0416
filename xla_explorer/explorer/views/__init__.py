"""Journal and snapshots as neutral picture data, and that data as SVG, DOT, HTML and text. Knows neither HLO nor
Jupyter."""
