"""The page on sentence vectors: what is nearest is the model's, pairs are counted, runs draw their way."""

import numpy as np
import pytest
import torch
import transformers
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.inside.geometry.vectors import sentence_vectors
from minibert.inside.predictions.writing import READS
from minibert.relatives.unilm import SEGMENTS
from minibert.sentence_vectors.rows import questions_of
from sections.sentence_vectors.find_write import lcqmc, parts_of
from sections.sentence_vectors.learn import inference_files, sentences
from tests.pages.driver import ROOT, figure, open_page, text_of, title_of, whole
from tests.pages.finished_runs import run_here
from ui.samples import similar_pairs, similar_parts

PARTS = ("Pairs or vectors", "Which pooling", "Train SimCSE", "Find and write", "The claim", "The code")
FOLDER = ROOT / "checkpoints" / "mini-en"


@pytest.fixture(scope="module")
def embed():
    """texts, poolings → of each pooling, the vectors of the last layer."""
    model, tokenizer = checkpoint.load(FOLDER), checkpoint.load_tokenizer(FOLDER)

    def vectors(texts, *poolings):
        found = sentence_vectors(model, tokenizer, list(texts), poolings)
        return [found[pooling][-1] for pooling in poolings]

    return vectors


def test_the_nearest_questions_are_the_models(embed):
    desk = questions_of(ROOT / "lessons" / "data" / "desk" / "en.tsv")
    app = open_page("sentence_vectors", model="mini-en", text="Where is my bag?")
    (mine,), (others,) = embed(["Where is my bag?"], "mean"), embed([question for question, _ in desk], "mean")
    similar = cosine_similarity(mine, others)[0]
    best = np.argsort(-similar, kind="stable")[:8]
    drawn = [trace["x"][0] for trace in figure(app, "nearest")["data"]]
    assert drawn == pytest.approx(similar[best].tolist(), abs=1e-4)
    assert desk[best[0]][1] in title_of(app, "nearest")
    app = open_page("sentence_vectors", model="mini-en", text="zebras eat grass", own="Zebras eat grass\nx")
    assert "Zebras eat grass" in title_of(app, "nearest")  # a line of the class
    assert figure(app, "nearest")["data"][0]["x"] == [pytest.approx(1.0, abs=1e-4)]
    assert "8 of 60" in str(figure(open_page("sentence_vectors", model="mini-zh"), "nearest")["layout"])


def test_what_each_loss_brings_is_what_is_recorded(monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    app = open_page("sentence_vectors", part=PARTS[4], claim="simbert")
    assert any("−4.49 ± 0.43" in here for table in app.table for here in table.value.get("here", ()))


def test_pairs_are_counted_and_then_measured():
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[0], n="1,000")
    before = text_of(app)
    assert "499,500" in before
    assert len(text_of(whole(app.button(key="measure").click().run()))) > len(before)
    assert "49,995,000" in text_of(open_page("sentence_vectors", model="mini-en"))


@pytest.mark.release
def test_poolings_are_held_against_scores_and_stsb_where_it_is(embed, monkeypatch, tmp_path):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[1], pooling="max")
    first, second, scores = zip(*similar_pairs("en"), strict=True)
    marks = {trace["hovertemplate"].split(":")[0]: trace["x"][0] for trace in figure(app, "pooling-0")["data"]}
    sides = [embed(texts, "mean", "cls", "max") for texts in (first, second)]
    for words, u, v in zip(("mean of all tokens", "[CLS]", "maximum of all tokens"), *sides, strict=True):
        cosines = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        assert marks[words] == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-3)
    assert figure(app, "pooling-1") is None
    (tmp_path / "tasks" / "en" / "stsb").mkdir(parents=True)
    lines = "".join(f"a{i} b\ta b{i}\t{i % 5}.0\n" for i in range(12))
    (tmp_path / "tasks" / "en" / "stsb" / "dev.tsv").write_text(f"sentence1\tsentence2\tscore\n{lines}")
    monkeypatch.setenv("MINIBERT_DATA", str(tmp_path))
    assert figure(open_page("sentence_vectors", model="mini-en", part=PARTS[1]), "pooling-1") is not None


