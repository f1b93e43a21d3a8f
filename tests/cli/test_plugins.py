"""Commands of other packages: added where they are installed, explained where they are not."""

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from aninfonce.cli import plugins


def app_with(monkeypatch, *found):
    monkeypatch.setattr(plugins, "entry_points", lambda group: found)
    app = typer.Typer()
    app.command("demo")(lambda: None)
    plugins.register(app)
    return app


@pytest.mark.parametrize("name", ["list", "run", "report"])
def test_a_library_alone_says_how_to_get_the_papers(monkeypatch, name):
    result = CliRunner().invoke(app_with(monkeypatch), [name, "fig2", "--seeds", "3"])
    assert result.exit_code == 2
    assert 'pip install "aninfonce[papers]"' in result.output


def test_papers_without_what_they_need_are_as_if_missing(monkeypatch):
    from aninfonce_papers import cli

    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    found = EntryPoint("papers", "aninfonce_papers.cli:register", plugins.GROUP)
    result = CliRunner().invoke(app_with(monkeypatch, found), ["list"])
    assert result.exit_code == 2
    assert 'pip install "aninfonce[papers]"' in result.output


def test_installed_papers_have_their_commands(monkeypatch):
    found = EntryPoint("papers", "aninfonce_papers.cli:register", plugins.GROUP)
    result = CliRunner().invoke(app_with(monkeypatch, found), ["list"])
    assert result.exit_code == 0
    assert "fig2" in result.output
