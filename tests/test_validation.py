"""Checks of user input that every stage shares."""

import numpy as np
import pytest
import torch

from aninfonce._validation import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_unmasked,
    describe,
    did_you_mean,
    nearest_names,
)

MANY = [f"fig{i}" for i in range(1, 31)]


def test_few_choices_are_all_printed_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"^`mode` must be one of 'mean', 'sum', got 'maen'; did you mean 'mean'\?$"
    ):
        check_choice("maen", "mode", ("mean", "sum"))
    with pytest.raises(ValueError, match=r"'sum', got 'zzz'$"):
        check_choice("zzz", "mode", ("mean", "sum"))


def test_of_many_choices_only_the_nearest_are_printed():
    with pytest.raises(ValueError, match="did you mean") as told:
        check_choice("fgi7", "study", MANY, listed_by="`aninfonce list`")
    assert str(told.value) == (
        "`study` must be a name from `aninfonce list`, got 'fgi7'; did you mean 'fig7', 'fig27' or 'fig17'?"
    )


@pytest.mark.parametrize("value", [None, 3, ["mean"], {"mean": 1}])
def test_what_is_no_name_is_refused_as_one(value):
    with pytest.raises(ValueError, match="`mode` must be one of 'mean', got "):
        check_choice(value, "mode", {"mean": 1})


def test_case_does_not_count():
    assert nearest_names("MNIST", ("cifar10", "mnist")) == ["mnist"]
    assert did_you_mean("Mnist", ("cifar10", "mnist")) == "; did you mean 'mnist'?"
    assert did_you_mean("something else", ("cifar10", "mnist")) == ""


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint16, np.array, torch.tensor])
def test_whole_numbers_of_any_make_come_back_as_pythons(kind):
    found = check_count(kind(3), "lag")
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [True, np.True_, torch.tensor(True), 3.0, np.float64(3), "3", None, [3], 0])
def test_what_is_no_count_is_named(value):
    with pytest.raises(ValueError, match="`lag` must be a whole number of at least 1, got"):
        check_count(value, "lag")


@pytest.mark.parametrize("kind", [float, np.float32, np.float64, np.int64, torch.tensor])
def test_numbers_of_any_make_come_back_as_pythons(kind):
    found = check_number(kind(2), "share")
    assert found == 2.0
    assert type(found) is float


@pytest.mark.parametrize("value", ["2", b"2", True, np.False_, torch.tensor(True), None, np.nan, np.inf, [2]])
def test_what_is_no_number_is_named(value):
    with pytest.raises(ValueError, match="`share` must be a finite number, got"):
        check_number(value, "share")


def test_numpys_numbers_are_described_by_their_value():
    assert "-1" in describe(np.int64(-1))


def test_masked_values_are_refused():
    whole = np.ma.masked_array([1.0, 2.0], mask=False)
    assert check_unmasked(whole, "x") is whole
    with pytest.raises(ValueError, match="`x` must have no masked values, got 1 of them"):
        check_unmasked(np.ma.masked_array([1.0, 2.0], mask=[False, True]), "x")
    assert check_unmasked(torch.ones(2), "x").sum() == 2


def test_flags_are_true_or_false():
    assert check_flag(True, "symmetric") is True
    assert check_flag(np.False_, "symmetric") is False
    for value in ("no", 1, None, 0.0):
        with pytest.raises(ValueError, match="`symmetric` must be True or False, got"):
            check_flag(value, "symmetric")
