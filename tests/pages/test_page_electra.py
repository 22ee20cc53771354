"""The ELECTRA page: what it draws is what both networks computed; the diff, the claim and what was trained together."""

import json
import re

import pytest

from minibert import checkpoint
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.inside.replaced import places_to_hide, replaced, tally
from minibert.objectives import Masking
from minibert.pretrain import PretrainSettings
from minibert.toy import world
from minibert.toy.pretrain import pretrain_toy
from sections.electra.generator import SEED, STORIES
from sections.electra.subject import TEMPERATURES
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, whole
from ui.lesson import Lesson, load_quiz
from ui.train_both import Side, _settings

PAIR = ROOT / "checkpoints" / "electra-toy" / "pair"
TEXT = "felix was an eager boy. felix lost the scarf."
PARTS = ("What is asked", "The diff", "Train both", "The claim", "The generator’s size", "What became of it")


@pytest.fixture(scope="module")
def networks():
    return checkpoint.load(PAIR), checkpoint.load(PAIR / "generator"), checkpoint.load_tokenizer(PAIR)


def drawn(networks, text: str, rate: float, temperature: float, seed: int):
    discriminator, generator, tokenizer = networks
    encoding = tokenizer.encode(text)
    places = places_to_hide(encoding.special, rate, seed)
    return encoding, replaced(
        generator, discriminator, encoding.ids, places, tokenizer.mask_id, temperature=temperature, seed=seed
    )


def columns(app) -> list[dict]:
    """The columns of the picture: what stood there, what is read, P(replaced), the verdict."""
    found = re.findall(
        r'<li( class="hid")?><span class="was"><bdi>(.*?)</bdi></span><span class="read"><bdi>(.*?)</bdi>.*?'
        r'--p:([\d.]+)".*?<b>(.*?)</b>',
        html_of(app),
    )
    return [
        {"hidden": bool(hid), "was": was, "read": read, "p": float(p), "said": said}
        for hid, was, read, p, said in found
    ]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(runs_folder, part):
    app = open_page("electra", owner="me", part=part)
    assert not app.error and columns(app)


@pytest.mark.parametrize(("temperature", "seed", "rate"), [(1.0, 1, 25), (0.0, 4, 50), (4.0, 9, 15)])
def test_the_picture_is_what_both_networks_computed(runs_folder, networks, temperature, seed, rate):
    app = open_page("electra", owner="me", text=TEXT, temperature=f"{temperature:g}", seed=seed, rate=rate)
    encoding, one = drawn(networks, TEXT, rate / 100, temperature, seed)
    vocab, shown = networks[2].vocab, columns(app)
    inside = range(1, len(encoding.ids) - 1)
    assert [column["was"] for column in shown] == [vocab[one.original[i]] for i in inside]
    assert [column["read"] for column in shown] == [vocab[one.read[i]] for i in inside]
    assert [column["hidden"] for column in shown] == [one.hidden[i] for i in inside]
    for column, i in zip(shown, inside, strict=True):
        assert column["p"] == pytest.approx(one.suspicion[i], abs=6e-4)
        suspected, changed = one.suspicion[i] > 0.5, one.read[i] != one.original[i]
        words = {(True, True): "✓ found", (True, False): "✗ missed", (False, True): "✗ false alarm"}
        expected = words.get((changed, suspected), "= as it was" if one.hidden[i] else "")
        assert column["said"] == expected
    changed = [i for i in inside if one.replaced[i]]
    said = f"Of {len(changed)} replaced tokens the discriminator finds {sum(one.suspicion[i] > 0.5 for i in changed)};"
    assert said in text_of(app)


def test_drawing_again_draws_otherwise(runs_folder):
    app = open_page("electra", owner="me", text=TEXT)
    before = columns(app)
    app = whole(app.button(key="draw").click().run())
    assert app.session_state["seed"] == 2 and columns(app) != before
    assert app.query_params["seed"] in ("2", ["2"])


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_text(runs_folder, text):
    app = open_page("electra", owner="me", text=text, part="What is asked")
    assert_no_markup(app)


def test_words_it_has_never_read_are_said_to_be_unknown(runs_folder):
    app = open_page("electra", owner="me", text="felix was a physicist.")
    assert any("not in this pair’s vocabulary" in caption.value for caption in app.caption)


