"""One thing, one word, and that word is the field's: private words occur neither in documents nor in messages.

The words of the project are in docs/glossary.md.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from support.checkout import TOP
from support.prose import Text, files, texts

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
SOURCES = (  # folders and files whose comments, docstrings and messages are checked as well
    *("fmu_src", "examples", "build_fmu.py"),
    *(path.relative_to(TOP).as_posix() for path in sorted((TOP / "bench").iterdir()) if path.suffix in (".py", ".c")),
    *(
        "csrc/api",
        "csrc/assembly",
        "csrc/block",
        "csrc/builder",
        "csrc/chou",
        "csrc/continuation",
        "csrc/dae",
        "csrc/dca",
        "csrc/dynamics",
        "csrc/events",
        "csrc/independent_coordinates",
    ),
    *("csrc/include", "csrc/joints", "csrc/loops", "csrc/math", "csrc/model", "csrc/multipliers", "csrc/ode"),
    *("csrc/singular", "csrc/tape", "csrc/tree"),
    *("tests/c", "tests/compiler", "tests/conftest.py", "tests/dae", "tests/data", "tests/fmu", "tests/formula"),
    *("tests/mutation", "tests/project", "tests/support"),
    *(f"linkwork/{one}" for one in ("_util", "cli", "coarse_graining", "comparison", "controllers")),
    *(f"linkwork/{one}" for one in ("core", "cosim", "draw", "fmu", "formula", "mechanism", "model")),
    *("linkwork/results", "linkwork/simulation", "linkwork/variables", "linkwork/view", "solvers"),
)
PYTHON = (*DOCUMENTS, "linkwork", "solvers")  # words that are right in C or of examples
CLAUSE = "is|are|was|were|has|had|stands|comes|came|moves|holds|follows|changes|lies|goes|acts|fails|waits|runs|closes"

SEARCHED_FOR = (
    *("degrees of freedom", "joint torque", "actuator", "generalised coordinates", "constraint stabilisation"),
    *("zero crossing", "parameter study", "quick start", "state event", "time event"),
    *("bump stop", "backlash", "tire", "torque-speed", "anti-roll bar", "one-way clutch", "progressive", "rpm"),
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Of a pattern in which a space is any white space, at word boundaries."""
    return re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word to avoid, the word to use instead, phrases in which it is right, and the folders it is avoided in."""

    pattern: str
    instead: str
    right: tuple[str, ...] = ()
    folders: tuple[str, ...] = ("",)

    def hits(self, text: Text) -> Iterator[tuple[int, str]]:
        """Lines and words of a text, those in a right phrase excepted."""
        spans = [match.span() for phrase in self.right for match in compiled(phrase).finditer(text.words)]
        for match in compiled(self.pattern).finditer(text.words):
            if not any(start <= match.start() and match.end() <= end for start, end in spans):
                yield text.line + text.words.count("\n", 0, match.start()), " ".join(match[0].split())


WORDS = (
    # Mechanics
    Word("ears?", "loop", ("ear decomposition", "called an ear in graph theory", "ears of graph theory")),
    Word("freedoms?", "degree of freedom", ("degrees? of freedom",)),
    Word("rooms?", "workspace, scratch, capacity"),
    Word(
        "lanes?",
        "independent column; lane is a part of a SIMD register",
        ("SIMD lanes?", r"(?:two|four|eight|\d+) lanes", "lanes? of (?:a|the) register"),
    ),
    Word("surveys?", "loop closure", ("Co-simulation: a survey", "Computing Surveys")),
    Word("meetings?", "loop closure"),
    Word("meets?", "coincide, satisfy", ("paths meet", "where they meet")),
    Word("cut frames?", "joint constraint frame, frame of the cut joint"),
    Word("held (?:rows|directions|speeds)|own rows", "constrained directions, free directions"),
    Word("(?:gives?|gave|giving) way", "articulate, project across the joint"),
    Word("(?:stands?|standing|stood) on", "be supported by, accumulated on, outboard", ("pole stands on",)),
    Word("(?:all|what|that) (?:it|they|a link|the link) carr(?:y|ies)", "outboard links"),
    Word("hand(?:s|ed)? down|shar(?:e|es|ed) out|puts? on", "propagate, distribute, accumulate"),
    Word("weigh(?:s|ed|ing)?", "rigid-body inertia and bias force"),
    Word("departures?", "constraint violation"),
    Word("nearness", "singularity class, distance"),
    Word("look(?:s|ed|ing)? (?:around|aside)", "probe"),
    Word("slacks?", "row relaxation, rank tolerance, headroom", ("(?:goes|go|is) slack",)),  # of a cable
    Word("sides?", "right-hand side, branch, sign", ("(?:right|left)-hand sides?", "either side of")),
    Word("settl(?:e|es|ed|ing)", "normalise, project, rest on a stop, converge, update"),
    Word("unsettl(?:e|es|ed|ing)", "invalidate"),
    Word("(?:are|is|be) followed|follow(?:s|ed)? (?:over|a point|the points?|the rows?)", "track, propagate, unwrap"),
    Word(
        "crossings?",
        "zero crossing, bifurcation, change point",
        (
            *("zero crossings?", r"Crossing\(\w+", r"Crossing\('hinge", "Crossing of", "Crossing: quantity"),
            *("a Crossing or", 'type": "crossing'),  # the trigger
        ),
    ),
    Word("hubs?", "body with many joints; hub is a part of a satellite", folders=(*PYTHON, "csrc")),
    Word("assemblies", "subassemblies, position assemblies", ("(?:position|velocity) assemblies",)),
    Word("assembly", "subassembly", folders=("csrc/dca",)),
    Word("connections?", "joint or constraint", folders=("csrc/dca",)),
    Word("strikes?|struck|striking", "impact"),
    Word("blows?|blew", "impulse, impact", ("bl(?:ow|ows|ew) up",)),
    Word("lack(?:s|ed|ing)?|unmet", "residual, violation, be missing"),
    Word("wanted", "target, requested"),
    Word("structures", "topology variants", ("data structures", "Mechanics of Structures and Machines")),
    Word("(?:whole|half|many|two|20) turns?|turns of|turn(?:s|ed)? round", "revolutions; change sign"),
    Word("pace", "time scale, speed"),
    Word("throw(?:s|n)? back|comes? open|lets? go", "rebound, open, release"),
    Word("laid on|lays?|laid out by", "process, build", ("lays? out",)),
    # Python and co-simulation
    Word("happenings?", "event log"),
    Word(
        "legs?",
        "segment between time events; leg is a part of a mechanism",
        ("three legs", r"leg \d", "legs? of (?:a|the) (?:robot|ladder)"),
        folders=PYTHON,
    ),
    Word("wish(?:es|ed)?", "request, option"),
    Word("under way|headway", "running, progress, stall detection"),
    Word("crowded", "chattering"),
    Word("crumbs?|breadcrumbs?", "remainder, progress record"),
    Word("glid(?:e|es|ing)|bursts?|shy", "multi-step, batch, shrink factor"),
    Word("strides?", "probe step; stride is the distance of array elements", folders=PYTHON),
    Word("banks?", "value type (Float64, Int32, String)"),
    Word("wires?|routes?", "connection, transfer"),
    Word("feeds?|fed|hungry|unfed", "connect; unconnected input"),
    Word("extras", "recorded variables, optional dependencies"),
    Word("ready (?:ones?|controllers?|made)|ready-made", "built-in"),
    Word("owners?", "entity"),
    Word("lwi", "interface file", (r"interface\.lwi",)),
    Word("(?:in|by|takes?|taking) turns", "alternately; master algorithm"),
    Word("(?:go|goes|going|gone|went) back", "restore, roll back"),
    Word("(?:go|goes|going|gone|went) on", "continue, resume"),
    Word("afresh|anew", "restart, again"),
    # English
    Word("house|houses|doors?", "package, folder, entry point"),
    Word("ways? of the data", "data flow"),
    Word("on (?:the|its|their) ways?", "in the inward or outward pass, on the path, during"),
    Word("beside", "compared with, in addition to, next to"),
    Word("apart", "separate, separated, except", ("(?:far|m|mm|s|ms|rad) apart",)),
    Word("told|tells?", "report, state, print, specify"),
    Word("says?|said", "state, report"),
    Word("what", "a noun", folders=DOCUMENTS),
    Word(f"what (?:{CLAUSE})", "a noun"),
    Word("whoever|that which|none of that|nothing of the kind", "a noun"),
    Word("one's own|of your own|in the making|cannot be had", "custom; being built; not available"),
    Word("leads? (?:nowhere|somewhere)", "be unknown; exist"),
)


def problems(path: Path) -> list[str]:
    """A line for each word to avoid in a file: where it is and the word to use instead."""
    name = path.relative_to(TOP).as_posix()
    parts = list(texts(path))
    whole = "\n".join(text.words for text in parts)  # most words are nowhere in it
    words = [word for word in WORDS if name.startswith(word.folders) and compiled(word.pattern).search(whole)]
    found = {(line, hit, word.instead) for text in parts for word in words for line, hit in word.hits(text)}
    return [f"{name}:{line}: '{hit}', use: {instead}" for line, hit, instead in sorted(found)]


@pytest.mark.parametrize("part", [*DOCUMENTS, *SOURCES])
def test_the_words_are_the_fields(part: str) -> None:
    found = [problem for path in files(TOP / part) if path != Path(__file__) for problem in problems(path)]
    assert not found, "\n" + "\n".join(found)


def test_words_that_users_search_for_are_in_the_documents() -> None:
    pages = [TOP / "README.md", *(TOP / "docs").glob("*.md")]
    prose = " ".join(" ".join(text.words.lower().split()) for page in pages for text in texts(page))
    assert [word for word in SEARCHED_FOR if word not in prose] == []


def test_a_private_word_is_found_with_its_line(tmp_path: Path) -> None:
    sources = {
        "page.md": "Fine.\n\n    an ear in code\n\nAn `ear` in code, and an\near in prose.\n",
        "module.py": '"""A module.\n\nWith an ear.\n"""\nname = "ear"  # no message\nx = f"an ear {name}"  # an ear\n',
        "kernel.c": '/* A loop\n * and an ear. */\nint ear; /* fine */\nconst char *text = "an ear";\n',
    }
    lines = {}
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
        found = [line for text in texts(tmp_path / name) for line, _ in WORDS[0].hits(text)]
        lines[name] = sorted(found)
    assert lines == {"page.md": [6], "module.py": [3, 6, 6], "kernel.c": [2, 4]}
