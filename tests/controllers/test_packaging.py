"""Files of users as FMUs: model description, several in one process, and errors that name the remedy."""

import inspect
import json
import sys
import textwrap
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from linkwork import controllers
from linkwork.errors import FmuError
from support.python_controllers import in_python

GAIN = """
    from linkwork.controllers import Controller

    class Gain(Controller):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.add_input("A.q", 0.1, "rad", "angle")
            self.add_input("on", True)
            self.add_parameter("k", 1 / 3, "N.m/rad")
            self.add_parameter("label", "none", tunable=False)
            self.add_output("A.tau", "N.m", depends=("A.q",))
            self.add_output("steps", kind=int, depends=())
            self.steps = 0
            self.taken = 0

        def outputs(self, t):
            self["A.tau"] = -self.k * self["A.q"] if self.on else 0.0
            self.steps = self.taken

        def update(self, t, dt):
            self.taken += 1
"""


@pytest.fixture
def write(tmp_path):
    def written(text: str, name: str = "mine.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return written


def test_outputs_follow_inputs_without_a_step(run, write, tmp_path):
    slave = run(controllers.package(write(GAIN), tmp_path / "g.fmu", settings={"k": 2.0}))
    slave.enter()
    slave.set({"A.q": 3.0})
    assert slave["A.tau"] == -6.0  # in Initialization Mode
    slave.fmu.exitInitializationMode()
    slave.set({"A.q": 4.0})
    assert slave.get(["A.tau", "steps"]) == [-8.0, 0]
    slave.step(0.1)
    slave.set({"k": 1.0})
    assert slave.get(["A.tau", "steps"]) == [-4.0, 1]
    slave.set({"on": False})
    assert slave["A.tau"] == 0.0


def test_the_model_description_has_what_pythonfmu_leaves_out(run, write, tmp_path):
    slave = run(controllers.package(write(GAIN), tmp_path / "g.fmu"))
    v = slave.variables
    assert float(v["k"].start) == 1 / 3  # all its digits
    assert [v[n].unit for n in ("A.q", "k", "A.tau")] == ["rad", "N.m/rad", "N.m"]
    assert [v[n].variability for n in ("on", "k", "label", "steps")] == ["discrete", "tunable", "fixed", "discrete"]
    outputs = {one.variable.name: [d.name for d in one.dependencies] for one in slave.description.outputs}
    assert outputs == {"A.tau": ["A.q"], "steps": []}
    initial = {one.variable.name: [d.name for d in one.dependencies] for one in slave.description.initialUnknowns}
    assert initial == {"A.tau": ["A.q", "k", "label"], "steps": ["k", "label"]}
    abilities = slave.description.coSimulation
    assert abilities.canGetAndSetFMUstate
    assert abilities.canSerializeFMUstate


def test_the_same_files_give_the_same_bytes(write, tmp_path):
    source = write(GAIN)
    one, two = (controllers.package(source, tmp_path / f"{n}.fmu").read_bytes() for n in "ab")
    assert one == two
    assert controllers.package(source, tmp_path / "c.fmu", settings={"k": 2.0}).read_bytes() != one


def test_the_first_line_of_the_model_description_states_its_encoding(write, tmp_path):
    """As FMI 2.0 demands, section 2.2."""
    with zipfile.ZipFile(controllers.package(write(GAIN), tmp_path / "g.fmu")) as archive:
        first = archive.read("modelDescription.xml").decode().splitlines()[0]
    assert first.replace("'", '"').lower() == '<?xml version="1.0" encoding="utf-8"?>'


def test_a_plain_slave_gets_variabilities_that_are_allowed(run, write, tmp_path):
    source = write("""
        from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Real

        class Plain(Fmi2Slave):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.p, self.b = 0.1, False
                self.register_variable(Real("p", causality=Fmi2Causality.parameter))
                self.register_variable(Boolean("b", causality=Fmi2Causality.output))

            def do_step(self, t, dt):
                return True
    """)
    slave = run(controllers.package(source, tmp_path / "p.fmu"))
    assert [slave.variables[name].variability for name in "pb"] == ["fixed", "discrete"]


def test_two_of_a_kind_and_others_of_the_same_names_live_in_one_process(run, write, tmp_path):
    # Both files and the modules next to them have the same names.
    text = """
        import factor
        from linkwork.controllers import Controller

        class Mine(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_input("x")
                self.add_output("y")

            def outputs(self, t):
                self.y = factor.VALUE * self.x
    """
    made = []
    for value in (2.0, 3.0):
        source = write(text, f"{value}/mine.py")
        helper = write(f"VALUE = {value}", f"{value}/factor.py")
        made.append(controllers.package(source, tmp_path / f"{value}.fmu", resources=[helper]))
    running = [run(fmu).start({"x": 10.0}) for fmu in (*made, *made)]
    assert [slave["y"] for slave in running] == [20.0, 30.0, 20.0, 30.0]
    running[0].set({"x": 1.0})
    assert [slave["y"] for slave in running] == [2.0, 30.0, 20.0, 30.0]
    assert not {"mine", "factor"} & set(sys.modules)


def test_fmus_that_threads_load_at_once_keep_their_own_modules(run, write, tmp_path):
    text = """
        import time
        import factor
        from linkwork.controllers import Controller

        time.sleep(0.02)
        import later

        class Mine(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_output("y")

            def outputs(self, t):
                self.y = factor.VALUE + later.VALUE
    """
    made = []
    for k in range(6):
        source = write(text, f"{k}/mine.py")
        beside = [write(f"VALUE = {k}", f"{k}/{name}.py") for name in ("factor", "later")]
        made.append(controllers.package(source, tmp_path / f"{k}.fmu", resources=beside))
    with ThreadPoolExecutor(6) as pool:
        running = list(pool.map(lambda fmu: run(fmu).start(), made))
    assert [slave["y"] for slave in running] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_different_ready_controllers_live_in_one_process(run, tmp_path):
    import signal as of_python

    pid = run(in_python("pid", tmp_path / "p.fmu", kp=2.0)).start({"setpoint": 1.0})
    table = run(in_python("signal", tmp_path / "s.fmu", [0, 1], [3, 4])).start()
    hook = run(in_python("skyhook", tmp_path / "h.fmu", c_min=100.0)).start()
    assert [pid["u"], table["y"], hook["c"]] == [2.0, 3.0, 100.0]
    assert sys.modules["signal"] is of_python


def test_resources_lie_beside_the_file(run, write, tmp_path):
    source = write("""
        from pathlib import Path
        from linkwork.controllers import Controller
        from tools.two import TWO

        class Reader(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_output("y", depends=())
                folders = [Path(self.resources), Path(__file__).parent]
                self.table = [(folder / "data.txt").read_text() for folder in folders]

            def outputs(self, t):
                self.y = sum(map(float, self.table)) + TWO
    """)
    write("7.5", "data.txt")
    write("TWO = 2", "tools/two.py")
    requirements = write("numpy>=1.26", "needs.txt")
    fmu = controllers.package(
        source,
        tmp_path / "with spaces.fmu",
        resources=[tmp_path / "data.txt", tmp_path / "tools"],
        requirements=requirements,
    )
    assert run(fmu).start()["y"] == 17.0
    assert zipfile.ZipFile(fmu).read("resources/requirements.txt") == b"numpy>=1.26"


def test_an_exception_is_told_and_the_process_lives_on(run, write, tmp_path, capfd):
    source = write("""
        from linkwork.controllers import Controller

        class Fails(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_input("x")

            def update(self, t, dt):
                raise RuntimeError("too hot")
    """)
    fmu = controllers.package(source, tmp_path / "f.fmu")
    for _ in range(3):
        slave = run(fmu).start()
        with pytest.raises(Exception, match="fmi2DoStep"):
            slave.step(0.1)
        told = capfd.readouterr().err
        assert "failed in do_step" in told
        assert "too hot" in told
    assert run(fmu).start() is not None


def test_what_is_missing_where_it_runs_is_told(run, write, tmp_path, capfd, monkeypatch):
    source = write("""
        import os
        from linkwork.controllers import Controller

        if os.environ.get("AT_THE_CUSTOMERS") == "import":
            import what_they_do_not_have

        class Needy(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_input("x")
                if os.environ.get("AT_THE_CUSTOMERS") == "make":
                    raise OSError("no such device")
    """)
    fmu = controllers.package(source, tmp_path / "n.fmu")
    for where, told in (("import", "No module named 'what_they_do_not_have'"), ("make", "no such device")):
        monkeypatch.setenv("AT_THE_CUSTOMERS", where)
        for _ in range(2):
            with pytest.raises(Exception, match="instantiate"):
                run(fmu)
            assert told in capfd.readouterr().err
    monkeypatch.delenv("AT_THE_CUSTOMERS")
    assert run(fmu).start()["x"] == 0.0


def test_many_instances_leave_the_process_as_it_was(tmp_path, run):
    fmu = in_python("pid", tmp_path / "p.fmu")
    run(fmu).start()
    before = list(sys.path)
    slave = run(fmu)
    for _ in range(50):
        slave.fmu.fmi2FreeInstance(slave.fmu.component)
        slave.fmu.instantiate()
    slave.start({"setpoint": 2.0})
    assert slave["u"] == 2.0
    assert list(sys.path) == before


def test_the_checks_of_fmus_find_nothing_but_what_the_library_cannot(tmp_path):
    from linkwork.fmu.check import check_fmu

    for fmu in (
        in_python("pid", tmp_path / "p.fmu", ki=1.0, output_unit="N.m"),
        in_python("latch_supervisor", tmp_path / "l.fmu", {"latch": "H"}),
    ):
        report = check_fmu(fmu)
        errors = [one.text for one in report.findings() if one.level == "error"]
        assert len(errors) == 1, errors
        assert "a wrong token is accepted" in errors[0]  # PythonFMU does not hand it over
        ran = {outcome.name for outcome in report.outcomes if outcome.skipped is None}
        assert ran >= {"units", "structure", "life", "independence", "steps", "inputs", "snapshots", "serialisation"}


def test_what_is_not_a_number_is_refused_by_name(run, tmp_path, capfd):
    slave = run(in_python("pid", tmp_path / "p.fmu")).start()
    with pytest.raises(Exception, match="fmi2SetReal"):
        slave.set({"measurement": float("nan")})
    assert "measurement is set to a value that is not a number" in capfd.readouterr().err


BASE = "from linkwork.controllers import Controller\nfrom pythonfmu import Fmi2Slave\n"
WRONG = [
    ("x = 1", "defines no controller"),
    ("class A(Controller): pass\nclass B(Controller): pass", "several controllers, A, B: name one"),
    ("class A(Fmi2Slave): pass", "class A does not define do_step"),
    ("class A(Controller): pass", "mine.py: it declares no variables"),
    ("class A(Controller:\n  pass", "line 3: "),
    ("1 / 0", r"cannot be imported: ZeroDivisionError: .* \(line 3\)"),
    ("import sys\nsys.exit(3)", "cannot be imported: SystemExit: 3"),
    ("import nowhere_to_be_found", "install it, or add its file as a resource"),
    ("import beside", r"it is next to the file: add it as a resource, .*beside.py"),
    ("class A(Controller):\n  def __init__(self):\n    pass", "class A cannot be made: TypeError"),
    (
        "class A(Controller):\n  def __init__(self, **k):\n    super().__init__(**k)\n"
        "    self.add_input('u', unit='mile')",
        "mine.py: the unit 'mile'",
    ),
    (
        "class A(Controller):\n  def __init__(self, **k):\n    super().__init__(**k)\n    self.add_input('update')",
        "the name 'update' is taken",
    ),
    (
        "class A(Controller):\n  def __init__(self, **k):\n    super().__init__(**k)\n    self.f = open(__file__)",
        "its state cannot be copied: .*`unsaved`",
    ),
    (
        "class A(Controller):\n  def __init__(self, **k):\n    super().__init__(**k)\n"
        "    self.add_output('y', depends=('x',))",
        "'y' depends on 'x', which is no variable",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
def test_errors_name_the_file_and_the_remedy(write, tmp_path, text, message):
    write("y = 1", "beside.py")
    source = tmp_path / "mine.py"
    source.write_text(BASE + text)
    before = set(sys.modules), list(sys.path)
    with pytest.raises(FmuError, match=message) as caught:
        controllers.package(source, tmp_path / "m.fmu")
    assert str(source) in str(caught.value)
    assert not (tmp_path / "m.fmu").exists()
    assert (set(sys.modules), list(sys.path)) == before


def test_what_is_not_there_or_clashes_is_named(write, tmp_path):
    source = write(GAIN)
    for arguments, options, message in [
        ((tmp_path / "no.py",), {}, "cannot read .*no.py"),
        ((write("", "mine.txt"),), {}, "no Python file"),
        ((source, tmp_path / "none" / "g.fmu"), {}, "no folder .*none; make it first"),
        ((source,), {"resources": [tmp_path / "no.csv"]}, "cannot read .*no.csv"),
        ((source,), {"resources": [write("{}", "slave.json")]}, "rename it"),
        ((source,), {"settings": {"kk": 1}}, "no setting 'kk'; did you mean 'k'"),
        ((source,), {"settings": {"k": {1}}}, "settings must be numbers"),
        ((source,), {"class_name": "Gian"}, "no controller 'Gian'; did you mean 'Gain'"),
    ]:
        with pytest.raises(FmuError, match=message):
            controllers.package(*arguments, **options)


def test_one_of_several_classes_is_named(run, write, tmp_path):
    source = write(GAIN + "\n    class Other(Gain):\n        pass\n    class Third(Gain):\n        pass\n")
    with pytest.raises(FmuError, match="several controllers, Other, Third"):
        controllers.package(source, tmp_path / "g.fmu")
    assert run(controllers.package(source, tmp_path / "g.fmu", class_name="Third")).description.modelName == "Third"


def test_a_state_that_cannot_be_written_as_bytes_is_not_promised(run, write, tmp_path):
    source = write("""
        from linkwork.controllers import Controller

        class Local(Controller):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.add_input("x")
                self.rule = lambda x: x
    """)
    abilities = run(controllers.package(source, tmp_path / "l.fmu")).description.coSimulation
    assert abilities.canGetAndSetFMUstate
    assert not abilities.canSerializeFMUstate


def test_the_command_line(write, tmp_path, capsys, monkeypatch):
    from linkwork.cli.main import main

    monkeypatch.chdir(tmp_path)
    source = write(GAIN)
    assert main(["controller", str(source), "--set", "k=5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == "mine.fmu"
    assert main(["controller", "trajectory", "--set", "points=[[0],[1]]", "--set", 'names=["x"]']) == 0
    assert (tmp_path / "trajectory.fmu").exists()
    assert main(["controller", "--list"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines() if "  " in line} == set(
        controllers.BUILTIN
    )
    for name in controllers.BUILTIN:
        with pytest.raises(SystemExit) as done:
            main(["controller", name, "--help"])
        said = capsys.readouterr().out
        assert done.value.code == 0
        assert f"linkwork.controllers.{name}(" in said
        assert all(argument in said for argument in inspect.signature(getattr(controllers, name)).parameters)
    for arguments in (["--help"], ["mine.py", "-h"]):
        with pytest.raises(SystemExit):
            main(["controller", *arguments])
        assert "--resource" in capsys.readouterr().out
    for arguments, message in [
        (["pdi"], "did you mean 'pid'"),
        (["pid", "--set", "kpp=1"], "no setting 'kpp'"),
        (["signal"], "'times'"),
        (["computed_torque"], "from Python"),
        (["pid", "-o", "none/p.fmu"], "no folder none"),
    ]:
        assert main(["controller", *arguments]) == 1
        assert message in capsys.readouterr().err
    for arguments in ([], ["pid", "--set", "kp"], ["pid", "--resource", "x"]):
        with pytest.raises(SystemExit):
            main(["controller", *arguments])
    capsys.readouterr()


def test_importing_the_room_loads_no_pythonfmu():
    import subprocess

    heavy = {"pythonfmu", "fmpy", "scipy.linalg"}
    code = f"import linkwork.controllers, linkwork.cli.main, sys; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
