"""The XLNet page: an order and its two masks, two streams as one row, words that go together, the claim."""

import json
import re

import pytest
import torch

from minibert import checkpoint
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.inside.joint import at_once, in_order
from minibert.permutation import content_mask, query_mask
from minibert.toy.pretrain import pretrain_toy
from sections.xlnet.subject import orders
from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, open_page, text_of, whole
from ui.lesson import Lesson, load_quiz
from ui.train_both import Side, _settings

FOLDER = ROOT / "checkpoints" / "xlnet-toy"
TEXT = "leo was sick, so clara gave him some medicine."
PARTS = (
    "Two streams", "Words together", "The diff", "Train both", "Memory", "Its worth", "The claim", "What became of it",
)  # fmt: skip


@pytest.fixture(scope="module")
def models():
    return (
        checkpoint.load(FOLDER / "xlnet"),
        checkpoint.load(FOLDER / "bert"),
        checkpoint.load_tokenizer(FOLDER / "xlnet"),
    )


def shown_order(app) -> list[int]:
    return [int(n) for n in re.findall(r'<li class="(?:guessed|given)"><bdi>.*?</bdi><b>(\d+)</b></li>', html_of(app))]


def open_cells(app, panel: int) -> set[tuple[int, int]]:
    return {
        (cell[1], cell[2])
        for trace in figure(app, "orders")["data"]
        if trace["marker"]["symbol"] == "square"
        for cell in trace["customdata"]
        if cell[0] == panel
    }


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(runs_folder, part):
    app = open_page("xlnet", owner="me", part=part)
    assert not app.error and shown_order(app)


def test_both_masks_follow_the_order_that_is_drawn(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, seed=3)
    first = shown_order(app)
    assert sorted(first) == list(range(1, len(first) + 1))
    app = whole(app.button(key="draw").click().run())
    second = shown_order(app)
    assert second != first
    order = torch.tensor([second])
    for panel, mask in enumerate((content_mask(order), query_mask(order))):
        assert open_cells(app, panel) == {tuple(cell) for cell in mask[0].nonzero().tolist()}
    assert html_of(app).count('class="guessed"') == 2  # a sixth of eleven


@pytest.mark.parametrize(("kind", "wanted"), [("right", [1, 2, 3]), ("left", [3, 2, 1])])
def test_an_order_may_be_that_of_reading(kind, wanted):
    assert orders(3, kind, 0) == wanted


@pytest.mark.parametrize(("stream", "may"), [(1, True), (2, False)])
def test_a_word_sees_itself_in_one_stream_only(runs_folder, stream, may):
    app = open_page("xlnet", owner="me", text=TEXT, stream=stream, row=3, column=3)
    words = [block.value for block in app.markdown if "→" in block.value]
    assert any(("yes" if may else "no") in word and "sick” → “sick" in word for word in words)


def test_a_cell_says_why(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, order="right", stream=2, row=5, column=2)
    assert "“was” is read as number 2, before number 5" in text_of(app)
    app = open_page("xlnet", owner="me", text=TEXT, order="right", stream=2, row=2, column=5)
    assert "is read as number 5, after number 2: it is not known yet" in text_of(app)


def test_two_streams_are_one_row(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, part="Two streams")
    said = re.search(r"differ by at most \*\*([0-9.e-]+)\*\*", text_of(app))
    assert float(said[1]) < 1e-5
    traces = figure(app, "double")["data"]
    count = len(shown_order(app))
    assert sum(len(trace["x"]) for trace in traces) == (2 * count) ** 2 if isinstance(traces[0]["x"], list) else True


def test_joint_probabilities_are_the_models(runs_folder, models):
    app = open_page("xlnet", owner="me", text=TEXT, part="Words together", first=3, second=10)
    xlnet, bert, tokenizer = models
    ids = tokenizer.encode(TEXT).ids
    wanted = [
        float(torch.tensor(way(model, ids, (3, 10), tokenizer.mask_id)).sum().exp())
        for model in (bert, xlnet)
        for way in (at_once, in_order)
    ]
    bars = figure(app, "joint")["data"][0]["text"]
    assert bars == [f"{value:.2%}" for value in wanted]


def test_the_usual_words_are_some_that_go_together(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, part="Words together")
    assert app.selectbox(key="choice-first").value == 2 and app.selectbox(key="choice-second").value == 9


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_text_is_text(runs_folder, text):
    assert_no_markup(open_page("xlnet", owner="me", text=text, part="Words together"))


def test_words_it_has_never_read_are_said_to_be_unknown(runs_folder):
    app = open_page("xlnet", owner="me", text="felix was a physicist.")
    assert any("not in these models’ vocabulary" in caption.value for caption in app.caption)


def test_the_diff_is_of_the_running_code(runs_folder):
    app = open_page("xlnet", owner="me", part="The diff")
    assert any("minibert/model.py" in box.label and "minibert/permutation.py" in box.label for box in app.expander)
    assert html_of(app).count('class="mb-source mb-diff"') == 5


# --- the claim --------------------------------------------------------------------------------------------------------


def records(values: dict[str, dict[str, list[float]]]) -> list[dict]:
    machine = {"processor": "a processor", "torch": "2", "date": "2026-11-25"}
    scale = {"masked": 0.25, "groups": 200}
    return [
        {
            "experiment": "xlnet", "arm": arm, "seed": seed, "pretraining": {}, "scale": scale, "steps": 7,
            "metrics": {metric: found[seed] for metric, found in metrics.items()}, "parameters": 1, "tokens": 99,
            "curve": [], "seconds": 3.0, "data": ["toy"], "machine": machine,
            "command": "python -m minibert experiment xlnet",
        }
        for arm, metrics in values.items()
        for seed in range(3)
    ]  # fmt: skip


