"""The page on the cone: the cloud is the model's, whitening is fitted on nothing that is measured, runs are drawn."""

import re

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.experiments.results import by_arm
from minibert.inside.geometry.vectors import sentence_vectors
from sections.cone import whitening
from sections.cone.subject import to_fit
from tests.pages.driver import ROOT, figure, open_page, title_of, whole
from ui.claim import records_of
from ui.lesson import Lesson
from ui.samples import questions, similar_pairs

PAIR = {"a": "My suitcase has disappeared.", "b": "The soup was far too salty."}


def embed(texts):
    folder = ROOT / "checkpoints" / "mini-en"
    model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
    every = sentence_vectors(model, tokenizer, list(texts), ("mean",))["mean"]
    return (every[1] + every[-1]) / 2


@pytest.fixture(scope="module")
def pca():
    return PCA(64, whiten=True, svd_solver="full").fit(embed(to_fit("en")))


def test_the_two_sentences_are_drawn_at_their_true_angle_before_and_after(pca):
    app = open_page("cone", model="mini-en", **PAIR)
    app.select_slider(key="k").set_value(64).run()
    own = embed(PAIR.values())
    expected = [cosine_similarity(rows)[0, 1] for rows in (own, pca.transform(own))]
    drawn = figure(app, "clouds")["data"]
    ends = [np.array([trace["x"][-1], trace["y"][-1]]) for trace in drawn if trace["mode"] == "lines+markers"]
    assert [ends[0] @ ends[1], ends[2] @ ends[3]] == pytest.approx(expected, abs=1e-3)
    desk = embed([question for question, _ in questions("en")])
    means = [cosine_similarity(rows)[~np.eye(len(rows), dtype=bool)].mean() for rows in (desk, pca.transform(desk))]
    shown = re.findall(r"-?\d\.\d\d", title_of(app, "clouds"))
    assert shown == [f"{value:.2f}" for value in (*means, *expected)]


def test_nothing_that_is_measured_is_fitted_on():
    for language in ("en", "zh"):
        measured = {text for *pair, _score in similar_pairs(language) for text in pair}
        measured |= {question for question, _standard in questions(language)}
        assert len(to_fit(language)) > 800 and measured.isdisjoint(to_fit(language))


def test_spearman_by_the_numbers_kept_is_scipys(monkeypatch, pca):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    app = open_page("cone", model="mini-en", part="Whitening", told=["cone-k"])
    u, v, scores = zip(*similar_pairs("en"), strict=True)
    left, right = (pca.transform(embed(side)) for side in (u, v))
    cosines = (left * right).sum(1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    trace = figure(app, "dimensions")["data"][0]
    at = dict(zip(trace["x"], trace["y"], strict=True))
    assert at["64"] == pytest.approx(spearmanr(cosines, scores).statistic, abs=2e-3)


def test_it_is_asked_before_it_is_shown_and_a_search_is_timed(monkeypatch):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    monkeypatch.setattr(whitening, "SEARCHED", 100)
    app = open_page("cone", model="mini-en", part="Whitening")
    whole(app.button(key="cone-k-again").click().run())
    assert figure(app, "dimensions") is None
    whole(app.button(key="cone-k-guess-0").click().run())
    assert figure(app, "dimensions") is not None and not app.table
    whole(app.button(key="time").click().run())
    assert len(app.table[0].value) > 1


@pytest.mark.release
def test_a_chinese_model_has_chinese_sentences():
    app = open_page("cone", model="mini-zh")
    assert len(figure(app, "clouds")["data"][0]["customdata"]) == 60


def test_a_model_that_learned_from_pairs_stands_beside_a_bert_that_only_filled_blanks(runs_folder):
    def last_blocks(model: str) -> list[str]:
        """The cosines at a last block that the title tells: the model's own first."""
        return re.findall(r"\d\.\d\d", title_of(open_page("cone", part="The cone", model=model), "narrow"))[1:]

    (plain,) = last_blocks("mini-en")
    own, beside = last_blocks("minilm-en")
    assert beside == plain > own
    said = re.findall(r"\d\.\d\d", Lesson("cone").section("Where there is no cone left")[1])
    cosines = by_arm(records_of("cone"), "mean_cosine")
    recorded = [cosines[arm][0] for arm in ("minilm", "mean")]
    assert said[:2] == [f"{cosine:.2f}" for cosine in recorded]
