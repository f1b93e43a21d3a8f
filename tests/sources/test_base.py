import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from aninfonce._seeds import stream
from aninfonce.processes import PairBatch, process
from aninfonce.sources import ArraySource, DrawnAhead, LoaderSource, ProcessSource, as_source
from aninfonce.sources.base import as_pair_batch


def _process():
    return ProcessSource(process("fig2/25", mixing="identity"), seed=3, bulk=100)


def _arrays():
    x = torch.arange(50.0)[:, None]
    return ArraySource(PairBatch(x, x + 0.5), seed=3)


def _ahead():
    return DrawnAhead(_arrays())


def _loader(shuffle=True, own_generator=True):
    x = torch.arange(40.0)[:, None]
    generator = torch.Generator().manual_seed(7) if own_generator else None
    return LoaderSource(DataLoader(TensorDataset(x, x + 0.5), 8, shuffle=shuffle, generator=generator))


@pytest.mark.parametrize("make", [_process, _arrays, _ahead, _loader])
def test_restored_source_goes_on_with_the_same_pairs(make):
    source = make()
    for _ in range(3):
        source.next(8)
    source.fresh(20)
    state = {name: tensor.clone() for name, tensor in source.state().items()}
    expected = [source.next(8).x for _ in range(20)] + [source.fresh(20).x]
    again = make()
    again.restore(state)
    found = [again.next(8).x for _ in range(20)] + [again.fresh(20).x]
    assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_a_state_of_an_earlier_version_did_not_count_bulks():
    source, again = _process(), _process()
    for _ in range(15):
        source.next(8)
    state = {name: tensor.clone() for name, tensor in source.state().items() if name != "number"}
    again.restore(state)
    assert all(torch.equal(source.next(8).x, again.next(8).x) for _ in range(15))


@pytest.mark.parametrize("make", [_process, _arrays, _loader])
def test_fresh_pairs_do_not_move_the_stream(make):
    plain, disturbed = make(), make()
    plain.next(8)
    disturbed.next(8)
    disturbed.fresh(16)
    assert all(torch.equal(plain.next(8).x, disturbed.next(8).x) for _ in range(15))


def test_a_loader_without_generator_resumes_from_the_global_state():
    torch.manual_seed(0)
    source = _loader(own_generator=False)
    for _ in range(7):
        source.next(8)
    state, random = source.state(), torch.get_rng_state()
    expected = [source.next(8).x for _ in range(9)]
    again = _loader(own_generator=False)
    torch.manual_seed(1)
    again.restore(state)
    torch.set_rng_state(random)
    assert all(torch.equal(e, again.next(8).x) for e in expected)


def test_an_epoch_shows_every_pair_once_and_in_pairs():
    source = _arrays()
    batches = [source.next(10) for _ in range(5)]
    seen = torch.cat([b.x for b in batches]).flatten()
    assert torch.equal(seen.sort().values, torch.arange(50.0))
    assert all(torch.equal(b.x + 0.5, b.x_pos) for b in batches)


def test_process_batches_match_one_bulk_draw():
    source = _process()
    first = torch.cat([source.next(25).x for _ in range(4)])
    drawn = process("fig2/25", mixing="identity").sample(100, stream(3, "pairs", "steps"))
    assert torch.equal(first, drawn.x)


def test_numpy_arrays_and_integers_become_floats():
    x = np.arange(20).reshape(10, 2)
    assert as_source((x, x)).next(3).x.dtype == torch.float32


@pytest.mark.parametrize("bad", [3, "pairs", iter([1]), {"x": 1}])
def test_what_is_no_source_is_refused(bad):
    with pytest.raises(ValueError, match="`pairs` must be a process"):
        as_source(bad)


def test_shapes_that_differ_are_named():
    with pytest.raises(ValueError, match=r"\(5, 2\) and \(4, 2\)"):
        as_source((torch.zeros(5, 2), torch.zeros(4, 2)))


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match="at most the number of pairs, 50, got 64"):
        _arrays().next(64)


def test_an_empty_loader_is_named():
    with pytest.raises(ValueError, match="empty"):
        as_source([]).next(1)


@pytest.mark.parametrize("make", ["list", "frame", "whole numbers", "read only"])
def test_rows_of_any_make_are_read(make):
    frame = pytest.importorskip("pandas").DataFrame if make == "frame" else None
    change = {
        "list": np.ndarray.tolist,
        "frame": frame,
        "whole numbers": lambda x: x.astype(int),
        "read only": lambda x: np.broadcast_to(x, x.shape),
    }[make]
    x = np.arange(6.0).reshape(3, 2)
    batch = as_pair_batch((change(x), change(x + 1)))
    assert batch.x.is_floating_point()
    assert batch.x_pos.shape == (3, 2)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ma.masked_array(np.ones((3, 2)), mask=np.eye(3, 2)), "`x_pos` must have no masked values"),
        (np.ones((3, 2)) + 1j, "`x_pos` must hold real numbers"),
        (np.full((3, 2), "a"), "`x_pos` must hold numbers"),
        (np.full((3, 2), None), "`x_pos` must hold numbers"),
    ],
)
def test_what_is_no_number_is_refused_by_name(x, message):
    with pytest.raises(ValueError, match=message):
        as_pair_batch((np.ones((3, 2)), x))


def test_pairs_drawn_ahead_are_those_of_the_source():
    plain, ahead = _arrays(), _ahead()
    assert torch.equal(ahead.set_aside(0.4, 20, 8).x, plain.set_aside(0.4, 20, 8).x)
    assert ahead.largest_batch == plain.largest_batch
    for n in (8, 8, 3, 8, 7, 7):
        assert torch.equal(ahead.next(n).x, plain.next(n).x)
        assert torch.equal(ahead.fresh(4).x, plain.fresh(4).x)
    assert all(torch.equal(value, plain.state()[name]) for name, value in ahead.state().items())


def test_an_error_in_drawing_ahead_is_told_when_its_batch_is_due():
    source = _ahead()
    source.source.next = lambda n: (_ for _ in ()).throw(RuntimeError("no more pictures"))
    with pytest.raises(RuntimeError, match="no more pictures"):
        source.next(8)
