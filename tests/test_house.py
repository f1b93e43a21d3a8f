"""Rules of the house that no linter knows: names, tests and documentation."""

import ast
import importlib
import inspect
import pkgutil
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

import aninfonce

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"

# Modules without a test file of their own name: which file tests them, and why it is another.
TESTED_ELSEWHERE = {
    "aninfonce": {
        "*/__init__": ("test_lazy", "gives out names, nothing else"),
        "__init__": ("test_lazy", "gives out names, nothing else"),
        "_settings": ("training/test_config", "the base of all settings, which are tested there"),
        "recipe": ("training/test_config", "settings, refused and completed with those of a run"),
        "extending": ("test_lazy", "gives out names, nothing else"),
        "functional": ("losses/test_info_nce", "gives out names, nothing else"),
        # One numerical result, computed in several ways that must agree.
        "losses/kernel/*": (
            "losses/test_kernel",
            "each way is compared with plain loops and the others",
        ),
        "losses/_batch": ("losses/test_info_nce", "parts of one function"),
        "losses/_prepare": ("losses/test_info_nce", "parts of one function"),
        "losses/by_rows": ("losses/test_info_nce", "parts of one function"),
        "losses/functional": ("losses/test_info_nce", "named after the function"),
        "losses/one_matrix": ("losses/test_info_nce", "parts of one function"),
        "losses/plain": ("losses/test_info_nce", "parts of one function"),
        "losses/terms": ("losses/test_info_nce", "parts of one function"),
        "losses/blockwise": ("training/test_monitor", "its doctest, and the loss of the evaluations"),
        "losses/spectral": ("losses/test_modules", "function and module, compared with loops"),
        "losses/tricl": ("losses/test_modules", "compared with loops like the other modules"),
        "similarities/*": ("test_similarities", "all must obey the same rules"),
        "distributions/*": ("distributions/test_shaped", "all must obey the same rules"),
        "processes/*": ("processes/test_process", "a process is built from all of them"),
        "metrics/_*": ("metrics/test_regression", "what every metric does first and last"),
        # Parts of one network, or of one source.
        "encoders/_*": ("encoders/test_mlp", "parts of several encoders"),
        "sources/*": ("sources/test_base", "all sources must obey the same rules"),
        "sources/split_loader": ("sources/test_rows_aside", "which batches of a loader are held out"),
        "optim/groupwise": ("optim/test_lars", "a base class"),
        # The stages of one run.
        "alignment/closing": ("alignment/test_likelihood", "chooses between the fits that are tested there"),
        "alignment/closing_flat": ("alignment/test_space_choice", "follows the choice of a flat space"),
        "alignment/map_to_sphere": ("alignment/test_space_choice", "follows the choice of the sphere"),
        "training/errors": ("training/test_resume", "how a run ends early"),
        "training/fitted": ("training/test_loop", "what a run gives back"),
        "training/interrupt": ("training/test_resume", "how a run ends early"),
        "training/loss_options": ("training/test_config", "completes the settings"),
        "training/packing": ("training/test_resume", "what is packed must be what is unpacked"),
        "training/phases": ("training/test_loop", "the phases of a run"),
        "training/progress_bar": ("training/test_reporters", "one of the reporters"),
        "training/stopwatch": ("training/test_loop", "its doctest, and the profile of a run"),
        # Data: one reader for a format each, opened by one function.
        "datasets/*": (
            "datasets/test_local",
            "formats are told apart, and damage is told, by the one that opens",
        ),
        "datasets/cache": ("datasets/test_fetch", "the way of a data set to the disk"),
        "datasets/catalog": ("datasets/test_fetch", "the way of a data set to the disk"),
        "datasets/transport": ("datasets/test_fetch", "the way of a data set to the disk"),
        "augment/*": ("augment/test_augment", "all must obey the same rules"),
        "plots/_*": ("plots/test_concentration_plot", "parts of several plots"),
        "plots/pages": ("diagnostics/test_page", "the frame of every page, by the page of an audit"),
        "plots/drawing": ("plots/test_hover", "from a figure to a page that tells its numbers"),
        # What users call, as they call it.
        "diagnostics/*": ("diagnostics/test_audit", "every finding is looked at in an audit of a known case"),
        "estimator/*": ("estimator/test_contrastive_ica", "parts of the estimator, by what it then does"),
        "cli/*": ("cli/test_commands", "a command is tested as a command"),
    },
    "aninfonce_papers": {
        "__init__": ("test_architecture", "a docstring"),
        "*/__init__": ("test_architecture", "a docstring, or names of the modules beside it"),
        "cli/*": ("cli/test_studies", "a command is tested as a command"),
        "engine/*": ("engine/test_runner", "parts of a sweep, by what it then does"),
        "report/*": ("report/test_pages", "parts of a page, by what is on it"),
        "models/*": ("engine/test_studies", "networks of a study, run with it"),
        "worlds/scenes/*": ("worlds/scenes/test_renderer", "parts of a picture, by what is seen on it"),
        "worlds/vae/*": ("worlds/vae/test_vae", "parts of one model"),
        "worlds/videos/*": ("worlds/videos/test_videos", "parts of a video, by what is seen on it"),
        "claims/*": ("claims/test_ledger", "every claim is judged in the ledger"),
        "beyond/*": ("engine/test_studies", "every study is run on its smallest cells"),
        "rusak2025/*": ("engine/test_studies", "every study is run on its smallest cells"),
        "zimmermann2021/*": ("engine/test_studies", "every study is run on its smallest cells"),
    },
}


