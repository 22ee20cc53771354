"""The page To write: the mask on the screen is the model's, what is written and corrected too."""

import json
import random

import pytest

from minibert import checkpoint
from minibert.inside.predictions.gibbs import gibbs
from minibert.inside.predictions.writing import beam, expected, greedy
from minibert.masking.misspelling import read_confusions
from minibert.masking.noises import NOISES
from minibert.seq2seq.corrector import Corrector
from minibert.tokenizer import basic_tokens
from minibert.toy.answers import AnswerSettings, answer_sample, rules_for, spelled, train_answers
from minibert.toy.corrections import CorrectorSettings, correction_sample, train_corrector
from minibert.toy.denoising import BART, DenoisingSettings, load, restoration_sample, train_bart
from plots.attention import number
from sections.to_write.corrector import chinese_sentences
from tests.pages.driver import ROOT, figure, html_of, open_page, plain, whole
from tests.pages.finished_runs import run_of
from ui.lesson import Lesson

FOLDER = ROOT / "checkpoints" / "unilm-toy"
TEXT = "anna found the red ball. tom went to the zoo. who found the ball?"


@pytest.fixture(scope="module")
def unilm():
    return checkpoint.load(FOLDER / "answers"), checkpoint.load_tokenizer(FOLDER / "answers")


def shown(app) -> dict:
    """What the moving picture is told."""
    (picture,) = [block for block in app.get("bidi_component") if "written" in block.proto.component_name]
    return json.loads(picture.proto.json)


def captions(app) -> str:
    return plain("\n".join(caption.value for caption in app.caption))


def test_what_is_written_and_its_probabilities_are_the_models_and_bert_writes_beside_it(runs_folder, unilm):
    model, tokenizer = unilm
    app = open_page("to_write", owner="me", text=TEXT)
    words = answer_sample(
        checkpoint.load(FOLDER / "bert-answers"), checkpoint.load_tokenizer(FOLDER / "bert-answers"), TEXT
    )
    assert "BERT" in captions(app) and all(word in captions(app) for word in words["words"] if word.isalpha())
    data = shown(app)
    check_mask(data, lambda i, j: j < data["source"] or j <= i)
    source = tokenizer.encode(TEXT).ids
    text = greedy(model, source, rules_for(tokenizer, most=16))
    assert [step["word"] for step in data["steps"][1:-1]] == [tokenizer.vocab[i] for i in text.ids]
    for place, step in enumerate(data["steps"][1:-1]):
        log_probs = expected(model, source, text.ids[:place], tokenizer.mask_id)
        assert step["p"] == pytest.approx(float(log_probs[text.ids[place]].exp()), abs=1e-4)
        assert step["guesses"][0][1] == pytest.approx(float(log_probs.max().exp()), abs=1e-4)
    assert f"ln P = {number(text.score)}" in data["steps"][-1]["finding"]
    assert data["source"] == len(source) and len(data["tokens"]) == len(source) + len(text.ids)


def check_mask(data: dict, sees) -> None:
    places = range(len(data["tokens"]))
    assert data["mask"] == ["".join(str(int(sees(i, j))) for j in places) for i in places]


@pytest.mark.parametrize(
    ("mask", "sees"),
    [("both_ways", lambda i, j: True), ("left_to_right", lambda i, j: j <= i), ("right_to_left", lambda i, j: j >= i)],
)
def test_the_mask_is_the_one_that_is_chosen(runs_folder, mask, sees):
    data = shown(open_page("to_write", owner="me", text=TEXT, mask=mask))
    check_mask(data, sees)
    assert len(data["steps"]) == 1  # nothing is written


def test_a_beam_tells_what_else_it_found(runs_folder, unilm):
    model, tokenizer = unilm
    app = open_page("to_write", owner="me", text=TEXT, way="beam", width=4)
    found = beam(model, tokenizer.encode(TEXT).ids, rules_for(tokenizer, most=16), 4)
    assert f"ln P = {number(found[0].score)}" in shown(app)["steps"][-1]["finding"]
    assert all(spelled(text.ids, tokenizer) in captions(app) for text in found[1:])
    drawn = {"way": "sample", "temperature": "2"}
    one, other = (shown(open_page("to_write", owner="me", text=TEXT, dice=n, **drawn))["steps"] for n in (1, 2))
    assert one != other


def test_a_text_of_the_readers_is_measured(runs_folder, unilm):
    model, tokenizer = unilm
    data = shown(open_page("to_write", owner="me", text=f"{TEXT} [SEP] tom found the ball."))
    words = [step["word"] for step in data["steps"][1:-1]]
    assert words == ["tom", "found", "the", "ball", ".", "[SEP]"]
    source, ids = tokenizer.encode(TEXT).ids, [tokenizer.ids[word] for word in words]
    total = sum(float(expected(model, source, ids[:n], tokenizer.mask_id)[i]) for n, i in enumerate(ids))
    assert f"ln P = {number(total)}" in data["steps"][-1]["finding"]


def test_chinese_has_the_same_mask_and_no_numbers(runs_folder):
    data = shown(open_page("to_write", owner="me", text="你想吃啥 [SEP] 白切鸡"))
    assert data["tokens"] == ["[CLS]", *"你想吃啥", "[SEP]", *"白切鸡", "[SEP]"]
    assert data["mask"][6] == "1111111000" and all(step["p"] is None for step in data["steps"][1:-1])