def test_nothing_that_is_learned_from_is_measured():
    for language in ("en", "zh"):
        held = {text for *pair, _score in similar_parts(language)[-1] for text in pair}
        assert len(sentences(language)) > 80 and held.isdisjoint(sentences(language))
    desk = tuple(questions_of(ROOT / "lessons" / "data" / "desk" / "en.tsv"))
    learned, held = parts_of(desk)
    assert sorted([*learned, *held]) == sorted(desk) and len(held) == len({standard for _, standard in desk}) == 20
    assert {question for question, _ in held}.isdisjoint(question for question, _ in learned)


@pytest.mark.release  # another model, read twice, and beams
def test_simbert_finds_by_cls_and_writes():
    desk = questions_of(ROOT / "lessons" / "data" / "desk" / "zh.tsv")
    asked = "我的行李不见了。"
    app = open_page("sentence_vectors", model="mini-zh", part=PARTS[3], question=asked)
    folder = ROOT / "checkpoints" / "simbert" / "zh"
    model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
    values = {name: value for name, value in vars(model.config).items() if name in transformers.BertConfig().to_dict()}
    theirs = transformers.BertModel(transformers.BertConfig(**values | {"type_vocab_size": 6})).eval()
    weights = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).bert.state_dict()
    theirs.load_state_dict(weights)

    def cls(text):
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.no_grad():
            read = theirs(input_ids=ids, token_type_ids=torch.full_like(ids, SEGMENTS[READS][0]))
        return read.last_hidden_state[:, 0]

    similar = cosine_similarity(cls(asked), torch.cat([cls(question) for question, _ in desk]))[0]
    drawn = [trace["x"][0] for trace in figure(app, "simbert-found")["data"]]
    assert drawn == pytest.approx(sorted(similar, reverse=True)[:4], abs=1e-3)
    written = figure(app, "simbert-written")["data"]
    assert 1 <= len(written) <= 3 and not [one for one in written if asked[:-1] == one["hovertemplate"].split(":")[0]]


@pytest.mark.trains
@pytest.mark.parametrize(
    ("part", "choice", "slider", "button", "drawn"),
    [
        pytest.param(
            *("Find and write", {"simbert": "both"}, "simbert-steps", "train-simbert", "found-and-written"),
            marks=pytest.mark.release,
        ),
        ("Train SimCSE", {"who": "simcse-supervised"}, "vector-steps", "train-vectors", "plane"),
    ],
)
def test_what_is_asked_for_learns_and_is_drawn(asked_for, tmp_path, monkeypatch, part, choice, slider, button, drawn):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    query = {"model": "mini-zh", "text": "我的行李不见了。", "part": part, **choice}
    app = open_page("sentence_vectors", owner=drawn, told=["overfits"], **query)
    app.slider(key=slider).set_value(20).run()
    whole(app.button(key=button).click().run())
    (call,) = asked_for
    often = ("evaluate_every",) if button == "train-simbert" else ("report_every", "measure_every", "save_every")
    run = run_here(call, tmp_path / "out", owner=drawn, steps=1, batch_size=4, **dict.fromkeys(often, 1))
    shown = figure(open_page("sentence_vectors", owner=drawn, told=["overfits"], **query), drawn)
    assert shown is not None and run.title.split(",")[0] in str(shown)
    assert "我的行李不见了" in str([event for event in run.events() if event["event"] == "sample"])


def test_pairs_of_the_tasks_are_offered_where_the_data_are(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_DATA", str(tmp_path))
    assert [*inference_files("en")] == ["own"] and lcqmc() is None
    for name in ("en/rte/train.tsv", "zh/lcqmc/dev.txt", "zh/lcqmc/test.txt"):
        (tmp_path / "tasks" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tasks" / name).write_text("x")
    assert [*inference_files("en")] == ["own", "rte"] and [*inference_files("zh")] == ["own"] and lcqmc()
