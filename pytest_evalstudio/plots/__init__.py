"""Drawings for reports and workflows: SVG without scripts, fonts or addresses."""
