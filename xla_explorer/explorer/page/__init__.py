"""The explorer itself: what the widget, the exported page and the static form read, and the front end."""
