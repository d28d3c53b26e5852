"""Films: frames, durations, one view for all frames, files of each kind, and what is refused."""

import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image, ImageSequence

import linkwork as lw
from linkwork.cli.main import main
from linkwork.errors import LinkworkError, MechanismError
from linkwork.view import film, film_files
from linkwork.view.film import Film, _Shots

SIZE = (192, 144)


@pytest.fixture(scope="module")
def result() -> lw.Result:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_point("tip", "arm", (1, 0, 0))
    return lw.simulate(mech, t_end=1.0)


def frames(path) -> list[np.ndarray]:
    with Image.open(path) as image:
        return [np.array(one.convert("RGB")) for one in ImageSequence.Iterator(image)]


def duration(path) -> int:
    with Image.open(path) as image:
        found = 0
        for one in ImageSequence.Iterator(image):
            one.load()
            found += int(one.info["duration"])
        return found


@pytest.mark.parametrize("suffix", [".gif", ".webp", ".png"])
def test_frames_and_durations(result, tmp_path, suffix) -> None:
    path = result.film(tmp_path / f"run{suffix}", fps=10, size=SIZE)
    found = frames(path)
    assert len(found) == 11
    assert found[0].shape == (144, 192, 3)
    assert duration(path) == pytest.approx(1100, abs=1)
    assert (found[0] != found[-1]).any()
    corner = found[0][:20, :20]
    assert corner.min() > 250  # paper
    assert all(np.abs(one[:20, :20].astype(int) - corner).max() < 4 for one in found)


def test_slow_motion_and_parts_of_the_run(result, tmp_path) -> None:
    slow = result.film(tmp_path / "slow.gif", fps=10, speed=0.5, size=SIZE)
    assert len(frames(slow)) == 21
    part = result.film(tmp_path / "part.gif", fps=30, t_start=0.25, t_end=0.5, size=SIZE)
    assert len(frames(part)) == 9
    assert duration(part) == 300  # hundredths of a second do not add up
    one = result.film(tmp_path / "one.gif", t_start=0.5, t_end=0.5, size=SIZE)
    assert len(frames(one)) == 1


def test_numbered_pictures(result, tmp_path) -> None:
    result.film(tmp_path / "run_%03d.png", fps=5, size=SIZE)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"run_{k:03d}.png" for k in range(1, 7)]


def test_all_frames_have_one_view_and_show_all_of_the_motion(result) -> None:
    planned = Film(np.linspace(0, 1, 21), 20.0, (640, 360), [], ["tip", "arm"])
    shots = _Shots(result, planned, planned.size)
    fixed = shots.canvas(np.zeros(3))
    for k in range(21):
        shots.parts(k)
        assert (shots.canvas(np.zeros(3)) == fixed).all()
        places = np.array([shots.canvas(point) for point in shots.scenes[k].points])
        assert (places > 0).all()
        assert (places < (shots.canvas.width, shots.canvas.height)).all()
    tip = np.array([result.at(t, ["tip.r"])["tip.r"] for t in planned.t])
    np.testing.assert_allclose(shots.traces[0], tip, atol=1e-12)
    assert "t = 0.05 s" in shots.parts(1)[-1]


def test_plots_next_to_the_mechanism(result, tmp_path) -> None:
    plain = frames(result.film(tmp_path / "plain.png", fps=2, size=(480, 240)))
    plots = frames(result.film(tmp_path / "plots.png", fps=2, size=(480, 240), columns="*.q", traces="tip"))
    assert plain[0].shape == plots[0].shape == (240, 480, 3)
    lines = [np.flatnonzero((one[:, 280:] == (200, 60, 40)).all(axis=2).any(axis=0)) for one in plots]
    assert all(len(one) for one in lines)
    assert lines[0].max() < lines[1].min() < lines[2].min()


def test_progress(result, tmp_path) -> None:
    found = []
    result.film(tmp_path / "run.gif", fps=4, size=SIZE, progress=found.append)
    assert found
    assert found[-1].fraction <= 1.0
    assert "of 5 frames" in found[-1].text


