import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from aninfonce.metrics import knn_accuracy, linear_probe_accuracy

once = settings(derandomize=True, deadline=None, max_examples=25)
probes = pytest.mark.parametrize("probe", [knn_accuracy, linear_probe_accuracy])


def clusters(seed=0, n=300, spread=1.0):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(4, 6)) * 2
    labels = rng.integers(0, 4, size=n)
    return centres[labels] + spread * rng.normal(size=(n, 6)), labels


@probes
def test_perfect(probe):
    train, labels = clusters(0, spread=0.01)
    test, truth = clusters(1, spread=0.01)
    result = probe(train, labels, test, truth)
    assert result.mean == float(result) == 1.0
    assert set(result.per_class) == set("0123")
    assert result.chance < 0.4
    assert not result.flags


@probes
def test_shuffled_labels_are_at_chance(probe):
    train, labels = clusters(0, n=1000)
    test, truth = clusters(1, n=1000)
    # four classes: .25 ± .014, so that .2 and .3 are beyond 3.5 standard errors
    assert 0.2 < probe(train, np.random.default_rng(2).permutation(labels), test, truth).mean < 0.3


@probes
def test_collapsed_embedding(probe):
    _, labels = clusters(0)
    _, truth = clusters(1)
    result = probe(np.ones((300, 6)), labels, np.ones((300, 6)), truth)
    assert result.mean < 0.4


@probes
def test_duplicated_dimensions(probe):
    (train, labels), (test, truth) = clusters(0), clusters(1)
    plain = probe(train, labels, test, truth)
    doubled = probe(np.tile(train, 2), labels, np.tile(test, 2), truth)
    assert doubled.mean == pytest.approx(plain.mean, abs=0.02)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_knn_against_sklearn(metric, k):
    (train, labels), (test, truth) = clusters(0, spread=2.0), clusters(1, spread=2.0)
    labels, truth = labels % 2, truth % 2
    model = KNeighborsClassifier(k + 1 - k % 2, metric=metric, algorithm="brute").fit(train, labels)
    odd = knn_accuracy(train, labels, test, truth, k=k + 1 - k % 2, metric=metric)
    assert odd.mean == pytest.approx(model.score(test, truth))


def test_knn_is_independent_of_the_memory_it_takes(monkeypatch):
    (train, labels), (test, truth) = clusters(0, spread=2.0), clusters(1, n=100, spread=2.0)
    plain = knn_accuracy(train, labels, test, truth, k=7)
    monkeypatch.setattr("aninfonce.metrics.accuracy._MEGABYTES", 0.01)
    assert knn_accuracy(train, labels, test, truth, k=7) == plain


def test_knn_ties_go_to_the_nearer_class():
    train = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert knn_accuracy(train, list("abba"), np.array([[0.4]]), ["a"], k=2, metric="euclidean").mean == 1.0
    assert knn_accuracy(train, list("baab"), np.array([[0.4]]), ["b"], k=4, metric="euclidean").mean == 1.0
    assert knn_accuracy(train, list("abbb"), np.array([[0.4]]), ["b"], k=4, metric="euclidean").mean == 1.0


def test_cosine_ignores_length_and_zero_rows_are_flagged():
    train, labels = clusters(0)
    test, truth = clusters(1)
    lengths = np.random.default_rng(3).uniform(1e-3, 1e3, size=(300, 1))
    plain = knn_accuracy(train, labels, test, truth)
    assert knn_accuracy(train * lengths, labels, test, truth) == plain
    train[4], test[2] = 0.0, 0.0
    assert knn_accuracy(train, labels, test, truth).flags == ("2 row(s) of zeros have no direction",)


def test_linear_probe_against_sklearn():
    (train, labels), (test, truth) = clusters(0, spread=2.0), clusters(1, spread=2.0)
    scaler = StandardScaler().fit(train)
    model = LogisticRegression(C=0.1).fit(scaler.transform(train), labels)
    result = linear_probe_accuracy(train, labels, test, truth, C=0.1)
    assert result.mean == pytest.approx(model.score(scaler.transform(test), truth))
    for label in range(4):
        rows = truth == label
        assert result.per_class[str(label)] == pytest.approx(
            model.score(scaler.transform(test[rows]), truth[rows])
        )


def test_probe_that_does_not_converge_is_flagged_without_a_warning():
    (train, labels), (test, truth) = clusters(0), clusters(1)
    assert linear_probe_accuracy(train, labels, test, truth, max_iter=1).flags == (
        "the probe did not converge in 1 iterations",
    )


def test_constant_dimension_is_flagged():
    (train, labels), (test, truth) = clusters(0), clusters(1)
    train[:, 3] = 1.0
    assert linear_probe_accuracy(train, labels, test, truth).flags == ("constant embedding dimensions [3]",)


@probes
def test_one_training_class_and_unseen_test_classes(probe):
    result = probe(np.eye(5), ["x"] * 5, np.eye(5), ["x", "x", "x", "y", "z"])
    assert result.mean == result.chance == pytest.approx(0.6)
    assert result.per_class == {"x": 1.0, "y": 0.0, "z": 0.0}
    assert result.flags == ("only one training class", "test classes without training rows: ['y', 'z']")


def test_tensors_of_half_precision():
    (train, labels), (test, truth) = clusters(0, spread=0.1), clusters(1, spread=0.1)
    train, test = torch.tensor(train).bfloat16(), torch.tensor(test).half()
    assert knn_accuracy(train, torch.tensor(labels), test, torch.tensor(truth)).mean == 1.0
    assert linear_probe_accuracy(train, torch.tensor(labels), test, torch.tensor(truth)).mean == 1.0


@once
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-3, 1e3))
def test_euclidean_knn_is_invariant_to_rotation_shift_and_scale(seed, scale):
    rng = np.random.default_rng(seed)
    train, test = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    labels, truth = rng.integers(0, 3, size=30), rng.integers(0, 3, size=20)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    plain = knn_accuracy(train, labels, test, truth, k=3, metric="euclidean")
    moved = knn_accuracy(
        scale * (train @ rotation + 1), labels, scale * (test @ rotation + 1), truth, k=3, metric="euclidean"
    )
    assert moved == plain


@pytest.mark.parametrize(
    ("probe", "change", "message"),
    [
        (knn_accuracy, dict(k=301), "`k` must be at most the number of training rows, 300, got 301"),
        (knn_accuracy, dict(k=0), "`k` must be a whole number"),
        (knn_accuracy, dict(metric="l1"), "`metric` must be one of"),
        (linear_probe_accuracy, dict(C=0.0), "`C` must be a finite number above 0"),
        (linear_probe_accuracy, dict(test_embeddings=np.ones((300, 5))), "`test_embeddings`.*columns.*6"),
        (knn_accuracy, dict(test_labels=np.ones(5)), "`test_labels` must be 300 class labels"),
        (knn_accuracy, dict(train_labels=np.full(300, np.nan)), "`train_labels` must be finite.*300 row"),
        (knn_accuracy, dict(test_labels=["a"] * 300), "`test_labels` must be of the kind of `train_labels`"),
        (knn_accuracy, dict(train_embeddings=np.ones((0, 6))), "`train_embeddings` must have at least 1 row"),
    ],
)
def test_bad_input_is_refused_by_name(probe, change, message):
    (train, labels), (test, truth) = clusters(0), clusters(1)
    arguments = dict(train_embeddings=train, train_labels=labels, test_embeddings=test, test_labels=truth)
    with pytest.raises(ValueError, match=message):
        probe(**(arguments | change))
