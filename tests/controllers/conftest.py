"""Controllers need PythonFMU and FMPy; `run` makes instances of FMUs and frees them."""

import pytest


@pytest.fixture(autouse=True)
def tools(needs):
    needs("fmpy")
    needs("pythonfmu")


@pytest.fixture
def run(tmp_path, tools):
    from support.slaves import slaves

    with slaves(tmp_path) as made:
        yield made
