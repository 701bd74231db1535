"""Help shows what most people need, and all of it where asked."""

import pytest

from clustruct.cli import COMMANDS
from clustruct.cli.main import ALWAYS, build_parser


def options(text):
    """The options that a page of help lists with an explanation."""
    return [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("universum", "multilabel")])
def test_the_short_page_has_a_dozen_options_and_one_example(command, name):
    code, short, _ = command(name, "--help")
    assert code == 0
    assert len(options(short)) <= 12 + len(ALWAYS)
    assert len(short.splitlines()) <= 75
    if "--help all" in short.splitlines()[-1]:
        ending = short.split("\nexample\n")[1].splitlines()
        assert ending[0].startswith(f"  clustruct {name} ")
        assert sum(line.startswith("  clustruct") for line in ending) == 1


@pytest.mark.parametrize("name", ["fit", "predict", "evaluate", "cv"])
def test_every_option_is_on_the_whole_page(command, name):
    parser = build_parser(name)._subparsers._group_actions[0].choices[name]
    named = {action.option_strings[-1] for action in parser._actions if action.option_strings}
    _, short, _ = command(name, "--help")
    _, whole, _ = command(name, "--help", "all")
    assert named - {"--traceback"} <= {word.strip("[],") for word in whole.split()}
    assert set(options(short)) < set(options(whole))
    assert f"{len(options(whole)) - len(options(short))} more options" in short
    assert command(name, "--help")[1] == short  # what was hidden is there again, and again hidden


def test_common_options_exist():
    for name in COMMANDS:
        parser = build_parser(name)._subparsers._group_actions[0].choices[name]
        assert set(parser.common) <= set(parser._option_string_actions)
