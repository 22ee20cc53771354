"""What an exercise notebook tells a student about an answer: what is wrong, where, and what the mistake looks like."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from numbers import Number

import numpy as np
from torch import Tensor

SHOWN = 120  # characters of a value in a message, at most


def expect(condition, sentence: str) -> None:
    """Raise an AssertionError with `sentence` if the condition does not hold."""
    if not condition:
        raise AssertionError(sentence)


def expect_close(got, expected, what: str, tolerance: float = 1e-5) -> None:
    """Compare numbers, arrays or tensors, which may differ by `tolerance`, relative for values above 1."""
    expect(got is not None, f"{what} is None: does the function return its result?")
    expected_kind = Tensor if isinstance(expected, Tensor) else Tensor | np.ndarray | Number
    expect(isinstance(got, expected_kind), f"{what} is {_kind(got)}, wanted {_kind(expected)}")
    got, expected = _array(got).astype(float), _array(expected).astype(float)
    _expect_shape(got, expected, what)
    wrong = ~np.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if wrong.any():
        raise AssertionError(_difference(got, expected, wrong, what) + _hint(got, expected, tolerance))


def expect_equal(got, expected, what: str) -> None:
    """Compare exactly: numbers, texts, sets, tensors, and lists, tuples and dictionaries of them."""
    expect(got is not None or expected is None, f"{what} is None: does the function return its result?")
    if isinstance(expected, Tensor | np.ndarray):
        _expect_equal_arrays(got, expected, what)
    elif isinstance(expected, Mapping):
        expect(isinstance(got, Mapping), f"{what} is {_kind(got)}, wanted a dictionary")
        expect(set(got) == set(expected), f"{what} has the keys {_short(list(got))}, wanted {_short(list(expected))}")
        for key in expected:
            expect_equal(got[key], expected[key], f"{what}[{key!r}]")
    elif isinstance(expected, list | tuple):
        expect(isinstance(got, list | tuple), f"{what} is {_kind(got)}, wanted {_short(expected)}")
        for i, (mine, theirs) in enumerate(zip(got, expected, strict=False)):
            expect_equal(mine, theirs, f"{what}[{i}]")
        both = f"it is {_short(got)}, wanted {_short(expected)}"
        expect(len(got) == len(expected), f"{what} has {len(got)} items, wanted {len(expected)}: {both}")
    else:
        if isinstance(got, Tensor | np.ndarray) and len(got.reshape(-1)) == 1:
            got = got.item()
        alike = isinstance(got, Number | str | Set | None)
        expect(alike, f"{what} is {_kind(got)}, wanted {_short(expected)}")
        expect(got == expected, f"{what} is {_short(got)}, wanted {_short(expected)}")


@contextmanager
def when_written(what: str) -> Iterator[None]:
    """Run the block if the exercise `what` is written; print a message if not. All other errors are raised."""
    try:
        yield
    except NotImplementedError as error:
        if error.args:  # torch's own has a message, the empty exercise's has none
            raise
        print(f"This comes when `{what}` is written.")
    except NameError as error:
        if error.name != what:
            raise
        print(f"This comes when `{what}` is written.")


def _expect_equal_arrays(got, expected, what: str) -> None:
    expect(isinstance(got, type(expected)), f"{what} is {_kind(got)}, wanted {_kind(expected)}")
    got, expected = _array(got), _array(expected)
    _expect_shape(got, expected, what)
    truths = (got.dtype == bool, expected.dtype == bool)
    expect(truths[0] == truths[1], f"{what} holds {got.dtype} values, wanted {expected.dtype}")
    wrong = got != expected
    if wrong.any():
        raise AssertionError(_difference(got, expected, wrong, what) + _place_hint(got, expected))


def _array(values) -> np.ndarray:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


def _expect_shape(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    if got.shape == expected.shape:
        return
    swapped = " The axes stand in another order." if sorted(got.shape) == sorted(expected.shape) else ""
    raise AssertionError(f"{what} has shape {got.shape}, wanted {expected.shape}.{swapped}")


def _difference(got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, what: str) -> str:
    """The place of the first wrong number, and how many there are."""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    name = f"{what}[{', '.join(map(str, place))}]" if place else what
    mine, theirs = _numbers(got[place], expected[place])
    many = "" if wrong.size == 1 else f" {int(wrong.sum())} of {wrong.size} differ."
    return f"{name} is {mine}, wanted {theirs}.{many}"


def _numbers(got, expected) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see that they differ."""
    if got.dtype.kind not in "f":
        return str(got), str(expected)
    return next(
        (pair for digits in range(3, 17) if len(set(pair := (f"{got:.{digits}g}", f"{expected:.{digits}g}"))) == 2),
        (str(got), str(expected)),
    )