ENTRIES = [(package, pattern) for package, listed in TESTED_ELSEWHERE.items() for pattern in listed]


def modules(package):
    folder = SOURCES / package
    return (path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.py")))


def folder_of_tests(package):
    return ROOT / "tests" if package == "aninfonce" else ROOT / "tests" / package


def has_tests(package, name):
    folder, last = folder_of_tests(package) / name.parent, name.name
    return any((folder / f"test_{spelling}.py").exists() for spelling in (last, last.lstrip("_")))


@pytest.mark.parametrize("package", TESTED_ELSEWHERE)
def test_every_module_has_its_tests(package):
    lost = [
        str(name)
        for name in modules(package)
        if not has_tests(package, name)
        and not any(fnmatch(str(name), pattern) for pattern in TESTED_ELSEWHERE[package])
    ]
    assert not lost, "no test file of that name, and not on the list"


@pytest.mark.parametrize(("package", "pattern"), ENTRIES)
def test_the_list_of_modules_tested_elsewhere_is_up_to_date(package, pattern):
    file, why = TESTED_ELSEWHERE[package][pattern]
    assert (folder_of_tests(package) / f"{file}.py").exists()
    assert why
    assert any(fnmatch(str(name), pattern) and not has_tests(package, name) for name in modules(package))


# Names that mean one thing wherever they are; a command is named after what it does.
MAY_RECUR = {"__init__", "_arrays", "audit", "base", "errors", "functional", "presets", "registry"}


def test_no_file_name_has_two_meanings():
    places = defaultdict(list)
    for name in modules("aninfonce"):
        places[name.name].append(str(name))
    assert not {name: where for name, where in places.items() if len(where) > 1 and name not in MAY_RECUR}


def test_no_class_name_has_two_meanings():
    places = defaultdict(list)
    for name in modules("aninfonce"):
        for node in ast.parse((SOURCES / "aninfonce" / name).with_suffix(".py").read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(name))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def public_packages():
    for module in pkgutil.iter_modules(aninfonce.__path__):
        if not module.name.startswith("_"):
            package = importlib.import_module(f"aninfonce.{module.name}")
            if hasattr(package, "__all__"):
                yield package


def test_every_public_name_has_a_docstring_and_its_package_a_page():
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    for package in public_packages():
        assert f"::: {package.__name__}\n" in f"{pages}\n", package.__name__
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, type) or inspect.isfunction(value):
                assert value.__doc__, f"{package.__name__}.{name}"