def test_the_diff_is_of_the_running_code(runs_folder):
    from minibert.model import MlmHead
    from minibert.replaced_tokens import Discriminator
    from ui.code_diff import Change, lines_of
    from ui.source import source_of

    change = Change("x", MlmHead, Discriminator)
    lines = list(lines_of(change))
    theirs, ours = (source_of(part)[0] for part in (MlmHead, Discriminator))
    assert sum(line.sign != "+" for line in lines) == len(theirs)
    assert sum(line.sign != "-" for line in lines) == len(ours)
    app = open_page("electra", owner="me", part="The diff")
    added = sum(line.sign == "+" for line in lines)
    assert any(f"+{added} −" in box.label and "minibert/model.py" in box.label for box in app.expander)
    assert html_of(app).count('class="mb-source mb-diff"') == 4


def test_the_generators_figure_counts_what_it_says(runs_folder, networks):
    discriminator, generator, tokenizer = networks
    app = open_page("electra", owner="me", part="The generator’s size", temperature="2", rate=25)
    lines = {line["name"]: line["y"] for line in figure(app, "temperatures")["data"]}
    texts = [story.text for story in world.stories(STORIES, SEED, "small")]
    for place, temperature in ((0, TEMPERATURES[0]), (5, 2.0)):
        shares = tally(generator, discriminator, tokenizer, texts, temperature=temperature, rate=0.25).shares()
        assert lines["samples that are right"][place] == pytest.approx(shares["right"])
        assert lines["replaced tokens found"][place] == pytest.approx(shares["found"])
        assert lines["original tokens suspected"][place] == pytest.approx(shares["suspected"])
    assert lines["samples that are right"][0] > lines["samples that are right"][-1]  # hot samples are seldom right


def test_a_tally_by_hand(networks):
    discriminator, generator, tokenizer = networks
    text = "felix was an eager boy. he searched alone."
    encoding = tokenizer.encode(text)
    places = places_to_hide(encoding.special, 0.4, 3)
    one = replaced(generator, discriminator, encoding.ids, places, tokenizer.mask_id, temperature=1.0, seed=3)
    counted = tally(generator, discriminator, tokenizer, [text], temperature=1.0, rate=0.4, seed=3)
    right = sum(one.read[i] == one.original[i] for i in places)
    assert (counted.hidden, counted.right, counted.replaced) == (len(places), right, len(places) - right)
    assert counted.original == len(encoding.ids) - 2 - counted.replaced
    assert counted.found == sum(one.suspicion[i] > 0.5 for i in places if one.replaced[i])


# --- the claim --------------------------------------------------------------------------------------------------------


