"""Completion of the command line: the shells themselves complete what is typed."""

import argparse
import subprocess
import sys

import pytest

from linkwork.cli.completion import FILES, FILES_BEHIND_NAMES, FOLDERS, SHELLS
from linkwork.cli.main import COMMANDS, main, make_parser

pytest.importorskip("shtab", reason="needs the Python package shtab")

TYPED = {  # and what a shell makes of it
    "linkwork simul": "simulate",
    "linkwork inverse-dyn": "inverse-dynamics",
    "linkwork simulate --meth": "--method",
    "linkwork simulate --method emb": "embedding",
    "linkwork export --fmi 2": "2.0",
    "linkwork simulate four": "four_bar.py",
    "linkwork run --diagram four": "four_bar.py",
    "linkwork sweep --output res": "results",
}
BASH = """
eval "$(<"$1")"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
_shtab_linkwork linkwork "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s' "${COMPREPLY[@]}"
"""
FISH = "source $argv[1]; complete -C $argv[2]"
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -Uz compinit; compinit -u -d $PWD/dump; eval \"\$(<$1)\"; PROMPT=\$'\\x3cready>'"
zpty -r shell out '*<ready>*'
zpty -w -n shell "$2"$'\t'
zpty -w shell ' # end'
zpty -r shell out '*# end*'
print -r -- "$out"
zpty -d shell
"""
PROGRAMS = {"bash": BASH, "fish": FISH, "zsh": ZSH}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete(shell, tmp_path, monkeypatch, capsys, needs_program) -> None:
    program = needs_program(shell)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "four_bar.py").touch()
    (tmp_path / "results").mkdir()
    assert main(["completion", shell]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    start = [program, "-c", PROGRAMS[shell]] + ([] if shell == "fish" else [shell])
    for typed, expected in TYPED.items():
        command = [*start, "script", typed]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert expected in done.stdout, (typed, done.stdout, done.stderr)


def test_all_arguments_with_files_are_known() -> None:
    """By the words that stand for them: an option that takes files shall not be forgotten."""
    (commands,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert set(commands.choices) == set(COMMANDS)
    words = {str(action.metavar) for command in commands.choices.values() for action in command._actions}
    assert {word for word in words if any(part in word for part in ("FILE", "FMU", "PATH", "FOLDER"))} <= {
        *FILES,
        *FOLDERS,
        *FILES_BEHIND_NAMES,
    }
    assert words >= {*FILES, *FOLDERS}


def test_a_missing_package_names_the_extra(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'linkwork[completion]'" in capsys.readouterr().err
