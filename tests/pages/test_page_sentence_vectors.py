"""The page on sentence vectors: what is nearest is the model's, pairs are counted, runs draw their way."""

import numpy as np
import pytest
import torch
import transformers
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity

from minibert import checkpoint
from minibert.inside.vectors import sentence_vectors
from minibert.inside.writing import READS
from minibert.relatives.unilm import SEGMENTS
from minibert.sentence_vectors.rows import questions_of
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, title_of
from ui.samples import similar_pairs, similar_parts

PARTS = ("Pairs or vectors", "Which pooling", "Train SimCSE", "Find and write", "The claim", "The code")
FOLDER = ROOT / "checkpoints" / "mini-en"


def embed(texts, pooling="mean"):
    model, tokenizer = checkpoint.load(FOLDER), checkpoint.load_tokenizer(FOLDER)
    return sentence_vectors(model, tokenizer, list(texts), (pooling,))[pooling][-1]


def test_the_nearest_questions_are_the_models():
    desk = questions_of(ROOT / "lessons" / "data" / "desk" / "en.tsv")
    app = open_page("sentence_vectors", model="mini-en", text="Where is my bag?")
    similar = cosine_similarity(embed(["Where is my bag?"]), embed([question for question, _ in desk]))[0]
    best = np.argsort(-similar, kind="stable")[:8]
    drawn = [trace["x"][0] for trace in figure(app, "nearest")["data"]]
    assert drawn == pytest.approx(similar[best].tolist(), abs=1e-4)
    assert title_of(app, "nearest") == f"The standard question: “{desk[best[0]][1]}”"


def test_a_line_of_the_class_is_found():
    app = open_page("sentence_vectors", model="mini-en", text="zebras eat grass", own="Zebras eat grass\nx")
    assert title_of(app, "nearest") == "Nearest: “Zebras eat grass”"
    assert figure(app, "nearest")["data"][0]["x"] == [pytest.approx(1.0, abs=1e-4)]


def test_pairs_are_counted_and_then_measured():
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[0], n="1,000")
    assert "1,000 sentences: 499,500 pairs" in text_of(app)
    app.button(key="measure").click().run()
    assert not app.exception and "times as long" in text_of(app)
    assert "49,995,000 pairs" in text_of(open_page("sentence_vectors", model="mini-en"))


@pytest.mark.slow
def test_poolings_are_held_against_scores(monkeypatch):
    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[1], pooling="max")
    first, second, scores = zip(*similar_pairs("en"), strict=True)
    marks = {trace["hovertemplate"].split(":")[0]: trace["x"][0] for trace in figure(app, "pooling-0")["data"]}
    for pooling, words in (("mean", "mean of all tokens"), ("cls", "[CLS]"), ("max", "maximum of all tokens")):
        u, v = embed(first, pooling), embed(second, pooling)
        cosines = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        assert marks[words] == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-3)
    assert figure(app, "pooling-1") is None


@pytest.mark.slow
def test_stsb_is_there_where_the_data_are(monkeypatch, tmp_path):
    folder = tmp_path / "tasks" / "en" / "stsb"
    folder.mkdir(parents=True)
    lines = "".join(f"a{i} b\ta b{i}\t{i % 5}.0\n" for i in range(12))
    (folder / "dev.tsv").write_text(f"sentence1\tsentence2\tscore\n{lines}")
    monkeypatch.setenv("MINIBERT_DATA", str(tmp_path))
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[1])
    assert figure(app, "pooling-1") is not None


def test_nothing_that_is_learned_from_is_measured():
    from sections.sentence_vectors.learn import sentences

    for language in ("en", "zh"):
        held = {text for *pair, _score in similar_parts(language)[-1] for text in pair}
        assert len(sentences(language)) > 80 and held.isdisjoint(sentences(language))


def test_before_a_run_it_says_so_and_the_claim_is_told():
    app = open_page("sentence_vectors", model="mini-en", part=PARTS[2])
    assert "No run yet" in text_of(app)
    app = open_page("sentence_vectors", part=PARTS[4])
    assert figure(app, "scores-claim") is not None and "The wanted 8 points" in text_of(app)


