"""Which names parts may have, names in FMUs, and legal names for any text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from linkwork._util.names import suggest
from linkwork._util.part_names import PATTERN, RESERVED, is_legal, legible_name, plain_name, structured_name
from linkwork.mechanism import GROUND
from support.c_builder import CBuilder
from support.renamed import LETTERS, NASTY, SIGNS, Grammar, legal_names

REFUSED = {
    "": "it is empty",
    "a'b": """it has "'\"""",
    " arm": "it begins with a blank",
    "arm ": "it ends with a blank",
    "-arm": "it begins with '-'",
    **{f"a{sign}b": f"it has '{sign}'" for sign in '.[],=*?`"\\'},
}
BEYOND = ["größe", "a\n", "a\tb", "a\0b", "a\x7f", "左足", "a\N{NO-BREAK SPACE}b"]


def verdict_in_c(name):
    builder = CBuilder()
    try:
        builder.add_body(name, 1.0, (0, 0, 0), [1, 0, 0, 0, 1, 0, 0, 0, 1])
    except lw.MechanismError as refused:
        return str(refused)
    return None


def verdict_in_python(name):
    mech = lw.Mechanism("m")
    try:
        mech.add_body(name, 1.0, (0, 0, 0), lw.inertia.sphere(1.0, 0.1))
    except lw.MechanismError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("name", REFUSED)
def test_each_refusal_gives_its_reason(name):
    for message in (verdict_in_python(name), verdict_in_c(name)):
        assert f"{REFUSED[name]}; a name consists of ASCII letters, digits, blanks" in message


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_not_ascii_comes_with_a_legal_name(name):
    message = verdict_in_python(name)
    (legal,) = re.findall(r"; '([^']*)' would do", message)
    assert verdict_in_python(legal) is None
    if "\0" not in name:  # ends a text in C
        assert "not printable ASCII" in verdict_in_c(name)


@pytest.mark.parametrize("name", NASTY)
def test_names_of_robots_and_worse_are_legal(name):
    assert verdict_in_python(name) is verdict_in_c(name) is None


@given(st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=5) | st.text(max_size=4) | legal_names())
def test_one_verdict_of_python_c_and_the_schema(name):
    allowed = set(LETTERS + SIGNS + " ")
    legal = bool(name) and set(name) <= allowed and name[0] not in " -" and name[-1] != " "
    assert is_legal(name) == legal == bool(re.fullmatch(PATTERN, name))
    if legal and name != GROUND:
        assert verdict_in_python(name) is None
    if "\0" not in name and not any("\ud800" <= letter <= "\udfff" for letter in name):
        assert (verdict_in_c(name) is None) == (legal and name != GROUND)


@given(legal_names(), legal_names())
def test_structured_names_are_of_the_grammar_and_lead_back(part, other):
    for name in (part, f"{part}.q", f"{part}.q[2]", f"loop.{part}.residual", f"{part}.{other}[2].c[1]"):
        structured = structured_name(name)
        assert Grammar(structured).is_name()
        assert plain_name(structured) == name
        assert structured_name(structured) == structured
    if part.isidentifier():
        assert structured_name(f"{part}.q[1]") == f"{part}.q[1]"


@pytest.mark.parametrize(
    "name", ["a-b.q", "1a", "", "'a", "''", "a.", "a[]", "a[1", "der(a", "der(a,)", "'ä'.q", "a b"]
)
def test_the_grammar_refuses(name):
    assert not Grammar(name).is_name()


@pytest.mark.parametrize("name", ["a.q", "'a-b'.q[1,2]", "der('a.b'.q[2],2)", "'\\''", "der(x)", "_1.'1'"])
def test_the_grammar_accepts(name):
    assert Grammar(name).is_name()


def test_an_unquoted_name_brings_the_quoted_one():
    assert suggest("left-hip.q", ["'left-hip'.q", "A.q"]) == "did you mean \"'left-hip'.q\"?"
    assert suggest("left-hip", ["'left-hip'.q", "A.q"]) == "did you mean \"'left-hip'.q\"?"


# ---- legal names for any text ----


@given(
    st.lists(st.text(max_size=6) | legal_names() | st.sampled_from(["ground", "", "a.b", "a_b", "a_b_2"]), max_size=6)
)
def test_legible_names_are_legal_and_differ(texts):
    taken = set()
    for text in texts:
        name = legible_name(text, taken)
        assert is_legal(name)
        assert name not in taken | {GROUND}
        if is_legal(text) and text not in taken | {GROUND}:
            assert name == text
        taken.add(name)
    assert len(taken) == len(texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("ĥip", "hip"), ("Straße", "Strasse"), ("a.b[1]", "a_b_1_"), ("", "unnamed"), ("  ", "unnamed")),
        *(("αβ", "alphabeta"), ("µ", "mu"), ("Ørsted", "Orsted"), ("左", "u5de6"), ("x–y", "x-y"), ("-x", "_x")),
        *(("Œuvre", "Oeuvre"), ("٣", "3"), ("don't", "don_t"), ("ground", "ground_2"), (" arm ", "arm")),
    ],
)
def test_legible_names_can_be_recognised(text, name):
    assert legible_name(text) == name


def test_legible_names_count_on():
    assert legible_name("a.b", {"a_b", "a_b_2"}) == "a_b_3"
    assert legible_name("ground", {"ground_2"}) == "ground_3"
    assert frozenset({GROUND}) == RESERVED
