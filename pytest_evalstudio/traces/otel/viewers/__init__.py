"""Scores beside the spans of a viewer of traces, by the viewer's own interface: a module per viewer."""
