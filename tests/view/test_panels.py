"""What the panels of the page compute: numbers, searches, decimation, the player."""

from support.viewer import program, run


def test_panels(tmp_path):
    """The checks of viewer/test/panels.ts."""
    run(program("panels", tmp_path))
