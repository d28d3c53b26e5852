"""From a description to a compiled system: graph, numbering, serialised model."""
