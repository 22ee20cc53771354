"""Stored results of first views: read instead of computed, only for exactly what they are of, and still true."""

import numpy as np
import pytest

from minibert.folders import LESSONS
from minibert.sentence_vectors.packaged import PACKAGED, PackageError
from ui import first_views
from ui.first_views import Outdated, first_view

MODEL = "mini-en"


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    (tmp_path / "lesson").mkdir()
    monkeypatch.setattr(first_views, "LESSONS", tmp_path)
    monkeypatch.setattr(first_views, "used", set())
    return tmp_path


def asked(inputs, value, model=MODEL):
    """What comes, and whether it was computed."""
    computed = []

    def compute():
        computed.append(True)
        return {"x": np.array(value)}

    return first_view("lesson", "it", model, inputs, compute)["x"].tolist(), bool(computed)


def test_what_is_stored_is_read_and_all_else_is_computed(lessons, monkeypatch):
    monkeypatch.setattr(first_views, "mode", "write")
    asked(["a sentence", 1], [1.0, 2.0])
    monkeypatch.setattr(first_views, "mode", "read")
    assert asked(["a sentence", 1], [8.0, 9.0]) == ([1.0, 2.0], False)
    for inputs, model in ((["another", 1], MODEL), (["a sentence", 2], MODEL), (["a sentence", 1], "mini-zh")):
        assert asked(inputs, [8.0, 9.0], model) == ([8.0, 9.0], True)
    assert len(list(lessons.rglob("*.npz"))) == 1


def test_what_is_no_longer_true_is_found(lessons, monkeypatch):
    monkeypatch.setattr(first_views, "mode", "write")
    asked([], [1.0, 2.0])
    monkeypatch.setattr(first_views, "mode", "check")
    assert asked([], [1.0, 2.000001])[0] == [1.0, 2.0]
    for changed in ([1.0, 2.1], [1.0], [1.0, float("nan")]):
        with pytest.raises(Outdated):
            asked([], changed)


@pytest.mark.release
def test_every_stored_result_is_asked_for_and_is_what_is_computed_now():
    from bench.first_views import open_all

    try:
        for model in PACKAGED.values():
            model.directory()
    except PackageError as error:
        pytest.skip(str(error))  # some results are of it
    open_all("check")
    assert first_views.used == set(LESSONS.glob(f"*/{first_views.FOLDER}/*"))
