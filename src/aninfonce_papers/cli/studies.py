"""`aninfonce list`, `run` and `report`: the tables and figures of the papers by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aninfonce.extending import friendly

if TYPE_CHECKING:
    from aninfonce_papers.engine import ResultStore, Row, Task


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command(name="list")(list_studies)
    app.command(no_args_is_help=True)(run)
    app.command(no_args_is_help=True)(report)


@friendly
def list_studies(
    study: Annotated[str | None, typer.Argument(help="Show the cells of this one.")] = None,
    preset: Annotated[
        Literal["smoke", "laptop", "overnight", "paper"], typer.Option(help="Size.")
    ] = "laptop",
) -> None:
    """List the studies, or the cells of one.

    For example:

        aninfonce list

        aninfonce list fig10
    """
    from aninfonce_papers.engine.registry import check_study

    if study is not None:
        check_study(study)  # a wrong name is reported before anything is loaded

    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    if study is None:
        from aninfonce_papers.engine.index import read_index

        for heading in ("study", "what", "cells"):
            table.add_column(heading, no_wrap=heading == "study")
        for name, facts in read_index().items():
            table.add_row(name, facts["title"], str(facts["cells"].get(preset, "–")))
    else:
        from aninfonce_papers.engine import find_study, plan
        from aninfonce_papers.engine.progress import duration

        for heading in ("cell", "compared on", "about"):
            table.add_column(heading)
        for task in plan([find_study(study)], preset):
            found = task.experiment
            compared = ", ".join(f"{name} {known.value:g}" for name, known in found.published.items())
            table.add_row(found.name, compared or "–", duration(found.seconds))
        typer.echo(f"settings that --set changes: {', '.join(found.paths())}\n")
    Console().print(table)


@friendly
def run(
    studies: Annotated[list[str], typer.Argument(help="Names from `aninfonce list`, or `all`.")],
    preset: Annotated[
        Literal["smoke", "laptop", "overnight", "paper"],
        typer.Option(
            help="Size: seconds; minutes on two cores; up to three hours of one core per cell, for studies of"
            " pictures; or the authors' own."
        ),
    ] = "laptop",
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("runs/studies"),
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each cell: 0, 1, ...")] = 1,
    only: Annotated[
        list[str] | None, typer.Option(help="Cells to run, * and ? allowed; can be repeated.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="path=value, changes a setting; can be repeated.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Cells at a time, one thread each.")] = 2,
    backend: Annotated[
        Literal["loky", "ray"], typer.Option(help="Processes here, or a Ray cluster.")
    ] = "loky",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster; a local one if omitted.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list cells and estimated time.")] = False,
) -> None:
    """Run studies; every finished cell is kept, and cells that are there already are not run again.

    For example:

        aninfonce run fig10

        aninfonce run all --preset smoke --out runs/smoke

        aninfonce run exactness --only "exact*" --seeds 3 --set recipe.steps=500 --dry-run
    """
    from aninfonce_papers.engine.index import read_index
    from aninfonce_papers.engine.registry import check_study, study_names

    names = list(dict.fromkeys(studies))
    if studies == ["all"]:
        sizes = read_index()
        names = [name for name in study_names() if preset in sizes[name]["cells"]]
    for name in names:
        check_study(name)  # a wrong name is reported before anything is loaded

    from aninfonce_papers.engine import ResultStore, find_study, parse_changes, plan, remaining

    tasks = plan(
        [find_study(name) for name in names],
        preset,
        seeds=seeds,
        only=only or (),
        changes=parse_changes(change or ()),
    )
    store = ResultStore(out)
    left = remaining(tasks, store)
    if dry_run:
        _show_plan(left, len(tasks), store, jobs)
        return
    errors = [row.error for row in _sweep(left, store, jobs, backend, address)]
    done, failed, there = errors.count(None), len(errors) - errors.count(None), len(tasks) - len(errors)
    typer.echo(f"{done} finished, {failed} failed, {there} already there: {store.path}")
    if failed:
        raise typer.Exit(1)


def _show_plan(left: list[Task], total: int, store: ResultStore, jobs: int) -> None:
    from aninfonce_papers.engine import estimate_seconds
    from aninfonce_papers.engine.progress import duration

    rows = store.rows()
    seconds = [estimate_seconds(task, rows) for task in left]
    for task, estimate in zip(left, seconds, strict=True):
        typer.echo(f"{task.label}: about {duration(estimate)}")
    wall = max([sum(seconds) / min(jobs, max(1, len(left))), *seconds], default=0.0)
    typer.echo(
        f"{len(left)} of {total} to run, about {duration(sum(seconds))} of one core, {duration(wall)} in all"
    )


def _sweep(
    left: list[Task],
    store: ResultStore,
    jobs: int,
    backend: Literal["loky", "ray"],
    address: str | None,
) -> list[Row]:
    """Run with progress bars; gives the new rows."""
    from concurrent.futures.process import BrokenProcessPool

    from aninfonce_papers.engine import estimate_seconds, run_sweep
    from aninfonce_papers.engine.progress import SweepProgress

    rows = store.rows()
    seconds = {task.key: estimate_seconds(task, rows) for task in left}
    try:
        with SweepProgress(left, seconds, jobs) as progress:
            return run_sweep(left, store, jobs=jobs, backend=backend, address=address, watcher=progress)
    except KeyboardInterrupt:
        typer.secho(
            f"stopped; finished cells are in {store.path}; run the same command again to go on",
            fg="yellow",
            err=True,
        )
        raise typer.Exit(130) from None
    except BrokenProcessPool:
        typer.secho(
            "a worker process died, perhaps out of memory (try --jobs 1); finished cells are in"
            f" {store.path}; run the same command again to go on",
            fg="red",
            err=True,
        )
        raise typer.Exit(1) from None


@friendly
def report(
    directory: Annotated[Path, typer.Argument(help="Folder of the results.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the page.", show_default="DIRECTORY/report")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write docs/results.md and the README's summary instead.")
    ] = False,
    benchmarks: Annotated[
        Path, typer.Option(help="Folder of the benchmarks' rows, if there is one, for claims about them.")
    ] = Path("benchmarks/results"),
    page: Annotated[Path, typer.Option(help="Markdown file of all tables.")] = Path("docs/results.md"),
    readme: Annotated[Path, typer.Option(help="File with the summary's marks.")] = Path("README.md"),
    check: Annotated[
        bool, typer.Option("--check", help="With --markdown: only check whether they are up to date.")
    ] = False,
) -> None:
    """Judge the papers' claims, and write results beside the published values, as a page or as Markdown.

    For example:

        aninfonce report runs/studies

        aninfonce report results --markdown --check
    """
    from aninfonce_papers.report import write_markdown, write_report

    if check and not markdown:
        raise ValueError("`--check` goes with `--markdown`")
    if not markdown:
        typer.echo(f"wrote {write_report(directory, out, benchmarks=benchmarks)}")
        return
    stale = write_markdown(directory, page, readme, benchmarks=benchmarks, check=check)
    for path in stale:
        typer.echo(f"{path} is out of date" if check else f"wrote {path}")
    if check and stale:
        raise typer.Exit(1)
