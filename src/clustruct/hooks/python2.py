"""Finding what Python 3 no longer takes in a module written for Python 2."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

OLD_NAMES = {
    "file": "use open(...)",
    "xrange": "use range(...)",
    "raw_input": "use input(...)",
    "unicode": "use str",
    "basestring": "use str",
    "unichr": "use chr(...)",
    "long": "use int",
    "reduce": "add: from functools import reduce",
    "reload": "add: from importlib import reload",
    "execfile": "use exec(open(name).read())",
    "cmp": "compare with <, == and >, or (a > b) - (a < b)",
    "apply": "call the function: f(*args)",
    "izip": "use zip(...)",
}
OLD_MODULES = {
    "cPickle": "pickle",
    "StringIO": "io",
    "cStringIO": "io",
    "ConfigParser": "configparser",
    "Queue": "queue",
    "urllib2": "urllib.request",
    "sets": "the built-in set",
}
OLD_METHODS = {
    "has_key": "use: key in d",
    "iteritems": "use .items()",
    "itervalues": "use .values()",
    "iterkeys": "use .keys()",
    "next": "use next(iterator)",
}
_GAP = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING}
# What may follow the word print in a print statement; a bracket or a dot make an expression.
_OPERATORS_AFTER_PRINT = {">>", "[", "{", "-", "~", "`"}
_WORDS_THAT_JOIN = {"if", "in", "is", "and", "or", "for"}


@dataclass(frozen=True, order=True)
class OldForm:
    """One line that needs a change, and the change."""

    line: int
    advice: str


def old_forms(source: str) -> list[OldForm]:
    """What to change in a source text, by line. Empty for Python 3 code that Python 2 had no part in.

    >>> old_forms("for i in xrange(3):\\n    print i")
    [OldForm(line=1, advice='xrange is gone: use range(...)'),
     OldForm(line=2, advice='print is a function: write print(i)')]
    """
    try:
        found = set(_in_tree(ast.parse(source)))
    except SyntaxError:
        found = set(_in_tokens(source))
    return sorted(found)


def hint_for(error: BaseException) -> str | None:
    """What to change where a name or method of Python 2 was missed at run time only."""
    name = getattr(error, "name", None)
    if isinstance(error, NameError) and name in OLD_NAMES:
        return f"{name} belongs to Python 2: {OLD_NAMES[name]}"
    if isinstance(error, AttributeError) and name in OLD_METHODS:
        return f".{name} belongs to Python 2: {OLD_METHODS[name]}"
    return None


def _in_tree(tree: ast.Module) -> Iterator[OldForm]:
    """Old names in code that Python 3 can parse."""
    bound = _bound_names(tree)
    guarded = _guarded_lines(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if line in guarded:
            continue
        if isinstance(node, ast.Name) and node.id in OLD_NAMES and not bound & {node.id, "*"}:
            yield _gone(line, node.id)
        elif isinstance(node, ast.Import):
            yield from (_moved(line, a.name) for a in node.names if a.name in OLD_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in OLD_MODULES and not node.level:
            yield _moved(line, node.module)
        elif isinstance(node, ast.Expr) and _prints_without_call(node.value):
            yield OldForm(line, "print is a function: write print(...), or print(..., file=f)")


def _bound_names(tree: ast.Module) -> set[str]:
    """Every name that the module itself gives a meaning to, anywhere; "*" for a starred import."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def _guarded_lines(tree: ast.Module) -> set[int]:
    """Lines inside ``try: ... except NameError`` or ``except ImportError``: code for both Pythons."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(h.type) if h.type else "" for h in node.handlers)
            if re.search("NameError|ImportError|ModuleNotFoundError", caught):
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _prints_without_call(value: ast.expr) -> bool:
    """``print``, ``print >>f, x`` and ``print (a), b`` parse, and do something else."""
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    if isinstance(value, ast.Tuple) and isinstance(first, ast.Call) and _is_print(first.func):
        return True
    return _is_print(first) or (isinstance(first, ast.BinOp) and _is_print(first.left))


def _is_print(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "print"


def _gone(line: int, name: str) -> OldForm:
    return OldForm(line, f"{name} is gone: {OLD_NAMES[name]}")


def _moved(line: int, name: str) -> OldForm:
    return OldForm(line, f"the module {name} is gone: use {OLD_MODULES[name]}")


def _in_tokens(source: str) -> Iterator[OldForm]:
    """Old statements and names in code that Python 3 cannot parse: known by their tokens."""
    tokens = _tokens(source)
    bound = {t.string for t, after in pairwise(tokens) if after.string == "="}
    for k, token in enumerate(tokens[:-1]):
        before, after = tokens[k - 1] if k else token, tokens[k + 1]
        line, word = token.start[0], token.string
        starts = k == 0 or before.type in _GAP or before.string in (":", ";")
        if token.type == tokenize.NAME:
            if starts and word in ("print", "exec") and _is_statement(after):
                yield OldForm(line, _statement_advice(tokens[k:], word))
            elif word in OLD_NAMES and after.string == "(" and before.string not in (".", "def"):
                yield from () if word in bound else (_gone(line, word),)
            elif word in OLD_MODULES and before.string in ("import", "from"):
                yield _moved(line, word)
            elif starts and word in ("except", "raise") and _has_bare_comma(tokens[k:]):
                yield OldForm(line, _comma_advice(word))
            elif word == "lambda" and after.string == "(":
                yield OldForm(line, "a lambda takes no tuple: use one name and index it")
            elif word == "def":
                yield from _tuple_parameters(tokens[k:])
        elif word == "`":
            yield OldForm(line, "backquotes are gone: use repr(...)")
        elif word == "<>" or (word == "<" and after.string == ">" and after.start == token.end):
            yield OldForm(line, "<> is gone: use !=")
        elif token.type == tokenize.NUMBER and after.string in ("L", "l") and after.start == token.end:
            yield OldForm(line, f"long integers are gone: write {word}")


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    """As many tokens as can be read."""
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            tokens.append(token)
    except (tokenize.TokenError, SyntaxError):
        pass
    return tokens


def _is_statement(after: tokenize.TokenInfo) -> bool:
    if after.type == tokenize.NAME:
        return after.string not in _WORDS_THAT_JOIN
    return after.type in (tokenize.NUMBER, tokenize.STRING) or after.string in _OPERATORS_AFTER_PRINT


def _statement_advice(tokens: list[tokenize.TokenInfo], word: str) -> str:
    """The statement rewritten as a call, where it stands on one line."""
    if word == "exec":
        return "exec is a function: write exec(...)"
    first = tokens[0]
    ends = (t for t in tokens if t.type in (tokenize.NEWLINE, tokenize.COMMENT) or t.string == ";")
    end = next(ends, first)
    if end.start[0] != first.start[0]:
        return "print is a function: put what it prints in brackets"
    text = first.line[first.end[1] : end.start[1]].strip()
    if text.startswith(">>"):
        target, _, what = text[2:].partition(",")
        return f"print is a function: write print({what.strip()}, file={target.strip()})"
    if text.endswith(","):
        text += ' end=" "'
    return f"print is a function: write print({text})"


def _depths(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[int, int, tokenize.TokenInfo]]:
    """Position, bracket depth before it, and token, to the end of the statement's first line."""
    depth = 0
    for k, token in enumerate(tokens):
        yield k, depth, token
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if token.type == tokenize.NEWLINE or (token.string == ":" and depth == 0):
            return


def _has_bare_comma(tokens: list[tokenize.TokenInfo]) -> bool:
    return any(token.string == "," and depth == 0 for _, depth, token in _depths(tokens))


def _comma_advice(word: str) -> str:
    if word == "except":
        return "write: except Kind as error:"
    return "write: raise Kind(message)"


def _tuple_parameters(tokens: list[tokenize.TokenInfo]) -> Iterator[OldForm]:
    """``def f(a, (x, y)):`` takes a tuple apart in its head."""
    for k, depth, token in _depths(tokens):
        if token.string == "(" and depth == 1 and tokens[k - 1].string in (",", "("):
            inside = []
            for t in tokens[k + 1 :]:
                if t.string == ")":
                    break
                inside.append(t.string)
            names = " ".join(inside).replace(" ,", ",")
            advice = (
                f"a parameter cannot be taken apart in the head of {tokens[1].string}: write one name, "
                f"say example, in place of ({names}), and begin the body with {names} = example"
            )
            yield OldForm(token.start[0], advice)
