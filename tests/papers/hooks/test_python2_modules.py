"""Modules written for Python 2: the line that Python 3 cannot take is named, with the change."""

import pytest

from clustruct.papers.hooks import HookError, load_hooks
from clustruct.papers.hooks.modules import change_for

from . import sources as hook_sources


def fault(tmp_path, source, name="old"):
    (tmp_path / f"{name}.py").write_text(source)
    with pytest.raises(HookError) as caught:
        load_hooks(str(tmp_path / f"{name}.py"))
    return str(caught.value)


def test_each_line_of_an_old_module_is_named_in_turn(tmp_path):
    text = fault(tmp_path, hook_sources.OLD)
    assert "line 8: print len(examples)" in text
    assert "write print(len(examples), 'examples read')" in text
    text = fault(tmp_path, hook_sources.OLD.replace("print len(examples), 'examples read'", "pass"))
    assert "line 14: def eval_prediction(exnum, (x, y)" in text
    assert "begin the body with x, y = example" in text


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("print 'a' % b", "write print('a' % b)"),
        ("print x,", 'write print(x, end=" ")'),
        ("print >>f, x", "write print(x, file=f)"),
        ("if x: print y # why", "write print(y)"),
        ("exec 'a'", "exec is a function"),
        ("try: f()\nexcept KeyError, e: pass", "except KeyError as e:"),
        ("raise ValueError, 'no'", "raise ValueError('no')"),
        ("f = lambda (a, b): a", "lambda"),
        ("def f((a, b)): pass", "(a, b)"),
        ("a = `b`", "repr(b)"),
        ("a <> b", "!="),
        ("a = 10L", "write 10"),
    ],
)
def test_forms(tmp_path, source, change):
    if source.startswith("print >>"):  # alone it parses, and fails when it runs
        assert change in change_for(source)
        return
    text = fault(tmp_path, source)
    assert f"line {len(source.splitlines())}: " in text
    assert change in text


@pytest.mark.parametrize(("source", "change"), [("import cPickle", "pickle"), ("xrange(3)", "range(")])
def test_names_that_are_missed_when_the_module_runs(tmp_path, source, change):
    text = fault(tmp_path, source)
    assert "line 1" in text
    assert change in text


def test_other_syntax_errors_are_shown_with_their_line(tmp_path):
    assert "broken.py, line 1: " in fault(tmp_path, "def psi(x, y:\n    return 1\n", "broken")
    assert change_for("def psi(x, y:") is None


def test_an_old_module_that_is_imported(tmp_path):
    (tmp_path / "helper_of_old.py").write_text("print 'hello'\n")
    text = fault(tmp_path, "import helper_of_old\n", "new")
    assert "helper_of_old.py, line 1: print 'hello'\n  This is Python 2" in text