def test_mp4(result, tmp_path) -> None:
    try:
        ffmpeg = film_files._ffmpeg()
    except LinkworkError:
        pytest.skip("ffmpeg is not installed")
    path = result.film(tmp_path / "run.mp4", fps=10, size=(193, 145))
    assert path.read_bytes()[4:8] == b"ftyp"
    command = [ffmpeg, "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    found = np.frombuffer(raw, np.uint8).reshape(-1, 146, 194, 3)
    assert len(found) == 11
    assert np.abs(found[0].astype(int) - found[-1]).max() > 100


def test_without_ffmpeg_the_error_names_the_remedy(result, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(LinkworkError, match=r"need the program ffmpeg.*apt install ffmpeg.*write a \.gif"):
        result.film(tmp_path / "run.mp4", size=SIZE)
    assert not list(tmp_path.iterdir())


def test_a_failure_of_ffmpeg_is_told(result, tmp_path, monkeypatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'no such codec' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(film_files, "_ffmpeg", lambda: str(program))
    with pytest.raises(LinkworkError, match="ffmpeg failed: no such codec"):
        result.film(tmp_path / "run.mp4", size=SIZE)
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


def test_without_pillow_the_error_names_the_extra(result, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match=r"films need Pillow: pip install 'linkwork\[film\]'"):
        result.film(tmp_path / "run.gif", size=SIZE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "run.avi"}, "films are '.mp4', '.gif', '.webp'"),
        ({"path": "none/run.webp"}, "there is no folder .*none; make it first"),
        ({"path": "run_%d.gif"}, "numbered pictures are .png files"),
        ({"fps": 0}, "fps must be positive"),
        ({"fps": 60}, r"\.gif films have at most 50 frames per second"),
        ({"speed": -1}, "speed must be positive"),
        ({"speed": 1e-6}, "more than 20000 frames: raise speed"),
        ({"fps": 1e-9}, r"films have at least 0\.1 frames per second"),
        ({"size": (10, 10)}, "size must be two whole numbers of pixels"),
        ({"size": 300}, "size must be two whole numbers of pixels"),
        ({"size": (480.7, 270.0)}, "size must be two whole numbers of pixels"),
        ({"size": (np.inf, 100)}, "size must be two whole numbers of pixels"),
        ({"t_end": 2.0}, "must lie in the result, 0 to 1 s"),
        ({"t_start": 0.5, "t_end": 0.2}, "must lie in the result"),
        ({"traces": ["top"]}, "no point of interest or body 'top': did you mean 'tip'"),
        ({"columns": ["nothing"]}, "nothing"),
    ],
)
def test_what_is_refused(result, tmp_path, options, message) -> None:
    given = {"path": "run.gif", "size": SIZE, **options}
    with pytest.raises(LinkworkError, match=message):
        result.film(tmp_path / given.pop("path"), **given)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_missing_is_told_before_frames_are_drawn(result, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(film, "_frames", lambda *_: pytest.fail("frames are drawn"))
    with pytest.raises(LinkworkError, match="there is no folder"):
        result.film(tmp_path / "none" / "run.webp", size=SIZE)


def test_unknown_arguments_and_empty_results(result, tmp_path) -> None:
    with pytest.raises(TypeError, match="film has no argument 'duration': did you mean 't_end'"):
        result.film(tmp_path / "run.gif", duration=3.0)
    empty = lw.simulate(result.model.mechanism, t_end=0.1, t_eval=[])
    with pytest.raises(MechanismError, match="no rows"):
        empty.film(tmp_path / "run.gif")


def test_the_command_writes_films_and_models(result, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result.model.mechanism.save("pendulum.json")
    assert main(["simulate", "pendulum.json", "--t-end", "0.1", "-o", "run.gif", "-o", "run.glb"]) == 0
    assert len(frames("run.gif")) == 4
    assert (tmp_path / "run.glb").read_bytes()[:4] == b"glTF"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    assert main(["simulate", "pendulum.json", "--t-end", "0.1", "-o", "run.mp4"]) != 0
    assert "need the program ffmpeg" in capsys.readouterr().err