def test_without_results_the_command_stands_there(results):
    app = open_page("xlnet", owner="me", part="The claim")
    assert any("experiment xlnet --seeds 3" in block.value for block in app.code)
    assert not figure(app, "joint-claim") and "66.66" in str(app.table[-1].value)


def test_each_direction_gets_its_verdict(results):
    same = {"fits_at_once": [0.4, 0.41, 0.42], "fits_in_order": [0.9, 0.91, 0.9], "chosen": [0.5, 0.6, 0.55]}
    values = {
        "bert": {**same, "joint_at_once": [-4.0, -4.1, -4.2], "joint_in_order": [-3.0, -3.1, -3.0]},
        "xlnet": {**same, "joint_at_once": [-4.0, -4.0, -4.1], "joint_in_order": [-3.0, -3.1, -3.2]},
    }
    (results / "xlnet.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records(values)))
    told = text_of(open_page("xlnet", owner="me", part="The claim"))
    assert "Of the paper’s 5 directions ours agree in 3, disagree in 0, and leave 2 open." in told
    assert re.search(
        r"XLNet one after the other against BERT all at once: .* \+1\.0 ± .* nats .* – \*\*agrees\*\*", told
    )
    assert re.search(r"against those of their kind|Single words .* – \*\*unclear", told)
    assert "no number in the paper" in told and "no seed in common here" in told


def test_what_has_been_recorded_is_read(runs_folder, monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    from ui.claim import records_of

    kept = records_of("xlnet")
    arms = RELATIVE_EXPERIMENTS["xlnet"].arms
    assert all(record["arm"] in arms for record in kept)
    assert all(record["metrics"]["joint_in_order"] < 0 <= record["metrics"]["fits_in_order"] <= 1 for record in kept)
    assert len({(record["arm"], record["seed"]) for record in kept}) == len(kept)


# --- trained together -------------------------------------------------------------------------------------------------


def test_of_both_as_many_words_are_asked():
    bert = _settings(Side("BERT"), 40, 2, 25)
    xlnet = _settings(Side("XLNet", "xlnet", {"share": 0.25, "context": "all"}), 40, 2, 25)
    same = ("steps", "seed", "batch_size", "max_length", "input_format", "optimization", "preset", "masking")
    assert all(getattr(bert, name) == getattr(xlnet, name) for name in same)
    assert (xlnet.objective.share, bert.objective.masking.rate) == (0.25, 0.25)


@pytest.fixture(scope="module")
def together(runs_folder, tmp_path_factory):
    """BERT and XLNet after a few steps, as the page's runs."""
    from jobs.files import pack
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    made = []
    for side in (Side("BERT", sizes=sizes), Side("XLNet", "xlnet", {"share": 0.25}, sizes)):
        folder = tmp_path_factory.mktemp(side.relative) / "model"
        events = pretrain_toy(_settings(side, 2, 0, 25), folder, stories=60, watch=["soon [MASK] found the rings."])
        events = [event.as_dict() for event in events]
        run = Run(
            manager(), manager().directory, "me", side.title, f"xlnet/7/{side.relative}-0",
            "minibert.toy.pretrain:pretrain_toy",
        )  # fmt: skip
        made.append(ended(run, events, pack(folder)))
    return made


@pytest.mark.slow
def test_what_was_trained_together_is_laid_over_each_other(together):
    app = open_page("xlnet", owner="me", part="Train both")
    curves = figure(app, "both-curves")
    assert {trace["name"] for trace in curves["data"] if trace.get("name")} == {"BERT", "XLNet"}
    assert figure(app, "both-answers")


@pytest.mark.slow
def test_a_pair_of_ones_own_opens_in_the_picture(together):
    app = open_page("xlnet", owner="me", pair=together[1].id)
    assert app.selectbox(key="pair").value == together[1].id and shown_order(app) and not app.error


@pytest.mark.slow
def test_train_both_begins_two_runs(runs_folder):
    from ui.runs import manager

    app = open_page("xlnet", owner="else", part="Train both", context="all")
    app.slider(key="both-steps").set_value(50)
    whole(app.button(key="train-both").click().run())
    runs = manager().runs("else")
    assert [run.title for run in runs[::-1]] == ["BERT", "XLNet, as in the code"]
    for run in runs:
        run.cancel()


def test_the_quiz_and_what_the_paper_says():
    lesson = Lesson("xlnet")
    assert len(load_quiz(lesson.folder / "quiz.toml")) >= 5
    text = (lesson.folder / "paper.toml").read_text()
    assert "§2.6" in text and "table 6" in text


def test_the_shipped_pair_has_read_the_same():
    logs = [
        [json.loads(line) for line in (FOLDER / name / "training.jsonl").read_text().splitlines()]
        for name in ("xlnet", "bert")
    ]
    settings = [log[0]["settings"] for log in logs]
    differ = {name for name in settings[0] if settings[0][name] != settings[1][name]}
    assert differ <= {"relative", "objective_options"}
    assert len({[event for event in log if event["event"] == "step"][-1]["tokens"] for log in logs}) == 1
