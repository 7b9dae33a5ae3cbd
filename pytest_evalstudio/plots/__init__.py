"""Drawing for reports and workflows: SVG without scripts, fonts or addresses, and the geometry of charts."""
