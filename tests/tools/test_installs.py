"""What is told about installs is what was found, and what was found is what is declared."""

import json
import tomllib

import pytest

from tools import badges, installs


@pytest.fixture(scope="module")
def results():
    return json.loads(installs.RESULTS.read_text(encoding="utf-8"))


def test_the_lowest_versions_that_are_declared_are_those_that_were_tried(results):
    lowest = {row["row"]: row["versions"] for row in results if row["resolution"] == "lowest"}
    bounds = dict(text.split(">=") for text in installs.requirements(installs.EXTRAS))
    own = set(installs.declared(installs.EXTRAS)) - set(installs.declared(()))
    assert lowest
    for row, versions in lowest.items():
        for name, version in versions.items():
            # An extra may ask for a later version of what the library needs: kornia does, of torch.
            if row.endswith("extras") and name not in own:
                continue
            # 6 is tried as 6.0, and 2.5.0 is what 2.5 means.
            short, long = sorted((bounds[name].split("."), version.partition("+")[0].split(".")), key=len)
            assert long[: len(short)] == short, (name, bounds[name], version)
            assert set(long[len(short) :]) <= {"0", "0post0"}, (name, bounds[name], version)


def test_only_what_works_is_told(results):
    assert not [row["row"] for row in results if row["problem"]]
    names = {row.name for row in installs.ROWS}
    assert {row["row"] for row in results} <= names
    assert {"3.11-lowest-bare", "3.11-newest-bare"} <= {row["row"] for row in results}


def test_the_page_has_the_table_of_the_results(results):
    start, end = installs.MARKS
    between = installs.PAGE.read_text(encoding="utf-8").split(f"{start}\n")[1].split(end)[0]
    assert between == installs.shown(results)


def test_classifiers_name_the_pythons_that_were_tried(results):
    project = tomllib.loads((installs.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text}
    assert listed == {row["python"].rpartition(".")[0] for row in results}


def test_badges_say_what_is_so():
    assert badges.PATH.read_text(encoding="utf-8") == badges.svg(badges.facts())
    readme = (installs.ROOT / "README.md").read_text(encoding="utf-8")
    # Whoever sees no image reads the same.
    (words,) = (line for line in readme.splitlines() if "badges.svg" in line)
    for label, text in badges.facts().items():
        assert label in words
        assert text.replace(" – ", " to ") in words