def records(values: dict[str, list[float]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-24"}
    return [
        {
            "experiment": "electra", "arm": arm, "seed": seed, "metrics": {"who_is_meant": value}, "pretraining": {},
            "scale": {"masked": 0.15, "train": 10, "test": 5}, "steps": 7, "tokens": 99, "parameters": 1, "curve": [],
            "seconds": 3.0, "data": ["toy"], "command": "python -m minibert experiment electra", "machine": machine,
        }
        for arm, seeds in values.items()
        for seed, value in enumerate(seeds)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("electra", owner="me", part="The claim")
    assert any("experiment electra --seeds 3" in block.value for block in app.code)
    assert figure(app, "scores-claim") and not figure(app, "differences-claim")


def test_each_direction_gets_its_verdict(results):
    values = {
        "bert": [0.50, 0.51, 0.52], "electra": [0.70, 0.71, 0.73], "electra-15": [0.40, 0.42, 0.43],
        "replace-mlm": [0.30, 0.55, 0.80], "all-tokens-mlm": [0.60],
    }  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in records(values))
    (results / "electra.jsonl").write_text(lines)
    app = open_page("electra", owner="me", part="The claim")
    told = text_of(app)
    assert "Of the paper’s 4 directions ours agree in 1, disagree in 1, and leave 2 open." in told
    assert re.search(r"ELECTRA: \+2\.8 in the paper, \+20\.3 ± .* over 3 seeds – \*\*agrees\*\*", told)
    assert re.search(r"ELECTRA 15 %: \+0\.2 in the paper, −9\.3 ± .* – \*\*disagrees\*\*", told)
    assert "from a single seed – **unclear" in told
    assert figure(app, "differences-claim")
    drawn_values = [trace["x"][0] for trace in figure(app, "scores-claim")["data"] if trace["mode"] == "markers+text"]
    assert 85.0 in drawn_values and pytest.approx(51.0) in drawn_values


def test_what_has_been_recorded_is_read(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("electra")
    arms = RELATIVE_EXPERIMENTS["electra"].arms
    assert all(record["arm"] in arms and 0 <= record["metrics"]["who_is_meant"] <= 1 for record in kept)
    assert len({(record["arm"], record["seed"]) for record in kept}) == len(kept)


# --- trained together -------------------------------------------------------------------------------------------------


def test_both_sides_differ_in_what_they_are_and_in_nothing_else():
    bert, electra = (
        _settings(side, 40, 2, 20)
        for side in (Side("BERT"), Side("E", "electra", {"variant": "electra_15"}, {"generator_hidden_size": 16}))
    )
    assert isinstance(bert, PretrainSettings) and bert.masking == electra.masking == Masking(rate=0.2)
    same = ("steps", "seed", "batch_size", "max_length", "input_format", "optimization", "preset")
    assert all(getattr(bert, name) == getattr(electra, name) for name in same)
    assert electra.objective.variant == "electra_15" and electra.config().generator().hidden_size == 16


@pytest.fixture(scope="module")
def together(runs_folder, tmp_path_factory):
    """BERT and ELECTRA after a few steps, as the page's runs."""
    from jobs.files import pack
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    made = []
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    for side in (Side("BERT", sizes=sizes), Side("ELECTRA", "electra", {}, {**sizes, "embedding_size": 32})):
        folder = tmp_path_factory.mktemp(side.relative) / "model"
        events = pretrain_toy(
            _settings(side, 2, 0, 15), folder, stories=40, watch=["soon [MASK] found the rings under the bed."]
        )
        events = [event.as_dict() for event in events]
        kind = f"electra/7/{side.relative}-0"
        run = Run(manager(), manager().directory, "me", side.title, kind, "minibert.toy.pretrain:pretrain_toy")
        made.append(ended(run, events, pack(folder)))
    return made


@pytest.mark.slow
def test_what_was_trained_together_is_laid_over_each_other(together, networks):
    app = open_page("electra", owner="me", part="Train both")
    curves = figure(app, "both-curves")
    assert {trace["name"] for trace in curves["data"] if trace.get("name")} == {"BERT", "ELECTRA"}
    titles = [note["text"] for note in curves["layout"]["annotations"]]
    assert any(title.startswith("Right word chosen") for title in titles)
    answers = figure(app, "both-answers")
    said = [run.latest("sample")["answers"][0]["blanks"][0] for run in together]
    bars = [trace for trace in answers["data"] if trace["type"] == "bar"]
    assert [list(bar["customdata"]) for bar in bars] == [[token for token, _ in blank] for blank in said]
    assert sum(share for _, share in said[0]) <= 1.0001  # of BERT's; a discriminator is asked word by word


@pytest.mark.slow
def test_a_pair_of_ones_own_opens_in_the_picture(together):
    app = open_page("electra", owner="me", pair=together[1].id)
    assert app.selectbox(key="pair").value == together[1].id and columns(app) and not app.error


@pytest.mark.slow
def test_train_both_begins_two_runs(runs_folder):
    from ui.runs import manager

    app = open_page("electra", owner="else", part="Train both")
    assert "No run yet" in text_of(app)
    app.slider(key="both-steps").set_value(50)
    app = whole(app.button(key="train-both").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["BERT", "ELECTRA"]
    assert len({run.kind.rpartition("/")[0] for run in runs}) == 1
    for run in runs:
        run.cancel()


def test_the_quiz_and_the_papers_figures():
    lesson = Lesson("electra")
    assert len(load_quiz(lesson.folder / "quiz.toml")) >= 5
    text = (lesson.folder / "paper.toml").read_text()
    for value in ("82.2", "85.0", "82.4", "84.3", "table 5"):
        assert value in text
