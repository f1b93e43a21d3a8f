"""The papers are built on public names of the library alone.

A public name is one that `aninfonce` lists, or a package or module right below it whose name has no
underscore: in `__all__`, or by defining it where there is no such list.
"""

import ast
import importlib
from pathlib import Path

import pytest

import aninfonce_papers

PAPERS = Path(aninfonce_papers.__file__).parent
FILES = sorted(PAPERS.rglob("*.py"))


def library_imports(path):
    """List (module, name) of all imports from the library, wherever they stand in a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "aninfonce":
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names if alias.name.split(".")[0] == "aninfonce"]
    return found


def is_public(module, name):
    if name is None:
        return module == "aninfonce"
    if any(part.startswith("_") for part in module.split(".")) or module.count(".") > 1:
        return False
    listed = importlib.import_module(module)
    return name in getattr(listed, "__all__", vars(listed)) and not name.startswith("_")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PAPERS)))
def test_the_papers_import_public_names_only(path):
    private = [found for found in library_imports(path) if not is_public(*found)]
    assert not private


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("aninfonce._seeds", "stream"),
        ("aninfonce.training.config", "Recipe"),
        ("aninfonce.training", "no_such_name"),
        ("aninfonce.training.loop", None),
    ],
)
def test_the_rule_sees_what_is_private(module, name):
    assert not is_public(module, name)


def test_nothing_is_exported_for_packages_that_none_uses():
    from aninfonce import extending

    used = {
        name for path in FILES for module, name in library_imports(path) if module == "aninfonce.extending"
    }
    assert used == set(extending.__all__)


def test_no_untyped_dictionary_crosses_a_room():
    """Nothing public takes or gives `dict[str, Any]`; options of a call inside one function may be one."""
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            hints = [
                node.returns,
                *(argument.annotation for argument in node.args.args + node.args.kwonlyargs),
            ]
            texts = [ast.unparse(hint) for hint in hints if hint is not None]
            found += [(path.name, node.name, text) for text in texts if "[str, Any]" in text]
    assert not found
