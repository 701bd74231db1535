"""Modules written for Python 2 are told what to change, and where."""

import pytest

from clustruct.hooks import HookError, load_hooks
from clustruct.hooks.python2 import old_forms

from . import sources as hook_sources


def test_the_old_module_of_the_dissertation():
    assert [(f.line, f.advice.split(":")[0]) for f in old_forms(hook_sources.OLD)] == [
        (5, "file is gone"),
        (8, "print is a function"),
        (12, "xrange is gone"),
        (14, "a parameter cannot be taken apart in the head of eval_prediction"),
    ]


def test_message_shows_line_and_change(tmp_path):
    path = tmp_path / "old.py"
    path.write_text(hook_sources.OLD)
    with pytest.raises(HookError) as caught:
        load_hooks(str(path))
    text = str(caught.value)
    assert "old.py is written for Python 2" in text
    assert "line 8: print len(examples), 'examples read'" in text
    assert "write print(len(examples), 'examples read')" in text
    assert "begin the body with x, y = example" in text


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("print 'a' % b", "write print('a' % b)"),
        ("print x,", 'write print(x, end=" ")'),
        ("print >>f, x\nprint y", "write print(x, file=f)"),
        ("if x: print y # why", "write print(y)"),
        ("print", "print is a function"),
        ("print >>f, x", "print is a function"),
        ("print (a), b", "print is a function"),
        ("print (a,\n  b), c", "print is a function"),
        ("exec 'a'", "exec is a function"),
        ("try: f()\nexcept KeyError, e: pass", "except Kind as error"),
        ("raise ValueError, 'no'", "raise Kind(message)"),
        ("f = lambda (a, b): a", "lambda"),
        ("def f((a, b)): pass", "(a, b)"),
        ("a = `b`", "repr"),
        ("a <> b", "!="),
        ("a = 10L", "write 10"),
        ("import cPickle", "pickle"),
        ("from StringIO import StringIO", "io"),
        ("raw_input()", "input"),
        ("isinstance(x, unicode)", "str"),
    ],
)
def test_forms(source, advice):
    found = old_forms(source)
    assert found
    assert advice in found[0].advice


@pytest.mark.parametrize(
    "source",
    [
        "print(a, b)",
        "print(a) if b else None",
        "xrange = range\nfor i in xrange(3): pass",
        "try:\n    range = xrange\nexcept NameError:\n    pass",
        "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle",
        "from functools import reduce\nreduce(f, x)",
        "def f(file, unicode=(1, 2)): return file",
        "from old import *\nxrange(3)",
        "d.iteritems()",
        "print = log\nf(print)",
        "def f(a=(1, 2), *b): pass",
    ],
)
def test_python3_code_is_left_alone(source):
    assert old_forms(source) == []


def test_other_syntax_errors_are_shown_with_their_line(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def psi(x, y:\n    return 1\n")
    with pytest.raises(HookError, match=r"broken\.py, line 1"):
        load_hooks(str(path))


def test_an_old_module_that_is_imported(tmp_path):
    (tmp_path / "helper_of_old.py").write_text("print 'hello'\n")
    path = tmp_path / "new.py"
    path.write_text("import helper_of_old\n")
    with pytest.raises(HookError, match=r"(?s)helper_of_old\.py is written for Python 2.*line 1"):
        load_hooks(str(path))
