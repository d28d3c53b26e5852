"""Pictures: plots of columns, mechanisms, block diagrams."""
