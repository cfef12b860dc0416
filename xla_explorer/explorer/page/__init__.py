"""The widget, the exported page and the static form, with their script."""
