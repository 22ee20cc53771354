"""The NEZHA page: positions and distances, what a head hears of them, who still finds a word further to the right, the
claim, and the arithmetic: each against the model, or by hand."""

import json
import re

import numpy as np
import pytest
import torch

from minibert import checkpoint
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.inside.distances import expected, heard, score
from minibert.inside.half_precision import repeated
from minibert.toy.pretrain import pretrain_toy
from sections.nezha.layers import name_of
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, whole
from ui.lesson import Lesson, load_quiz
from ui.train_both import Side, _settings

FOLDER = ROOT / "checkpoints" / "nezha-toy"
TEXT = "felix was an eager boy. felix lost the scarf. he searched alone."
WORD = 11  # "he", from 0 ("." is a token)
PARTS = (
    "Words in front", "The diff", "Train both", "The claim", "The arithmetic", "LAMB", "Batches", "LAMB’s claim",
    "What became of it",
)  # fmt: skip


@pytest.fixture(scope="module")
def models():
    return (
        checkpoint.load(FOLDER / "nezha"),
        checkpoint.load(FOLDER / "bert"),
        checkpoint.load_tokenizer(FOLDER / "nezha"),
    )


def columns(app) -> list[dict]:
    """The columns of the picture: the word, its position alone and now, its distance as heard."""
    found = re.findall(
        r'<li( class="here")?><span class="token"><bdi>(.*?)</bdi></span><span class="place">(.*?)</span>'
        r'<span class="far"><b>(.*?)</b></span></li>',
        html_of(app),
    )
    return [
        {
            "here": bool(here),
            "token": token,
            "places": [int(n) for n in re.findall(r"\d+", place)],
            "far": [int(n) for n in re.findall(r"[-+]?\d+", far.replace("−", "-"))],
        }
        for here, token, place, far in found
    ]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(runs_folder, part):
    app = open_page("nezha", owner="me", part=part)
    assert not app.error and columns(app)


def test_positions_move_and_distances_do_not(runs_folder):
    alone, moved = (columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=n)) for n in (0, 90))
    assert [column["token"] for column in alone] == [column["token"] for column in moved]
    assert [column["far"] for column in alone] == [column["far"] for column in moved]
    for place, (before, after) in enumerate(zip(alone, moved, strict=True)):
        assert before["places"] == [place + 1] and after["places"] == [place + 1, place + 91]
        assert before["far"] == [place - WORD] and before["here"] == (place == WORD)


def test_distances_are_clipped(runs_folder):
    for place, column in enumerate(columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, k=3))):
        distance = place - WORD
        assert column["far"] == ([distance] if abs(distance) <= 3 else [distance, max(-3, min(3, distance))])


@pytest.mark.parametrize(("layer", "head", "k"), [(1, 1, 64), (2, 2, 3)])
def test_the_figures_are_what_a_head_hears(runs_folder, models, layer, head, k):
    app = open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=0, layer=layer, head=head, k=k)
    ids = models[2].encode(TEXT).ids
    one = heard(models[0], ids, layer - 1, head - 1, k)
    strips, bars = figure(app, "strips")["data"]
    vectors, added = one.vectors[1:-1, 1:-1][WORD], one.by_distance[1:-1, 1:-1]
    assert np.allclose(array(strips["z"]), vectors.numpy().T, atol=1e-5)
    assert np.allclose(array(bars["y"]), added[WORD].numpy(), atol=1e-4)
    cells = next(trace for trace in figure(app, "bias")["data"] if trace["type"] == "heatmap")
    assert np.allclose(array(cells["z"]), added.numpy(), atol=1e-4)


def array(values) -> np.ndarray:
    """Numbers as plotly writes them: a list, or base64."""
    if isinstance(values, dict):
        import base64

        flat = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
        return flat.reshape([int(n) for n in str(values.get("shape", len(flat))).split(",")])
    return np.asarray(values, float)


def test_who_still_finds_the_word_is_told_after_the_guess(runs_folder, models):
    app = open_page("nezha", owner="me")
    assert not figure(app, "shift-answers")
    app = whole(app.button(key="shift-show").click().run())
    assert figure(app, "shift-answers") and figure(app, "shift-curve")


