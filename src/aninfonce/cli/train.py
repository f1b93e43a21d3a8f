"""`aninfonce train`: a run described in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aninfonce.cli.errors import friendly

if TYPE_CHECKING:
    from lightning_fabric import Fabric

    from aninfonce.training import Reporter, TrainingConfig


@friendly
def train(
    config: Annotated[Path, typer.Argument(help="YAML file with the settings.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for log and checkpoints.", show_default="runs/<name of CONFIG>"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the newest checkpoint.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the run that the folder holds.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the file's.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="In place of the file's.")] = None,
    accelerator: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    devices: Annotated[int, typer.Option(min=1, help="Processes or GPUs on each machine.")] = 1,
    nodes: Annotated[int, typer.Option(min=1, help="Machines.")] = 1,
    strategy: Annotated[str, typer.Option(help="ddp for several processes; see Lightning Fabric.")] = "auto",
    precision: Annotated[str, typer.Option(help="32-true, bf16-mixed, 16-mixed, ...")] = "32-true",
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also log for TensorBoard.")] = False,
    wandb: Annotated[str | None, typer.Option(help="Also log to this Weights & Biases project.")] = None,
) -> None:
    """Train an encoder on pairs.

    The smallest file has two lines; more of them change single settings, such
    as `recipe: {steps: 500}`:

        data:
          process: fig2/25

    Pairs of your own come from a file with arrays `x` and `x_pos` (and `z`, to
    score against, if you know it): .npz, or .csv or .parquet with columns x_0,
    x_1, …, x_pos_0, …:

        data:
          arrays: pairs.npz

        dim: 10

    For example:

        aninfonce train config.yaml

        aninfonce train config.yaml --out runs/first --resume

        aninfonce train config.yaml --devices 2 --strategy ddp
    """
    from aninfonce._validation import check_choice
    from aninfonce.processes import preset_names
    from aninfonce.training import load_config

    settings = _changed(load_config(config), seed, steps)
    if settings.data is None:
        raise ValueError(
            f"{config}: `data` is missing: say where pairs come from, such as `process: fig2/25`"
        )
    if settings.data.process is not None:
        listed_by = "`aninfonce.processes.preset_names()`"
        check_choice(settings.data.process, "data.process", preset_names(), listed_by=listed_by)

    # The file has been checked: torch, which takes seconds to load, is loaded only now.
    from aninfonce.training.loop import Trainer
    from aninfonce.training.open_data import open_data, with_sha256
    from aninfonce.training.process_exit import leave_process_group
    from aninfonce.training.run_folder import refuse_taken

    directory = out if out is not None else Path("runs") / config.stem
    # Before any data are read; the run itself looks again when nobody else can write there.
    refuse_taken(directory, resume=resume, overwrite=overwrite)
    fabric = _open_fabric(accelerator, devices, nodes, strategy, precision)
    settings = settings.model_copy(update={"data": with_sha256(settings.data)})
    assert settings.data is not None
    trainer = Trainer(
        open_data(settings.data),
        settings,
        directory=directory,
        fabric=fabric,
        reporters=_reporters(directory, tensorboard, wandb) if fabric.is_global_zero else (),
    )
    fitted = trainer.fit(resume=resume, overwrite=overwrite)
    if fabric.is_global_zero:
        _summarize(fitted.history[-1] if fitted.history else {}, fitted.folded, directory)
    leave_process_group()


def _open_fabric(accelerator: str, devices: int, nodes: int, strategy: str, precision: Any) -> Fabric:
    """Open devices and start the other processes."""
    from lightning_fabric import Fabric

    try:
        fabric = Fabric(
            accelerator=accelerator, devices=devices, num_nodes=nodes, strategy=strategy, precision=precision
        )
    except (ValueError, RuntimeError, TypeError) as problem:
        given = (
            f"--accelerator {accelerator} --devices {devices} --strategy {strategy} --precision {precision}"
        )
        raise ValueError(f"this machine cannot train with {given}: {problem}") from None
    fabric.launch()
    return fabric


def _changed(config: TrainingConfig, seed: int | None, steps: int | None) -> TrainingConfig:
    """Apply what the command line says on top of the file."""
    from aninfonce.training.config import parse_config

    data = config.model_dump(mode="json")
    if seed is not None:
        data["seed"] = seed
    if steps is not None:
        data["recipe"]["steps"] = steps
    return parse_config(data)


def _reporters(directory: Path, tensorboard: bool, wandb: str | None) -> list[Reporter]:
    from aninfonce.training import TensorBoard, WeightsAndBiases
    from aninfonce.training.progress_bar import ProgressBar

    reporters: list[Reporter] = [ProgressBar()]
    if tensorboard:
        reporters.append(TensorBoard(directory / "tensorboard"))
    if wandb is not None:
        reporters.append(WeightsAndBiases(wandb, dir=str(directory)))
    return reporters


def _summarize(row: dict[str, Any], folded: bool | None, directory: Path) -> None:
    shown = ("held_out_loss", "training_pairs_loss", "gap", "r2")
    parts = [f"{name} {row[name]:.4f}" for name in shown if name in row]
    if "concentration" in row:
        parts.append(f"Λ̂ {row['concentration'][0]:.2f} to {row['concentration'][-1]:.2f}")
    if folded is not None:
        parts.append("looks folded: a sign of one factor seems lost" if folded else "not folded")
    typer.echo(f"{directory}: " + ", ".join(parts))
