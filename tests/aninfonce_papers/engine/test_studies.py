"""Every study runs at its smallest size, and holds the published values."""

import pytest

from aninfonce_papers.engine import find_study, plan, study_names
from aninfonce_papers.engine.execute import execute
from aninfonce_papers.worlds.scenes import can_render

# One cell of each kind where all would take long.
CELLS = {
    "fig2": ["AnInfoNCE Λ₂=25", "InfoNCE Λ₂=25", "optimum"],
    "fig3": ["AnInfoNCE Λ₂=25", "InfoNCE Λ₂=25", "AnInfoNCE Λ=5…50"],
    "fig4": ["A: d=10, batch 50"],
    "fig6-uniformity": ["κ=0.01", "κ=100"],
    "fig8": ["overlap*", "dynamics Λ=25, batch 50"],
    "fig9": ["d=23, batch 50"],
    "fig10": ["exact", "B: hard negatives"],
    "fig11": ["InfoNCE", "ensemble"],
    "fig12": ["TriCL Λ=100", "AnInfoNCE Λ=15 and 250"],
    "editing": ["AnInfoNCE", "VAE encoder"],
    "fashion-mnist": ["AnInfoNCE without ℓ2", "untrained"],
    "augmentation-strength": ["AnInfoNCE, crop × 0.5", "InfoNCE, blur × 1"],
    "domain": ["grey images"],
    "theorem": ["two blocks"],
    "exactness": ["exact, forward", "approximate, symmetric+β", "trained, exact, symmetric+β"],
    "conditional-form": ["normal, InfoNCE", "bimodal, full metric", "correlated, AnInfoNCE+β"],
    "nonuniform": ["κ=6, with β", "κ=0, without β"],
    "table1": ["row 1:*", "row 5:*", "row 12:*", "identity, rows 1*", "supervised, rows 5*"],
    "table2": ["row 1:*", "row 3:*", "supervised*"],
    "table3": ["Δt .05 s: SlowVAE*", "Δt .15 s: Laplace, box"],
    "table4": ["row 3:*", "row 5:*", "identity", "supervised"],
    "causal3dident": ["DGP rotations, AnInfoNCE", "small crops, InfoNCE", "rotations, InfoNCE"],
    "marginals": ["κ=1"],
    "timescales": ["flat", "sphere, d + 1 columns", "AMUSE*"],
    "oscillators": [
        "rotating: linear dynamics",
        "AR(2): flat",
        "AR(2): dynamic mode*",
        "nothing turns: SOBI",
    ],
    "heteroscedastic": ["Λ × 16: Λ̂(x) in Rᵈ + β", "two kinds: InfoNCE", "forced onto the sphere: Λ̂(x) + β"],
    "light-tunnel": ["light sensors, steps: ours", "camera, walk: FastICA", "all sensors, walk: linear*"],
    "broken-assumptions": ["nothing broken", "noise, share 0.5", "4 of 4 share Λ, Laplace"],
}
# Fixtures of the folders with real images, for the studies that need them.
OF_DIGITS = ("fig3", "fig6-images", "mnist-augmentations", "domain", "augmentation-strength", "editing")
FOLDERS = {
    **dict.fromkeys(OF_DIGITS, "mnist_folder"),
    "cifar10": "cifar10_folder",
    "fashion-mnist": "fashion_folder",
}
# Studies whose data are drawn, into the cache.
SCENES = ("table4", "causal3dident")


@pytest.mark.parametrize("name", study_names())
def test_smoke(name, request, tmp_path, monkeypatch):
    if name in FOLDERS:
        monkeypatch.setenv("ANINFONCE_DATA", str(request.getfixturevalue(FOLDERS[name])))
    if name == "light-tunnel":
        pytest.importorskip("causalchamber", reason="the light tunnel needs causalchamber")
    if name in SCENES:
        monkeypatch.setenv("ANINFONCE_DATA", str(tmp_path))
        if not can_render():
            pytest.skip("nothing can be drawn here: there is no EGL")
    rows = []
    for task in plan([find_study(name)], "smoke", only=CELLS.get(name, ())):
        row = execute(task)
        assert row.error is None
        # A level of R² that is not reached has no step at which it was, and real data need a file.
        known = {metric for metric in row.published if not metric.startswith("steps to")}
        known -= {"MCC [%], KITTI Masks"}
        assert known <= set(row.metrics)
        rows.append(row)
    figures = find_study(name).plot(rows)
    assert figures
    assert all(figure.axes for figure in figures.values())


def test_a_cell_is_a_function_of_its_seed():
    (task,) = plan([find_study("table1")], "smoke", only=["row 1:*"])
    first, second = execute(task), execute(task)
    assert first.metrics == second.metrics
    (other,) = plan([find_study("table1")], "smoke", seeds=2, only=["row 1:*"])[1:]
    assert execute(other).metrics != first.metrics


def test_hard_negatives_have_their_optimum_at_the_difference():
    """400 anchors: the estimate scatters by about 1.7, so ±8 does not err by chance."""
    (task,) = plan([find_study("fig10")], "smoke", only=["exact"], changes={"score.anchors": 400})
    assert execute(task).metrics["optimum"] == pytest.approx(50.0, abs=8.0)