@pytest.mark.slow
@pytest.mark.parametrize("front", [0, 60])
def test_shares_and_scores_are_the_models(runs_folder, models, front):
    from minibert.toy import world
    from sections.nezha.subject import STORIES

    app = open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=front, k=20)
    nezha, bert, tokenizer = models
    told = [word.text for story in world.stories(8, STORIES, "small") for word in story.words]
    before = [tokenizer.ids[word] for word in told[len(told) - front :]] if front else []
    ids = tokenizer.encode(TEXT).ids
    row, place = [ids[0], *before, *ids[1:]], 1 + front + WORD
    right = ids[1 + WORD]
    lines = {line["name"]: array(line["y"]) for line in figure(app, "shift-curve")["data"] if line.get("name")}
    shares = {
        "NEZHA": expected(nezha, row, place, tokenizer.mask_id, 20),
        "BERT": expected(bert, row, place, tokenizer.mask_id),
    }
    finds = {name: bool(share.argmax() == right) for name, share in shares.items()}
    for name, share in shares.items():
        assert lines[name][front // 20] == pytest.approx(float(share[right]), abs=1e-4)
    said = {(True, True): "both", (True, False): "only NEZHA", (False, True): "only BERT", (False, False): "neither"}
    guessing = next(button for button in app.button if button.key == "shift-again")
    app = whole(guessing.click().run())
    options = [button.label for button in app.button if button.key.startswith("shift-guess-")]
    right_one = options.index(said[finds["NEZHA"], finds["BERT"]])
    app = whole(app.button(key=f"shift-guess-{right_one}").click().run())
    assert "Right: **" in text_of(app)
    table = app.table[0].value
    wanted = [
        f"{score(model, r, 0, 0, (p, p - 2)):.4f}"
        for model in (nezha, bert)
        for r, p in ((ids, 1 + WORD), (row, place))
    ]
    assert [str(value) for value in table.iloc[:, 1:].to_numpy().flatten()] == wanted
    assert wanted[0] == wanted[1]  # NEZHA's does not move
    assert (wanted[2] == wanted[3]) == (front == 0)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(runs_folder, text):
    assert_no_markup(open_page("nezha", owner="me", text=text))


def test_words_it_has_never_read_are_said_to_be_unknown(runs_folder):
    app = open_page("nezha", owner="me", text="felix was a physicist.")
    assert any("not in these models’ vocabulary" in caption.value for caption in app.caption)


def test_the_diff_is_of_the_running_code(runs_folder):
    app = open_page("nezha", owner="me", part="The diff")
    assert any("minibert/model.py" in box.label and "relatives/nezha.py" in box.label for box in app.expander)
    assert html_of(app).count('class="mb-source mb-diff"') == 3


# --- the claim --------------------------------------------------------------------------------------------------------


def records(values: dict[str, dict[int, list[float]]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-25"}
    scale = {"masked": 0.15, "max_length": 32, "lengths": [32, 64, 128, 256]}
    return [
        {
            "experiment": "nezha", "arm": arm, "seed": seed, "pretraining": {}, "scale": scale, "steps": 7,
            "metrics": {f"right_{length}": shares[seed] for length, shares in lengths.items()}, "parameters": 1,
            "tokens": 99, "curve": [], "seconds": 3.0, "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment nezha",
        }
        for arm, lengths in values.items()
        for seed in range(3)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("nezha", owner="me", part="The claim")
    assert any("experiment nezha --seeds 3" in block.value for block in app.code)
    assert not figure(app, "over-lengths")


def test_each_direction_gets_its_verdict(results):
    flat = {length: [0.50, 0.51, 0.52] for length in (32, 64, 128, 256)}
    values = {
        "learned": flat,
        "sinusoid": {**flat, 256: [0.30, 0.31, 0.33]},
        "nezha": {32: [0.40, 0.55, 0.60], 64: [0.60, 0.61, 0.63], 128: [0.70, 0.72, 0.72], 256: [0.41, 0.40, 0.43]},
        "nezha-16": flat,
    }
    (results / "nezha.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records(values)))
    app = open_page("nezha", owner="me", part="The claim")
    told = text_of(app)
    assert "Of the papers’ 5 directions ours agree in 2, disagree in 2, and leave 1 open." in told
    assert re.search(r"32 tokens, NEZHA, ±64 against BERT, positions learned: .* – \*\*unclear", told)
    assert re.search(r"64 tokens, NEZHA, ±64 against .* \+10\.3 ± .* over 3 seeds – \*\*agrees\*\*", told)
    assert re.search(r"256 tokens, BERT, sinusoids against .* −19\.7 ± .* – \*\*disagrees\*\*", told)
    assert "no number in the paper" in told
    lines = {line["name"]: array(line["y"]) for line in figure(app, "over-lengths")["data"] if line.get("name")}
    assert lines["NEZHA, ±64"] == pytest.approx([0.516667, 0.613333, 0.713333, 0.413333], abs=1e-4)


def test_what_has_been_recorded_is_read(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("nezha")
    arms = RELATIVE_EXPERIMENTS["nezha"].arms
    assert kept and all(record["arm"] in arms for record in kept)
    assert all(0 <= record["metrics"][f"right_{n}"] <= 1 for record in kept for n in (32, 64, 128, 256))
    assert len({(record["arm"], record["seed"]) for record in kept}) == len(kept)


# --- the arithmetic ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "update", "vanishes"), [("1.0", "0.0001", True), ("0.02", "0.001", False)])
def test_a_small_update_is_added_for_nothing(runs_folder, weight, update, vanishes):
    app = open_page("nezha", owner="me", part="The arithmetic", weight=weight, update=update)
    half, master = repeated(float(weight), float(update), 1000)
    assert ("nothing happens" in text_of(app)) == vanishes == (half[0] == half[-1])
    lines = [array(line["y"]) for line in figure(app, "weight-paths")["data"]]
    assert lines[0] == pytest.approx(half) and lines[1] == pytest.approx(master)


def test_the_loss_is_scaled(runs_folder):
    app = open_page("nezha", owner="me", part="The arithmetic")
    zero, infinite = (array(line["y"]) for line in figure(app, "loss-scales")["data"])
    assert zero[0] > zero[6] and infinite[0] == 0 < infinite[-1]
    assert "become 0**" in text_of(app)
    app = whole(app.select_slider(key="scale").set_value(28).run())
    assert "are infinite**" in text_of(app)


def test_lamb_moves_every_matrix_by_the_same_share(runs_folder):
    app = open_page("nezha", owner="me", part="LAMB")
    adamw, lamb = (array(line["x"]) for line in figure(app, "layer-shares")["data"])
    assert lamb == pytest.approx([1e-3] * len(lamb), rel=1e-3)
    assert adamw.max() > 2 * adamw.min() > 0


def test_names_of_weights_are_short():
    assert name_of("bert.blocks.0.attn.query.weight") == "block 1 query"
    assert name_of("bert.embeddings.token.weight") == "token"


# --- trained together -------------------------------------------------------------------------------------------------


def test_both_sides_read_the_same_short_rows():
    shared = {"max_length": 32, "batch_size": 64}
    bert = _settings(Side("BERT", settings={**shared, "start": "sinusoids"}), 40, 2, 15)
    nezha = _settings(
        Side("N", "nezha", sizes={"max_relative_position": 8}, settings={**shared, "start": "words"}), 40, 2, 15
    )
    same = ("steps", "seed", "batch_size", "max_length", "input_format", "optimization", "preset", "masking")
    assert all(getattr(bert, name) == getattr(nezha, name) for name in same)
    assert (bert.start, nezha.start, bert.max_length) == ("sinusoids", "words", 32)
    assert nezha.config().max_relative_position == 8


@pytest.fixture(scope="module")
def together(runs_folder, tmp_path_factory):
    """BERT and NEZHA after a few steps, as the page's runs."""
    from jobs.files import pack
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    made = []
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    for side in (Side("BERT", sizes=sizes), Side("NEZHA", "nezha", sizes=sizes)):
        folder = tmp_path_factory.mktemp(side.relative) / "model"
        side = Side(side.title, side.relative, {}, sizes, {"max_length": 32, "start": "words"})
        events = pretrain_toy(
            _settings(side, 2, 0, 15), folder, stories=60, lengths=(32, 128), watch=["soon [MASK] found the rings."]
        )
        events = [event.as_dict() for event in events]
        run = Run(
            manager(), manager().directory, "me", side.title, f"nezha/7/{side.relative}-0",
            "minibert.toy.pretrain:pretrain_toy",
        )  # fmt: skip
        made.append(ended(run, events, pack(folder)))
    return made


@pytest.mark.slow
def test_what_was_trained_together_is_laid_over_each_other(together):
    app = open_page("nezha", owner="me", part="Train both")
    curves = figure(app, "both-curves")
    assert {trace["name"] for trace in curves["data"] if trace.get("name")} == {"BERT", "NEZHA"}
    titles = [note["text"] for note in curves["layout"]["annotations"]]
    assert [title.split(",")[0] for title in titles[:2]] == ["Right in rows of 32", "Right in rows of 128"]


@pytest.mark.slow
def test_a_pair_of_ones_own_opens_in_the_picture(together):
    app = open_page("nezha", owner="me", pair=together[1].id)
    assert app.selectbox(key="pair").value == together[1].id and columns(app) and not app.error


@pytest.mark.slow
def test_train_both_begins_two_runs(runs_folder):
    from ui.runs import manager

    app = open_page("nezha", owner="else", part="Train both", clip=16)
    app.slider(key="both-steps").set_value(50)
    app = whole(app.button(key="train-both").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["BERT", "NEZHA ±16"]
    for run in runs:
        run.cancel()


def test_the_quiz_and_what_the_papers_say():
    lesson = Lesson("nezha")
    assert len(load_quiz(lesson.folder / "quiz.toml")) >= 5
    text = (lesson.folder / "paper.toml").read_text()
    assert "§2.2" in text and "§3.5" in text


def test_the_shipped_pair_has_read_the_same():
    logs = [
        [json.loads(line) for line in (FOLDER / name / "training.jsonl").read_text().splitlines()]
        for name in ("nezha", "bert")
    ]
    settings = [log[0]["settings"] for log in logs]
    differ = {name for name in settings[0] if settings[0][name] != settings[1][name]}
    assert differ <= {"relative", "sizes"}
    assert len({[event for event in log if event["event"] == "step"][-1]["tokens"] for log in logs}) == 1
    assert torch.equal(
        *(checkpoint.load(FOLDER / name).mlm.decoder.weight.isfinite().all() for name in ("nezha", "bert"))
    )
