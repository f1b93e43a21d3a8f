"""The losses once more, in plain Python floats and loops, sharing no code with the package."""

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def negative_lp(p):
    return lambda a, b: -sum(abs(x - y) ** p for x, y in zip(a, b, strict=True))


def anisotropic(concentration):
    return lambda a, b: -0.5 * sum(c * (x - y) ** 2 for c, x, y in zip(concentration, a, b, strict=True))


def scaled(scale):
    return lambda a, b: sum(s * x * y for s, x, y in zip(scale, a, b, strict=True))


def unit(a):
    length = math.sqrt(sum(x * x for x in a))
    return [x / length for x in a]


def no_potential(_):
    return 0.0


def info_nce_rows(
    z0,
    z1,
    negatives=None,
    *,
    similarity=dot,
    temperature=1.0,
    symmetric=False,
    candidates="anchors",
    normalize=False,
    potentials=(no_potential, no_potential),
):
    """(alignment, uniformity) of every anchor; `negatives` is (N, K, d) or (M, d) as nested lists."""
    if normalize:
        z0, z1 = [unit(a) for a in z0], [unit(a) for a in z1]
        if negatives is not None and isinstance(negatives[0][0], list):
            negatives = [[unit(a) for a in row] for row in negatives]
        elif negatives is not None:
            negatives = [unit(a) for a in negatives]
    rows = _one_direction(z0, z1, negatives, similarity, temperature, candidates, potentials[0])
    if symmetric:
        rows += _one_direction(z1, z0, negatives, similarity, temperature, candidates, potentials[1])
    return rows


def _one_direction(anchors, positives, negatives, similarity, temperature, candidates, potential):
    rows = []
    for i, anchor in enumerate(anchors):
        positive = similarity(anchor, positives[i]) / temperature + potential(positives[i])
        logits = [positive]
        for j in range(len(anchors)):
            if candidates in ("anchors", "both") and j != i:
                logits.append(similarity(anchor, anchors[j]) / temperature + potential(anchors[j]))
            if candidates == "anchors+self":
                logits.append(similarity(anchor, anchors[j]) / temperature + potential(anchors[j]))
            if candidates in ("positives", "both") and j != i:
                logits.append(similarity(anchor, positives[j]) / temperature + potential(positives[j]))
        if negatives is not None:
            per_anchor = isinstance(negatives[0][0], list)
            for negative in negatives[i] if per_anchor else negatives:
                logit = similarity(anchor, negative) / temperature + potential(negative)
                logits.append(logit)
        largest = max(logits)
        rows.append((-positive, largest + math.log(sum(math.exp(v - largest) for v in logits))))
    return rows


def mixed_rows(z0, z1, negatives, of_negatives, of_positives, candidates):
    """Loss of every anchor for negatives of known density ratio: the positive may sit in any place."""
    rows = []
    for i, anchor in enumerate(z0):
        ordinary = []
        for j in range(len(z0)):
            if candidates in ("anchors", "both") and j != i:
                ordinary.append(dot(anchor, z0[j]))
            if candidates in ("positives", "both") and j != i:
                ordinary.append(dot(anchor, z1[j]))
        per_anchor = isinstance(negatives[0][0], list)
        mine, ratio = (negatives[i], of_negatives[i]) if per_anchor else (negatives, of_negatives)
        hard = [dot(anchor, x) - r for x, r in zip(mine, ratio, strict=True)]
        positive = dot(anchor, z1[i])
        moved = positive - of_positives[i]
        m, k = len(ordinary), len(hard)
        if m == 0:
            rows.append(-moved + math.log(sum(map(math.exp, [moved, *hard]))))
            continue
        sum_ordinary = sum(map(math.exp, ordinary))
        in_ordinary = -positive + math.log(math.exp(positive) + sum_ordinary + sum(map(math.exp, hard)))
        sum_hard = sum(map(math.exp, hard[:-1]))
        in_hard = -moved + math.log(math.exp(moved) + sum_ordinary * (m + 1) / m + sum_hard)
        rows.append(((m + 1) * in_ordinary + k * in_hard) / (m + 1 + k))
    return rows


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spectral(z0, z1, similarity=dot):
    n = len(z0)
    paired = mean(similarity(z0[i], z1[i]) for i in range(n))
    unpaired = mean(similarity(z0[i], z1[j]) ** 2 for i in range(n) for j in range(n) if i != j)
    return -2 * paired + unpaired


def decorrelation(z):
    n, d = len(z), len(z[0])
    return mean(
        (mean(z[i][a] * z[i][b] for i in range(n)) - (a == b)) ** 2 for a in range(d) for b in range(d)
    )