def test_published_values():
    """The tables as printed, once more and in another form."""

    def printed(study, metric, start):
        cells = [cell for cell in find_study(study).experiments("paper") if cell.name.startswith(start)]
        cells = [cell for cell in cells if not cell.name.endswith(", β")]
        return [(cell.published[metric].value, cell.published[metric].spread) for cell in cells]

    table1 = "99.42 99.86 99.91 99.86 99.60 99.64 99.70 99.69 99.02 99.02 98.13 98.76"
    spread1 = ".05 .01 .01 .00 .02 .02 .02 .02 .01 .02 .14 .03"
    assert printed("table1", "R² [%]", "row") == _pairs(table1, spread1)
    assert printed("table1", "R² [%]", "identity") == _pairs(
        "66.98 67.93 63.37 62.49 63.57", "2.79 7.40 2.41 1.65 2.30"
    )
    assert printed("table1", "R² [%]", "supervised") == _pairs(
        "99.71 99.78 99.70 99.65 99.61", ".05 .06 .07 .04 .17"
    )
    table2 = "98.62 99.90 99.77 99.76 98.80 98.57 99.85 58.26 59.67 43.80"
    spread2 = ".05 .06 .01 .02 .02 .02 .01 3.00 2.33 2.15"
    assert printed("table2", "MCC [%]", "row") == _pairs(table2, spread2)
    assert printed("table2", "MCC [%]", "supervised") == _pairs("99.97 99.93", ".03 .03")
    style = [value for value, _ in printed("fig2", "style", "AnInfoNCE Λ₂")]
    content = [value for value, _ in printed("fig2", "content", "InfoNCE Λ₂")]
    assert style == [1, 1, 1, 1, 0.79, 0.79]
    assert content == [1, 0.96, 0.94, 0.92, 0.89, 0.88]
    fails = [cell.published["MCC [%]"].goal for cell in find_study("table2").experiments("laptop")][:10]
    assert fails == ["higher"] * 7 + ["equal"] * 3


def test_published_values_of_the_appendix():
    def printed(study, metric, start=""):
        cells = [cell for cell in find_study(study).experiments("laptop") if cell.name.startswith(start)]
        cells = [cell for cell in cells if not cell.name.endswith(", β")]
        return [cell.published[metric].value for cell in cells if metric in cell.published]

    assert printed("fig6-uniformity", "R²") == [1, 1, 1, 1, 1, 1, 1, 0.98, 0.6, 0.21]
    assert printed("fig6-uniformity", "domain accuracy") == _numbers(".50 .51 .51 .53 .57 .70 .93 1 1 1")
    assert printed("fig8", "steps to R² 0.6") == _numbers("61.5e3 16e3 9.5e3 7e3 914.6e3 35.5e3 14.5e3 11e3")
    assert printed("fig8", "steps to R² 0.95", "dynamics Λ=25") == _numbers("1226e3 134.5e3 83.5e3 55.5e3")
    assert printed("fig8", "steps to R² 0.95", "dynamics Λ=75") == [1_518_000]
    assert printed("fig10", "R²", "B") == [0.943]
    assert printed("fig10", "R² before", "B") == [0.852, 0.852]
    assert printed("fig12", "peak R²", "TriCL") == [0.991, 0.663]
    assert printed("fig12", "end R²") == [0.896, 0.91, 0.525, 0.92]


def test_published_values_of_images():
    """Table 1: classes, grey, brightness, contrast, hue, saturation and their average."""

    def printed(study, method, layer):
        (cell,) = [cell for cell in find_study(study).experiments("paper") if cell.name == method]
        names = ("classes", "grey", "brightness", "contrast", "hue", "saturation", "average")
        return [cell.published[f"{layer}: {name} [%]"].value for name in names]

    assert printed("cifar10", "InfoNCE", "backbone") == _numbers("90.9 56.1 59.3 62.6 55.4 55.1 57.7")
    assert printed("cifar10", "AnInfoNCE", "backbone") == _numbers("88.4 80.1 93.4 91.1 65.5 72.3 80.5")
    without = "AnInfoNCE without ℓ2"
    assert printed("cifar10", without, "backbone") == _numbers("83.2 96.2 98.0 96.6 76.8 88.4 91.2")
    assert printed("cifar10", "InfoNCE", "projector") == _numbers("89.8 52.0 52.0 52.0 51.8 51.0 51.8")
    assert printed("cifar10", "AnInfoNCE", "projector") == _numbers("85.4 71.4 71.4 77.1 59.7 65.5 69.0")
    assert printed("cifar10", without, "projector") == _numbers("79.1 65.5 65.5 87.6 70.5 83.8 74.6")
    assert printed("imagenet", "InfoNCE", "backbone") == _numbers("68.2 98.7 71.6 72.5 68.0 61.2 74.4")
    assert printed("imagenet", "AnInfoNCE", "projector") == _numbers("26.7 71.0 55.2 54.1 52.6 52.7 57.1")


def _numbers(text):
    return [float(number) for number in text.split()]


def _pairs(values, spreads):
    return list(zip(map(float, values.split()), map(float, spreads.split()), strict=True))
