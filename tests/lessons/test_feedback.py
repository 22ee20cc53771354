"""The sentence names the place and the mistake; what is right says nothing."""

import math

import numpy as np
import pytest
import torch

from lessons.feedback import expect, expect_close, expect_equal, when_written

WANTED = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])


def said(check, *arguments, **options) -> str:
    with pytest.raises(AssertionError) as error:
        check(*arguments, **options)
    return str(error.value)


def test_what_is_right_passes():
    for got, wanted in [
        (WANTED + 1e-7, WANTED),
        (WANTED.double().requires_grad_(), WANTED),
        (1, 1.0),
        (torch.tensor(2.0), 2.0),
        (np.float32(0.1), 0.1),
        (torch.tensor([-math.inf, 1.0]), torch.tensor([-math.inf, 1.0])),
        (1e6 + 1, 1e6),
    ]:
        expect_close(got, wanted, "x")
    for got, wanted in [
        ([1, 2], [1, 2]),
        ((1, "a"), [1, "a"]),
        ({"a": [1]}, {"a": (1,)}),
        (torch.tensor([1, 2]), torch.tensor([1, 2], dtype=torch.int32)),
        (torch.tensor(3), 3),
        ({1, 2}, {2, 1}),
        (None, None),
        ([None, 1], [None, 1]),
    ]:
        expect_equal(got, wanted, "x")


def test_place_value_and_number_of_mistakes_are_named():
    got = WANTED.clone()
    got[1, 2], got[2, 0] = 0.9, 0.7
    assert said(expect_close, got, WANTED, "scores").startswith("scores[1, 2] is 0.9, wanted 0.3. 2 of 9 differ.")
    assert said(expect_close, 1.00004, 1.0, "loss") == "loss is 1.00004, wanted 1."
    other = torch.tensor([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.15, 0.3, 0.55]])  # another mistake gets no hint
    assert said(expect_close, other, WANTED, "probs").endswith("9 of 9 differ.")
    expect(True, "nothing")
    assert said(expect, [], "an empty list") == "an empty list"


MASKED = torch.tensor([[1.0, -math.inf], [2.0, -math.inf]])


@pytest.mark.parametrize(
    ("got", "wanted", "hint"),
    [
        (WANTED * 8, WANTED, "multiplied by 8."),
        (WANTED * 32**0.5, WANTED, "5.657 = √32"),
        (WANTED / 8, WANTED, "0.125 = 1/8"),
        (-WANTED, WANTED, "multiplied by −1"),
        (WANTED + 2, WANTED, "2 too large"),
        (WANTED.T, WANTED, "the transpose"),
        (WANTED / WANTED.sum(0), WANTED, "Sums along axis 0 are 1, but each row should sum to 1"),
        (WANTED.square(), WANTED, "rows do not sum to 1"),
        (WANTED.flip(0), WANTED, "stand in other places"),
        (WANTED * math.nan, WANTED, "NaN"),
        (WANTED / 0, WANTED, "infinite"),
        (MASKED.T, MASKED, "Infinity stands in the wrong places"),
        (torch.zeros(2, 3), torch.zeros(3, 2), "The axes stand in another order."),
    ],
)
def test_known_mistakes_are_recognised(got, wanted, hint):
    assert hint in said(expect_close, got, wanted, "probs")


@pytest.mark.parametrize(
    ("got", "sentence"),
    [
        (None, "x is None: does the function return its result?"),
        ([[1.0]], "x is a list, wanted a tensor of shape (3, 3)"),
        (WANTED.numpy(), "x is a numpy array of shape (3, 3), wanted a tensor of shape (3, 3)"),
        (len, "x is a function: is it called?, wanted a tensor of shape (3, 3)"),
        (WANTED[0], "x has shape (3,), wanted (3, 3)."),
    ],
)
def test_kind_and_shape_come_first(got, sentence):
    assert said(expect_close, got, WANTED, "x") == sentence
    assert said(expect_equal, got, WANTED, "x") == sentence


@pytest.mark.parametrize(
    ("got", "wanted", "sentence"),
    [
        (["un", "##able"], ["un", "##aff", "##able"], "x[1] is '##able', wanted '##aff'"),
        (["un"], ["un", "##able"], "x has 1 items, wanted 2: it is ['un'], wanted ['un', '##able']"),
        ("un", ["un"], "x is a text, wanted ['un']"),
        ({"a": 1}, {"b": 1}, "x has the keys ['a'], wanted ['b']"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "x['a'][1] is 2, wanted 3"),
        (torch.zeros(2, 2), 0, "x is a tensor of shape (2, 2), wanted 0"),
        (3, "3", "x is 3, wanted '3'"),
        (torch.tensor([1, 0]), torch.tensor([True, False]), "x holds int64 values, wanted bool"),
        (torch.tensor([False, True]), torch.tensor([True, False]), "x[0] is False, wanted True. 2 of 2 differ. True"),
        (torch.tensor([1, 3]), torch.tensor([1, 2]), "x[1] is 3, wanted 2. 1 of 2 differ."),
    ],
)
def test_the_first_difference_is_named(got, wanted, sentence):
    assert said(expect_equal, got, wanted, "x").startswith(sentence)


def test_what_is_not_written_yet_is_told(capsys):
    with when_written("scores"):
        raise NotImplementedError
    with when_written("answer"):
        answer  # noqa: B018, F821
    assert capsys.readouterr().out == "This comes when `scores` is written.\nThis comes when `answer` is written.\n"


@pytest.mark.parametrize(
    "error", [NotImplementedError("softmax of integers"), NameError("other", name="other"), AssertionError("wrong")]
)
def test_every_other_mistake_shows_itself(error):
    with pytest.raises(type(error)), when_written("scores"):
        raise error
