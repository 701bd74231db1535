"""clustruct-learn and clustruct-classify, as a user runs them."""

import re

import numpy as np
import pytest

from clustruct.cli import classify, learn
from clustruct.papers.hooks.svmapi import Document, Sparm, StructModel
from tests.papers.hooks import sources as hook_sources

# The modules of appendix A.5 leave the closing of files to Python, as written there.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a binary task in SVM^light's format, and the user in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    w = rng.normal(size=12)
    for name, n in (("train.dat", 150), ("test.dat", 60)):
        with open(name, "w") as f:
            f.write("# a comment line\n\n")
            for _ in range(n):
                where = np.sort(rng.choice(12, 6, replace=False))
                v = rng.uniform(size=6)
                label = 1 if w[where] @ v + 0.1 * rng.normal() > 0 else -1
                pairs = " ".join(f"{k + 1}:{a:.4f}" for k, a in zip(where, v, strict=True))
                f.write(f"{label} {pairs} # why\n")
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command line; exit code, and what was printed to the two streams."""

    def command(text):
        main = {"clustruct-learn": learn.main, "clustruct-classify": classify.main}
        name, *words = text.split()
        code = main[name](words)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return command


def number(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


class TestStepByStep:
    """Appendix A.5: the bare classifier, output hooks, positive weights, kernels."""

    def test_bare_bones(self, folder, run):
        (folder / "binary1.py").write_text(hook_sources.BARE)
        code, out, err = run("clustruct-learn --m binary1 -c 1e3 -w 2 train.dat model.1")
        assert (code, err) == (0, "")
        assert "150 examples read" in out
        assert "length of Psi 13" in out
        code, out, err = run("clustruct-classify --m binary1 test.dat model.1 predictions")
        assert (code, err) == (0, "")
        assert number(r"Average loss on test set: ([\d.]+)", out) < 0.2
        lines = (folder / "predictions").read_text().splitlines()
        assert (len(lines), set(lines)) == (60, {"1", "-1"})

    def test_a_module_that_only_reads(self, folder, run):
        (folder / "binary1.py").write_text(hook_sources.BARE.split("def init_model")[0])
        code, _, err = run("clustruct-learn --m binary1 -c 1e3 train.dat model.1")
        assert code == 1
        assert "lacks the required hooks init_model, psi, classify_example" in err

    def test_two_oracles_or_one(self, folder, run):
        two = hook_sources.BARE.replace("violated_constraint(", "violated_constraint_margin(") + (
            "\ndef find_most_violated_constraint_slack(x, y, sm, sparm):\n"
            "    return find_most_violated_constraint_margin(x, y, sm, sparm)\n"
        )
        objectives = []
        for source in (hook_sources.BARE, two):
            (folder / "binary1.py").write_text(source)
            for scaling in (1, 2):
                _, out, _ = run(f"clustruct-learn --m binary1 -c 10 -e 1e-4 -o {scaling} train.dat model.1")
                objectives.append(number(r"objective ([\d.]+)", out))
        assert objectives == pytest.approx([objectives[0]] * 4, rel=1e-3)

    def test_output_hooks(self, folder, run):
        (folder / "binary1.py").write_text(hook_sources.BARE + hook_sources.OUTPUT_HOOKS)
        _, out, _ = run("clustruct-learn --m binary1 -c 1e3 train.dat model.1")
        on_train = number(r"Average loss on train set is ([\d.]+)", out)
        _, out, _ = run("clustruct-classify --m binary1 train.dat model.1 predictions")
        assert on_train == pytest.approx(number(r"Average loss on test set: ([\d.]+)", out), abs=1e-4)
        written = (folder / "predictions").read_text()
        assert len(written) == 150
        assert set(written) == {"+", "-"}
        labels = [int(line.split()[0]) for line in (folder / "train.dat").read_text().splitlines()[2:]]
        said = [1 if c == "+" else -1 for c in written]
        both = sum(y == p == 1 for y, p in zip(labels, said, strict=True))
        assert number(r"Recall is ([\d.]+)", out) == pytest.approx(both / labels.count(1), abs=1e-5)
        assert number(r"Precision is ([\d.]+)", out) == pytest.approx(both / said.count(1), abs=1e-5)

    @pytest.mark.parametrize("algorithm", [0, 4])
    def test_positive_weights(self, folder, run, algorithm):
        plain = hook_sources.BARE + hook_sources.OUTPUT_HOOKS + hook_sources.POSITIVE
        lowest = []
        for source in (plain, plain + hook_sources.SHARED_SLACK):
            (folder / "binary2.py").write_text(source)
            code, out, err = run(f"clustruct-learn --m binary2 -c 1e5 -w {algorithm} train.dat model.1")
            assert code == 0
            lowest.append(number(r"Range of sm.w: (\S+) to", out))
        assert lowest[0] < 0
        # With a slack the dissertation's own run ends a little below 1/100; without one, not at all.
        assert lowest[1] >= (0.005 if algorithm == 0 else 0.01 - 1e-12)
        assert ("keeps them exactly" in err) == (algorithm == 4)

    @pytest.mark.parametrize("kernel", ["-t 0", "-t 1 -d 2 -s 0.5 -r 1", "-t 2 -g 0.5", "-t 3 -s 0.01 -r 0"])
    def test_kernels(self, folder, run, kernel):
        (folder / "binary3.py").write_text(
            hook_sources.BARE + hook_sources.OUTPUT_HOOKS + hook_sources.KERNEL
        )
        code, out, err = run(f"clustruct-learn --m binary3 -c 1e3 -e 0.01 {kernel} train.dat model.1")
        assert (code, err) == (0, "")
        assert ("support vectors" in out) == (kernel != "-t 0")
        on_train = number(r"train set is ([\d.]+)", out)
        _, out, _ = run("clustruct-classify --m binary3 train.dat model.1 predictions")
        assert number(r"test set: ([\d.]+)", out) == pytest.approx(on_train, abs=1e-4)
        assert on_train <= 0.1


class TestCalls:
    """Which hooks are called, when, and with what."""

    @pytest.fixture(autouse=True)
    def module(self, folder):
        (folder / "recording.py").write_text(hook_sources.RECORDING)

    def recorded(self):
        import sys

        return sys.modules["recording"].CALLS

    @pytest.mark.parametrize("algorithm", [0, 4])
    @pytest.mark.parametrize("scaling", [1, 2])
    def test_learn(self, run, algorithm, scaling):
        options = f"-c 10 -w {algorithm} -o {scaling} --first 1 --second two"
        code, _, err = run(f"clustruct-learn --m recording {options} train.dat model")
        assert (code, err) == (0, "")
        calls = self.recorded()
        names = [call[0] for call in calls]
        assert calls[:4] == [
            ("parse_parameters", Sparm, ["--first", "1", "--second", "two"]),
            ("read_examples", "train.dat", Sparm),
            ("init_model", 3, StructModel, Sparm),
            ("init_constraints", 3, StructModel, Sparm),
        ]
        assert calls[4] == ("psi", (1.0, 0.0), "a", StructModel, Sparm)
        oracle = "find_most_violated_constraint_" + ("slack" if scaling == 1 else "margin")
        assert oracle in names
        assert len({n for n in names if n.startswith("find_most")}) == 1
        assert (oracle, (0.0, 1.0), "b", StructModel, Sparm) in calls
        assert ("loss", "a", "b", Sparm) in calls
        assert {"classify_example", "eval_prediction", "write_label"}.isdisjoint(names)
        rounds = [call for call in calls if call[0] == "print_iteration_stats"]
        assert rounds
        _, ceps, cached, n, sm, cset, alpha = rounds[-1]
        assert (ceps >= 0, cached, n, sm) == (True, False, 3, StructModel)
        self.check_constraints(cset, alpha)
        assert names[-1] == "print_learning_stats"
        _, n, sm, cset, alpha, sparm = calls[-1]
        assert (n, sm, sparm) == (3, StructModel, Sparm)
        self.check_constraints(cset, alpha)

    def check_constraints(self, cset, alpha):
        assert len(cset) == len(alpha) > 0
        document, right = cset[0]
        assert isinstance(document, Document)
        assert document.slackid >= 1
        assert right > 0
        assert min(alpha) >= 0

    def test_classify(self, folder, run):
        run("clustruct-learn --m recording -c 10 train.dat model")
        self.recorded().clear()
        code, out, err = run("clustruct-classify --m recording --k v test.dat model predictions")
        assert (code, err) == (0, "")
        # Helpers call psi, too; what matters here is what the command calls.
        calls = [call for call in self.recorded() if call[0] != "psi"]
        expected = [("parse_parameters_classify", "--k", "v"), ("read_examples", "test.dat", Sparm)]
        for i, (x, y) in enumerate([((1.0, 0.0), "a"), ((0.0, 1.0), "b"), ((1.0, 0.2), "a")]):
            expected += [
                ("classify_example", x, StructModel, Sparm),
                ("write_label", y),
                ("loss", y, y, Sparm),
                ("eval_prediction", i, (x, y), y, StructModel, "kept", i or None),
            ]
        expected.append(("print_testing_stats", 3, StructModel, 3))
        assert calls == expected
        assert (folder / "predictions").read_text() == "aba"
        assert "3 correct, 0 incorrect, 3 total" in out

    def test_help_of_the_module(self, run):
        code, out, _ = run("clustruct-learn --m recording --help")
        assert code == 0
        assert "mean of the slacks" in out
        assert "--learn-option" in out
        code, out, _ = run("clustruct-classify --help --m recording")
        assert code == 0
        assert "--classify-option" in out
        for option in ("-c C", "-e eps", "-w 0..4", "-t 0..3", "--allow-pickle"):
            assert option in run("clustruct-learn -h")[1]

    def test_unknown_labels_are_not_counted(self, folder, run):
        text = hook_sources.RECORDING
        run("clustruct-learn --m recording -c 10 train.dat model")
        (folder / "recording.py").write_text(text.replace("((0.0, 1.0), 'b')", "((0.0, 1.0), None)"))
        _, out, _ = run("clustruct-classify --m recording test.dat model predictions")
        assert "2 correct, 0 incorrect, 2 total" in out
        assert "1 examples without a label are not counted" in out

    def test_own_model_files(self, folder, run):
        own = """
