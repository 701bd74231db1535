"""Rules for names: class and module names that stand once, functions named by verbs, no private language."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that no name may have as a whole part, in whatever meaning.
PRIVATE_LANGUAGE = _words("told said heard gone looking marks")
IRREGULAR = _words(
    "begun bought brought built caught chosen dealt done drawn driven fallen fed felt found given gone grown "
    "heard held kept known laid learnt led lost made meant met paid said seen sent shown shut taken taught "
    "thought thrown told understood withdrawn won woven written"
)
# What ends like a participle, or is one, and is as often something else.
NO_PARTICIPLES = _words("bed breed embed exceed feed heed indeed need proceed red seed shed speed succeed")
PREDICATES = ("is", "are", "was", "were", "has", "have", "had", "may", "can", "must", "needs")
# Names of modules that may stand in several packages.
CONVENTIONAL = frozenset(("__init__", "base", "kernels", "_kernels"))


class Name(NamedTuple):
    """A name and where it stands."""

    file: str
    line: int
    name: str


def parts(name: str) -> list[str]:
    """The words of a name, in small letters.

    >>> parts("_ToldSets"), parts("n_with_HTML")
    (['told', 'sets'], ['n', 'with', 'html'])
    """
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_participle(word: str) -> bool:
    return word not in NO_PARTICIPLES and ((word.endswith("ed") and len(word) > 3) or word in IRREGULAR)


def names_by_participle(file: str, tree: ast.AST) -> Iterator[Name]:
    """Functions whose name ends in a participle; predicates and properties that are booleans are no fault."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            words = parts(node.name)
            if words and is_participle(words[-1]) and words[0] not in PREDICATES and not is_boolean(node):
                yield Name(file, node.lineno, node.name)


def is_boolean(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a property that is true or false."""
    decorators = {ast.unparse(one).split(".")[-1] for one in node.decorator_list}
    answers = node.returns is not None and ast.unparse(node.returns) == "bool"
    return answers and bool(decorators & {"property", "cached_property"})


def private_language(file: str, text: str) -> Iterator[Name]:
    """Names in the code, each line once, that have a word of the private language in them."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.NAME and line not in lines and PRIVATE_LANGUAGE & set(parts(token.string)):
            lines.add(line)
            yield Name(file, line, token.string)


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_protocol(node: ast.ClassDef) -> bool:
    return any(re.match(r"(typing\.)?Protocol\b", ast.unparse(base)) for base in node.bases)


def standing_twice(names: Iterable[Name]) -> dict[str, list[Name]]:
    """Names that stand more than once, with their places."""
    found: dict[str, list[Name]] = defaultdict(list)
    for one in names:
        found[one.name].append(one)
    return {name: places for name, places in sorted(found.items()) if len(places) > 1}


def class_names(files: Iterable[tuple[str, ast.AST]]) -> Iterator[Name]:
    """Classes of all files; a leading underscore makes no other name."""
    return (Name(file, node.lineno, node.name.lstrip("_")) for file, tree in files for node in classes(tree))


def module_names(files: Iterable[str]) -> Iterator[Name]:
    stems = ((file, file.split("/")[-1].removesuffix(".py")) for file in files)
    return (Name(file, 1, stem) for file, stem in stems if stem not in CONVENTIONAL)
