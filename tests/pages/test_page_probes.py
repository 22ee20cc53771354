"""The probes page: runs and what it says of them against their own events, the logit lens, files, hostile text."""

import re
from functools import partial

import pytest

from minibert.inside.probes.logit_lens import blank_of, layer_answers, only_token
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, text_of, title_of, whole
from tests.pages.recorded import write_records
from tests.waiting import until
from ui.model_cache import load
from ui.model_registry import available_models

MODEL = available_models(fill=True)[0].name
open_page = partial(driver.open_page, "probes")
LENS, ASKING, PAPERS, LIMITS = "The logit lens", "Ask every layer", "Surface, syntax, meaning", "How much to believe"
asking = partial(open_page, part=ASKING, model=MODEL)
pytestmark = pytest.mark.usefixtures("runs_folder")


def upload(content: bytes):
    app = asking(**{"sentences-en": "file"})
    app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain"))
    return whole(app.run())


def columns(sentences: int) -> bytes:
    """Letters and whether they are vowels; every other sentence longer."""
    row = [f"{letter} {'V' if letter in 'aeiou' else 'C'}" for letter in "abcdefgh"]
    return "".join("\n".join(row[: 5 + i % 4]) + "\n\n" for i in range(sentences)).encode()


def test_before_any_probe_each_paper_stands_with_its_own_measure(results):
    assert figure(asking(), "probe-lines") is None and not open_page(part=LIMITS).error
    fig = figure(open_page(part=PAPERS), "depths")
    assert {trace.get("name") for trace in fig["data"]} == {"surface", "syntax", "meaning"}
    rows = [fig["layout"][axis]["ticktext"] for axis in ("yaxis", "yaxis2")]
    assert [len(names) for names in rows] == [7, 10]
    points = [trace for trace in fig["data"] if trace["marker"]["size"] == 15]  # the mean of the one number
    depth = {
        (trace["yaxis"], fig["layout"][trace["yaxis"].replace("y", "yaxis")]["ticktext"][trace["y"][0]]): trace["x"][0]
        for trace in points
    }
    # Jawahar et al. 2019, Table 2: of twelve layers; Tenney et al. 2019, Figure 1: of 24.
    best = {
        "sentence length": 3,
        "which words": 4,
        "depth of the tree": 6,
        "top constituents": 7,
        "word order": 9,
        "tense": 9,
        "number of the subject": 6,
        "number of the object": 7,
        "odd word out": 12,
        "order of clauses": 9,
    }
    for task, layer in best.items():
        assert depth["y2", task] == pytest.approx(layer / 12), task
    assert depth["y", "coreference"] == pytest.approx(9.47 / 24)


@pytest.mark.release
@pytest.mark.trains
def test_a_run_is_shown_as_its_events_say():
    from minibert.inside.probes.probe import gathered, order_of_kinds
    from ui.runs import manager

    app = upload(columns(60))
    whole(app.button(key="probe").click().run())
    runs = [run for run in manager().runs() if run.kind.startswith("computed/")]
    assert len(runs) == 2  # the model, and random weights
    until(lambda: all(run.over for run in runs))
    assert {run.state for run in runs} == {"finished"}, [run.error for run in runs]
    whole(app.run())
    ours = gathered(next(run for run in runs if run.title == MODEL).events())
    assert [result.name for result in ours][:2] == ["length", "column 2"]
    drawn = {trace["name"] for trace in figure(app, "probe-lines")["data"] if trace.get("name")}
    whole(app.segmented_control(key="measure").set_value("selectivity").run())
    fewer = {trace["name"] for trace in figure(app, "probe-lines")["data"] if trace.get("name")}
    assert len(drawn) == 4 and drawn - fewer == {"control task", "commonest label"}
    app.session_state["part"] = PAPERS
    assert f"{order_of_kinds(ours).layers['surface']:.1f}" in text_of(whole(app.run()))


def test_an_unusable_file_is_refused():
    """One column, uneven ones, not UTF-8, empty, one sentence, nothing to tell apart, markup."""
    one = columns(1).replace(b"\n\n", b"\n") * 9
    markup = b"</script><img src=x onerror=alert(1)>\n"
    for content in (b"a\nb\n", b"a b\nc\n", b"caf\xe9 x\n", b"", one, b"a x\nb x\n\n", markup):
        app = upload(content)
        assert app.error and not [button for button in app.button if button.key == "probe"], content
        assert_no_markup(app)