import pickle
def write_model(filename, sm, sparm):
    note('write_model', filename, type(sm), type(sparm))
    with open(filename, 'wb') as f: pickle.dump(sm, f)
def read_model(filename, sparm):
    note('read_model', filename, type(sparm))
    sparm.extra = 'kept'
    with open(filename, 'rb') as f: return pickle.load(f)
"""
        (folder / "recording.py").write_text(hook_sources.RECORDING + own)
        assert run("clustruct-learn --m recording -c 10 train.dat model")[0] == 0
        assert self.recorded()[-1] == ("write_model", "model", StructModel, Sparm)
        code, out, _ = run("clustruct-classify --m recording test.dat model predictions")
        assert code == 0
        assert "3 correct" in out
        assert self.recorded()[0] == ("read_model", "model", Sparm)


class TestFaults:
    """Wrong command lines and broken modules: a sentence and an exit code, never a traceback."""

    @pytest.fixture(autouse=True)
    def module(self, folder):
        (folder / "binary1.py").write_text(hook_sources.BARE)

    @pytest.mark.parametrize(
        ("line", "code", "message"),
        [
            ("clustruct-learn", 2, "a hook module .--m. and file names are wanted"),
            ("clustruct-learn a b", 1, "no module 'svmstruct'.*Name the hook module with --m"),
            (
                "clustruct-learn --m imports_nothing a b",
                1,
                "(?s)NotFoundError.*nothing.py, line 1",
            ),
            (
                "clustruct-learn --m few train.dat model",
                1,
                "(?s)takes 1 pos.*few.py, line 3: it is",
            ),
            ("clustruct-learn --m package.inside train.dat model", 1, "lacks the required hooks init_model"),
            ("clustruct-learn --m nowhere a b", 1, "no module 'nowhere'"),
            ("clustruct-learn --m ./binary1 empty.dat model", 1, "no examples in empty.dat"),
            ("clustruct-learn --m sub/nowhere.py a b", 1, "there is no file sub/nowhere.py"),
            (
                "clustruct-learn --m binary1 train.dat",
                2,
                "2 file names are wanted.*given: train",
            ),
            ("clustruct-learn --m binary1 -q 3 train.dat model", 2, "unknown option -q"),
            ("clustruct-learn --m binary1 -c ten train.dat model", 2, "-c takes a number, not 'ten'"),
            ("clustruct-learn --m binary1 -w 1.5 train.dat model", 2, "-w takes a whole number"),
            ("clustruct-learn --m binary1 -w 7 train.dat model", 1, "-w must be 0, 1, 2, 3 or 4, not 7"),
            ("clustruct-learn --m binary1 -t 4 train.dat model", 2, "-t must be 0, 1, 2 or 3"),
            ("clustruct-learn --m binary1 -p 2 train.dat model", 1, "-p 2 goes with -w 0 or -w 1 only"),
            ("clustruct-learn train.dat model --m", 2, "--m needs a value"),
            ("clustruct-learn --m binary1 none.dat model", 1, "none.dat cannot be read: No such file"),
            ("clustruct-learn --m binary1 empty.dat model", 1, "no examples in empty.dat"),
            ("clustruct-learn --m binary1 train.dat no/model", 2, "there is no folder no"),
            ("clustruct-learn --m binary1 train.dat .", 2, "is a folder"),
            (
                "clustruct-learn --m binary1 bad.dat model",
                1,
                "(?s)ValueError: invalid.*line 10, in read",
            ),
            ("clustruct-classify --m binary1 test.dat none out", 1, "there is no model file none"),
            ("clustruct-classify --m binary1 test.dat train.dat out", 1, "train.dat is not a model file"),
            ("clustruct-classify --m binary1 test.dat model no/out", 2, "there is no folder no"),
            ("clustruct-classify --m binary1 -c 3 test.dat model out", 2, "unknown option -c"),
        ],
    )
    def test_messages(self, folder, run, line, code, message):
        (folder / "empty.dat").write_text("")
        (folder / "bad.dat").write_text("yes 1:2\n")
        (folder / "imports_nothing.py").write_text("import not_there_at_all\n")
        (folder / "few.py").write_text(hook_sources.BARE.replace("filename, sparm", "filename", 1).lstrip())
        (folder / "package").mkdir()
        (folder / "package" / "other.py").write_text("def read_examples(filename, sparm): return []\n")
        (folder / "package" / "inside.py").write_text("from .other import read_examples\n")
        found, _, err = run(line)
        assert found == code
        assert re.search(message, err), err
        assert "Traceback" not in err

    def test_python2(self, folder, run):
        (folder / "old.py").write_text(hook_sources.OLD)
        code, _, err = run("clustruct-learn --m old train.dat model")
        assert code == 1
        assert "old.py, line 8: print len(examples)" in err

    def test_objects_in_the_model(self, folder, run):
        extra = "\nclass Kept:\n    pass\n_init = init_model\ndef init_model(sample, sm, sparm):\n"
        extra += "    _init(sample, sm, sparm)\n    sm.kept = Kept()\n"
        (folder / "binary1.py").write_text(hook_sources.BARE + extra)
        code, _, err = run("clustruct-learn --m binary1 train.dat model")
        assert code == 1
        assert "init_model set sm.kept to a binary1.Kept" in err
        assert "say --allow-pickle" in err
        assert run("clustruct-learn --allow-pickle --m binary1 train.dat model")[0] == 0
        code, _, err = run("clustruct-classify --m binary1 test.dat model out")
        assert code == 1
        assert "holds pickled objects (sm.kept)" in err
        assert run("clustruct-classify --m binary1 test.dat model out --allow-pickle")[0] == 0

    def test_verbosity(self, run):
        _, out, _ = run("clustruct-learn -v 0 --m binary1 train.dat model")
        assert out == "150 examples read\n"
        _, out, _ = run("clustruct-learn -v 2 --m binary1 -c 100 train.dat model")
        assert "round 1: objective" in out

    def test_svmapi_is_gone_afterwards(self, run):
        import importlib.util

        run("clustruct-learn -v 0 --m binary1 train.dat model")
        assert importlib.util.find_spec("svmapi") is None


class TestFiles:
    """What is read is never written over, and what is written appears whole."""

    @pytest.fixture(autouse=True)
    def learned(self, folder, run):
        (folder / "binary1.py").write_text(hook_sources.BARE)
        assert run("clustruct-learn --m binary1 -v 0 train.dat model")[0] == 0
        (folder / "link").symlink_to("test.dat")
        (folder / "twin").hardlink_to(folder / "test.dat")

    @pytest.mark.parametrize(
        "line",
        [
            "clustruct-classify --m binary1 test.dat model test.dat",
            "clustruct-classify --m binary1 test.dat model ./link",
            "clustruct-classify --m binary1 link model twin",
            "clustruct-classify --m binary1 test.dat model model",
            "clustruct-classify --m binary1 test.dat model binary1.py",
            "clustruct-learn --m binary1 test.dat twin",
            "clustruct-learn --m binary1.py train.dat binary1.py",
        ],
    )
    def test_inputs_stay(self, folder, run, line):
        def contents():
            return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

        before = contents()
        code, out, err = run(line)
        assert (code, out) == (2, "")
        assert "would be written over, and it is a file to be read" in err
        assert contents() == before

    def test_predictions_are_whole_or_not_at_all(self, folder, run):
        (folder / "old").write_text("old")
        fails = "\ndef print_testing_stats(sample, sm, sparm, teststats): raise KeyError('late')\n"
        (folder / "late.py").write_text(hook_sources.BARE + fails)
        for name in ("old", "new"):
            code, _, err = run(f"clustruct-classify --m late test.dat model {name}")
            assert (code, "late" in err) == (1, True)
        assert (folder / "old").read_text() == "old"
        assert not (folder / "new").exists()
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]

    def test_links_and_streams(self, folder, run):
        (folder / "far").mkdir()
        (folder / "out").symlink_to("far/out")
        assert run("clustruct-classify --m binary1 test.dat model out")[0] == 0
        assert (folder / "out").is_symlink()
        assert len((folder / "far" / "out").read_text().splitlines()) == 60
        assert run("clustruct-classify --m binary1 test.dat model /dev/null")[0] == 0
        code, _, err = run("clustruct-classify --m binary1 test.dat model /dev/full")
        assert (code, err) == (1, "clustruct-classify: /dev/full: No space left on device\n")