def test_a_sentence_is_drawn_from_bert(runs_folder):
    bert, tokenizer = checkpoint.load(FOLDER / "bert"), checkpoint.load_tokenizer(FOLDER / "bert")
    app = open_page("to_write", owner="me", part="BERT", length=5, sweeps=2, order="surest", seed=4)
    row = [tokenizer.cls_id, *[tokenizer.mask_id] * 5, tokenizer.sep_id]
    draws = list(
        gibbs(
            bert,
            row,
            range(1, 6),
            tokenizer.mask_id,
            sweeps=2,
            seed=4,
            order="surest",
            temperature=0.5,
            never=tokenizer.special_ids,
        )
    )
    rows = [" ".join(tokenizer.vocab[i] for i in draws[n].ids[1:-1]) for n in (0, 5, 10)]
    assert list(app.dataframe[0].value.iloc[:, 1]) == rows
    lines = figure(app, "gibbs-orders")["data"]
    assert len(lines) == 3 and all(len(line["x"]) == 2 for line in lines)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_corrected_is_what_the_models_say(runs_folder, language):
    app = open_page("to_write", owner="me", part="BERT", bert="corrector", language=language)
    html = html_of(app)
    assert html.count('class="mb-fix"') == (2 if language == "en" else 1)
    text = Lesson("to_write").examples_called("wrong" if language == "en" else "wrong_zh")[0]
    folders = [FOLDER / "bert", FOLDER / "corrector"] if language == "en" else [ROOT / "checkpoints" / "mini-zh"]
    for folder in folders:
        sample = correction_sample(*Corrector.load(folder), text)
        assert f"<bdi>{sample['tokens'][0]}</bdi>" in html
        if sample["suspicion"]:
            assert f"p {sample['suspicion'][2]:.2f}" in html


def test_chinese_sentences_are_the_courses_own():
    sentences = chinese_sentences()
    alike = read_confusions(ROOT / "lessons" / "to_write" / "alike.zh.tsv")
    assert len(sentences) > 600 and len(set(sentences)) == len(sentences)
    assert sum(any(one in alike for one in text) for text in sentences) > 0.9 * len(sentences)


def test_noises_are_drawn_on_the_readers_text(runs_folder):
    text = "anna found the ball. tom slept. they danced."
    app = open_page("to_write", owner="me", part="BART", noisy=text, seed=3)
    html, tokens = html_of(app), basic_tokens(text, uncased=False)
    assert html.count("<li><strong>") == len(NOISES)
    spans = [len(part.places) for part in NOISES["infilling"](tokens, random.Random(3)) if part.token == "[MASK]"]
    assert ", ".join(map(str, spans)) in captions(app)


# --- what is trained here ---------------------------------------------------------------------------------------------


@pytest.mark.release
@pytest.mark.trains
def test_answers_that_were_learned_are_found_again(runs_folder, tmp_path):
    for name, title in (("unilm", "UniLM"), ("bert", "BERT")):
        settings = AnswerSettings(2, batch_size=2, held_out=2, evaluate_every=1)
        events = train_answers(settings, FOLDER / name, out=tmp_path / name, probe_inputs=[TEXT])
        run_of(events, f"to_write-answers/{name}", owner="me", title=title, folder=tmp_path / name)
    app = open_page("to_write", owner="me", unilm="answers")
    lines = [line for line in figure(app, "answers-learned")["data"] if line.get("name")]
    assert {line["name"] for line in lines} == {"UniLM", "BERT"}
    assert "UniLM" in " ".join(app.selectbox(key="writer").options)


@pytest.mark.trains
def test_a_corrector_of_ones_own_corrects(runs_folder, tmp_path):
    settings = CorrectorSettings(steps=2, batch_size=2, stories=20, held_out=4, evaluate_every=1)
    events = train_corrector(settings, FOLDER / "bert", out=tmp_path / "out")
    run_of(events, "to_write-corrector/en/soft_masked", owner="me", folder=tmp_path / "out")
    app = open_page("to_write", owner="me", part="BERT", bert="corrector")
    assert html_of(app).count('class="mb-fix"') == 3 and figure(app, "corrector-learned")


@pytest.mark.trains
def test_what_a_bart_of_ones_own_writes_is_found_again(runs_folder, tmp_path):
    settings = DenoisingSettings("masking", 2, 2, stories=20, held_out=4, evaluate_every=1)
    events = list(train_bart(settings, out=tmp_path, probe_inputs=[(TEXT, 1)]))
    for _run in range(2):
        run_of(events, "to_write-bart/masking", owner="me", title="BART, masking", folder=tmp_path)
    text = "anna danced. tom sang."
    app = open_page("to_write", owner="me", part="BART", bart="restores", spoiled=text, noise="deletion", seed=3)
    said = restoration_sample(*load(tmp_path / BART), text, "deletion", 3)["said"]
    html = html_of(app)
    assert html.count("BART, masking, 2 steps") == 2
    assert html.count("<bdi>") == len(NOISES["deletion"](basic_tokens(text, True), random.Random(3))) + 2 * len(said)
    assert len({line["name"] for line in figure(app, "bart-learned")["data"]}) == 3
    assert not any("masking" in one for one in open_page("to_write", owner="me").selectbox(key="writer").options)


@pytest.mark.parametrize(
    ("query", "button", "settings"),
    [
        ({"unilm": "answers"}, "train-answers", [AnswerSettings(300)] * 2),
        (
            {"part": "BERT", "bert": "corrector"},
            "train-corrector",
            [CorrectorSettings(kind, 200, batch_size=32, held_out=150) for kind in ("soft_masked", "plain")],
        ),
        ({"part": "BART", "bart": "restores", "noise": "deletion"}, "train-bart", [DenoisingSettings("deletion", 300)]),
    ],
)
def test_what_is_chosen_is_trained(asked_for, query, button, settings):
    app = open_page("to_write", owner="else", **query)
    whole(app.button(key=button).click().run())
    assert [arguments[0] for _, arguments, _ in asked_for] == settings