@pytest.mark.parametrize("language", ["en", "zh", "toy"])
def test_our_own_sets_bring_tasks(language):
    app = asking(**{"sentences-en": language})
    assert app.button(key="probe") and not app.error
    asked = app.dataframe[0].value.set_index("task")
    assert "part of speech" in asked.index
    if language == "en":
        for task, labels, kind in (("dependency", 9, "syntax"), ("coreference", 2, "meaning")):
            assert asked.loc[task, "labels"] == labels and asked.loc[task, "kind"] == kind
        assert asked.loc["coreference", "example"].split(" → ")[1] in ("antecedent", "other")


@pytest.mark.parametrize("model", [MODEL, "minilm-en"])
def test_the_lens_shows_what_every_layer_answers_and_where_the_right_word_comes_first(model):
    app = open_page(cloze="Once upon a [MASK] there was a king.", right="time", model=model)
    loaded = load(model)
    blank = blank_of(loaded.tokenizer, "Once upon a [MASK] there was a king.", 512)
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, only_token(loaded.tokenizer, "time"), 5)
    texts = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    expected = [f"{token} {p:.0%}" for answer in found for token, p in answer.guesses]
    assert [text.replace("<b>", "").replace("</b>", "").replace("&lt;", "<") for text in texts] == expected
    end, ranks = found[-1], [answer.rank for answer in found]
    assert re.search(rf"\b{end.rank:,}\b.*\b{end.probability:.1%}", text_of(app).replace("**", ""))
    expected = [ranks.index(1), len(found) - 1, *([end.rank] if end.rank > 1 else [])]
    assert re.findall(r"\d+", title_of(app, "lens-words")) == [str(n) for n in expected]


def test_the_lens_shows_its_last_layer_alone_until_the_reader_has_guessed():
    app = open_page()
    shown = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    assert set(shown[:-5]) == {"?"} and "?" not in shown[-5:] and figure(app, "lens-ranks") is None
    assert "“by”" in title_of(app, "lens-words")
    whole(app.button(key="lens-guess-0").click().run())
    shown = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    assert "?" not in shown and figure(app, "lens-ranks") is not None
    layer = re.search(r"layer (\d)", title_of(app, "lens-words"))[1]
    assert f"**{layer}**" in text_of(app)
    for text in (EVERYTHING, ""):
        app.text_input(key="cloze").set_value(text + " [MASK]")
        assert_no_markup(whole(app.text_input(key="right").set_value(text[:60]).run()))


def test_recorded_probes_are_there_before_any_is_trained(results):
    from sections.probes.tasks import tasks_of

    depth = load(MODEL).config.num_hidden_layers + 1
    about = {"event": "probed", "unit": "word", "labels": 2, "majority": 0.5, "control": None, "random": False}
    about["test"] = 1000
    rows = [
        {
            **about,
            "task": task,
            "kind": kind,
            "seed": seed,
            "tasks": tasks_of("en")[1],
            "accuracy": [0.5 + 0.1 * (layer >= best) for layer in range(depth)],
        }
        for task, kind, best in (("length", "surface", 0), ("topic", "meaning", 2))
        for seed in range(2)
    ]
    write_records(results / MODEL, "probes", rows)
    app = asking()
    assert re.findall(r"\d+", title_of(app, "probe-lines")) == ["0", "2"] and app.button(key="probe")
    write_records(results / MODEL, "probes", [{**rows[0], "tasks": "of other sentences"}])
    assert figure(asking(), "probe-lines") is None


def test_without_a_blank_or_with_a_word_of_many_pieces():
    app = open_page(cloze="No blank here.")
    assert app.info and figure(app, "lens-words") is None
    app = open_page(cloze="A [MASK] here.", right="antidisestablishment")
    assert figure(app, "lens-words") and figure(app, "lens-ranks") is None


def test_the_record_that_ships_is_of_the_tasks_that_the_page_asks(monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    app = asking(model="minilm-en")
    names = {note["text"] for note in figure(app, "probe-lines")["layout"]["annotations"]}
    assert len(names) == 10 and "new text" not in names
