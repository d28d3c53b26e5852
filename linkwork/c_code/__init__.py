"""Models as C for controllers: files of plain functions."""