def _hint(got: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    """A hint if the mistake is a known one, else an empty text."""

    def same(left, right) -> bool:
        return bool(np.allclose(left, right, rtol=10 * tolerance, atol=10 * tolerance, equal_nan=True))

    if np.isnan(got).any() and not np.isnan(expected).any():
        return " Some numbers are NaN: a row in which everything is masked, or a division by zero?"
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(got)):
        return " Infinity stands in the wrong places." if not finite.all() else " Some numbers are infinite."
    counted = finite & (np.abs(expected) > 10 * tolerance)
    if counted.sum() > 1:
        ratio = float(np.median(got[counted] / expected[counted]))
        if ratio and same(got[finite] / ratio, expected[finite]):
            return f" Everything is multiplied by {_factor(ratio)}."
        shift = float(np.median((got - expected)[finite]))
        if same(got[finite] - shift, expected[finite]):
            return f" Everything is {abs(shift):.4g} too {'large' if shift > 0 else 'small'}."
    if hint := _place_hint(got, expected, same):
        return hint
    if expected.ndim and (expected >= 0).all() and same(expected.sum(-1), 1.0) and not same(got.sum(-1), 1.0):
        for axis in reversed(range(expected.ndim - 1)):
            if same(got.sum(axis), 1.0):
                return (
                    f" Sums along axis {axis} are 1, but each row should sum to 1: is it softmax over the wrong axis?"
                )
        return " Its rows do not sum to 1."
    return ""


def _place_hint(got: np.ndarray, expected: np.ndarray, same=np.array_equal) -> str:
    """A hint if the right values are in the wrong places, else an empty text."""
    if expected.ndim > 1 and expected.shape[-1] == expected.shape[-2] and same(got.swapaxes(-1, -2), expected):
        return " It is the transpose of what is wanted."
    if expected.dtype == bool and expected.size > 1 and np.array_equal(got, ~expected):
        return " True and False are exchanged."
    if expected.ndim and expected.dtype != bool and same(np.sort(got, axis=None), np.sort(expected, axis=None)):
        return " The values are right, but stand in other places."
    return ""


def _factor(ratio: float) -> str:
    """4 as `4`, 5.657 as `5.657 = √32`, 0.125 as `0.125 = 1/8`."""
    size, sign = abs(ratio), "−" if ratio < 0 else ""
    for value, form in ((size, "{}"), (1 / size, "1/{}")):
        for root, number in (("", value), ("√", value**2)):
            whole = round(number)
            if 1 < whole <= 4096 and math.isclose(number, whole, rel_tol=1e-4):
                name = form.format(f"{root}{whole}")
                return f"{sign}{name}" if name == f"{size:.4g}" else f"{sign}{size:.4g} = {sign}{name}"
    return f"{sign}{size:.4g}"


def _kind(value) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f"{'a tensor' if isinstance(value, Tensor) else 'a numpy array'} of shape {tuple(value.shape)}"
    if isinstance(value, Number) and not isinstance(value, bool):
        return f"the number {value}"
    if callable(value):
        return "a function: is it called?"
    name = {list: "list", tuple: "tuple", dict: "dictionary", str: "text", set: "set"}.get(type(value))
    return f"a {name}" if name else f"a {type(value).__name__}"


def _short(value) -> str:
    text = repr(list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"