def test_without_results_it_says_how_to_make_them(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    app = open_page("sentence_vectors", part=PARTS[4])
    assert "No results of this experiment" in text_of(app)
    assert "experiment sentence_vectors --seeds 3" in app.code[0].value


@pytest.mark.parametrize("text", ["  ", "😀 <b>bold</b>", "忘了密码怎么办", *list(HOSTILE.values())[:3]])
def test_any_text_is_a_question(text):
    app = open_page("sentence_vectors", model="mini-en", text=text, own=text)
    assert_no_markup(app)
    assert "<b>bold</b>" not in html_of(app)


def test_a_chinese_model_has_the_chinese_desk():
    app = open_page("sentence_vectors", model="mini-zh")
    assert "8 / 60" in str(figure(app, "nearest")["layout"])


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(part):
    assert text_of(open_page("sentence_vectors", model="mini-en", part=part))


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


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["<b>怎么</b> $x$ 🙂？", "hello *you*", "", "…"])
def test_simbert_takes_any_text(asked):
    app = open_page("sentence_vectors", model="mini-zh", part=PARTS[3], question=asked)
    assert not app.exception


def test_the_last_of_each_standard_question_is_held_out():
    from sections.sentence_vectors.write_live import parts_of

    desk = tuple(questions_of(ROOT / "lessons" / "data" / "desk" / "en.tsv"))
    learned, held = parts_of(desk)
    assert sorted([*learned, *held]) == sorted(desk) and len(held) == len({standard for _, standard in desk}) == 20
    assert {question for question, _ in held}.isdisjoint(question for question, _ in learned)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "choice", "slider", "button", "drawn"),
    [
        ("Find and write", {"simbert": "both"}, "simbert-steps", "train-simbert", "found-and-written"),
        ("Train SimCSE", {"who": "simcse-supervised"}, "vector-steps", "train-vectors", "plane"),
        ("Train SimCSE", {"who": "softmax"}, "vector-steps", "train-vectors", "plane"),
    ],
)
def test_a_run_is_begun_and_drawn(monkeypatch, part, choice, slider, button, drawn):
    from ui.runs import manager

    monkeypatch.delenv("MINIBERT_DATA", raising=False)
    before = {run.id for run in manager().runs()}
    query = {"model": "mini-zh", "text": "我的行李不见了。", **choice}
    app = open_page("sentence_vectors", part=part, told=["overfits"], **query)
    app.slider(key=slider).set_value(20).run()
    app.button(key=button).click().run()
    assert not app.exception
    (run,) = [one for one in manager().runs() if one.id not in before]
    run.wait(timeout=120)
    assert run.error is None and run.state == "finished"
    app.run()
    shown = figure(app, drawn)
    assert shown is not None and not app.exception and run.title.split(",")[0] in str(shown)
    assert "我的行李不见了" in str([event for event in run.events() if event["event"] == "sample"])


def test_pairs_of_the_tasks_are_offered_where_the_data_are(monkeypatch, tmp_path):
    from sections.sentence_vectors.learn import inference_files
    from sections.sentence_vectors.write_live import lcqmc

    monkeypatch.setenv("MINIBERT_DATA", str(tmp_path))
    assert [*inference_files("en")] == ["own"] and lcqmc() is None
    for name in ("en/rte/train.tsv", "zh/lcqmc/dev.txt", "zh/lcqmc/test.txt"):
        (tmp_path / "tasks" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tasks" / name).write_text("x")
    assert [*inference_files("en")] == ["own", "rte"] and [*inference_files("zh")] == ["own"] and lcqmc()


def test_what_each_loss_brings_is_told(monkeypatch, tmp_path):
    app = open_page("sentence_vectors", part=PARTS[4], claim="simbert")
    assert "−4.49 ± 0.43" in text_of(app) and "a difference" in text_of(app)
    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    app = open_page("sentence_vectors", part=PARTS[4], claim="simbert")
    assert "experiment simbert --seeds 3" in app.code[0].value


def test_what_labels_bring_is_told():
    app = open_page("sentence_vectors", part=PARTS[4], claim="inference")
    assert figure(app, "scores-claim") is not None and not app.exception
