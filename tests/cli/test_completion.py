"""The shell completes commands, options, choices and files."""

import shutil
import subprocess

import pytest

pytest.importorskip("shtab", reason="shtab is not installed")


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    from clustruct.cli.main import main

    path = tmp_path_factory.mktemp("completion") / "script"
    with pytest.MonkeyPatch.context() as patch, open(path, "w", encoding="utf-8") as f:
        patch.setattr("sys.stdout", f)
        assert main(["completion", "bash"]) == 0
    return path


def completed(script, *words, folder="."):
    """What bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    name = "$(complete -p clustruct | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
    asked = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {name}; "
    asked += 'printf "%s\\n" "${COMPREPLY[@]}"'
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    done = subprocess.run([bash, "-c", asked], capture_output=True, text=True, cwd=folder, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("clustruct", "pre"), "predict"),
        (("clustruct", "fit", "--mod"), "--model"),
        (("clustruct", "fit", "--similarity", "tr"), "trees"),
        (("clustruct", "multilabel", "ev"), "evaluate"),
    ],
)
def test_words(script, words, wanted):
    assert wanted in completed(script, *words)


def test_names_of_files(script, tmp_path):
    (tmp_path / "people.csv").write_text("a\n", encoding="utf-8")
    assert "people.csv" in completed(script, "clustruct", "fit", "peo", folder=tmp_path)
    assert "people.csv" in completed(script, "clustruct", "predict", "--model", "peo", folder=tmp_path)


def test_an_unknown_shell_is_refused(capsys):
    from clustruct.cli.main import main

    assert main(["completion", "fish"]) == 2
    assert "fish" in capsys.readouterr().err
