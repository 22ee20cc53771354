"""The probes page: runs and what it says of them against their own events, the logit lens, files, hostile text."""

import re
from functools import partial

import pytest

from minibert.inside.logit_lens import blank_of, layer_answers, only_token
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, plain, text_of, title_of, whole
from tests.pages.recorded import write_records
from tests.waiting import until
from ui.lesson import Lesson, load_quiz
from ui.models import available_models, load

LESSON = Lesson("probes")
MODEL = available_models(fill=True)[0].name
open_page = partial(driver.open_page, "probes")
LENS, ASKING, PAPERS, LIMITS = "The logit lens", "Ask every layer", "Surface, syntax, meaning", "How much to believe"
pytestmark = pytest.mark.usefixtures("runs_folder")


def upload(content: bytes):
    app = open_page(**{"sentences-en": "file"})
    app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain"))
    return whole(app.run())


def columns(sentences: int) -> bytes:
    """Letters and whether they are vowels; every other sentence longer."""
    row = [f"{letter} {'V' if letter in 'aeiou' else 'C'}" for letter in "abcdefgh"]
    return "".join("\n".join(row[: 5 + i % 4]) + "\n\n" for i in range(sentences)).encode()


def test_it_opens_with_the_papers_and_no_probe():
    app = open_page(part=PAPERS)
    assert "No probe yet" in text_of(app)
    names = {trace.get("name") for trace in figure(app, "depths")["data"]}
    assert {"surface", "syntax", "meaning"} == names
    assert not app.error


def test_each_paper_stands_with_its_own_measure():
    fig = figure(open_page(part=PAPERS), "depths")
    titles = [note["text"] for note in fig["layout"]["annotations"]]
    assert titles == ["Tenney et al. 2019, BERT-large: expected layer", "Jawahar et al. 2019, BERT-base: best layer"]
    rows = [fig["layout"][axis]["ticktext"] for axis in ("yaxis", "yaxis2")]
    assert [len(names) for names in rows] == [7, 10]
    points = [trace for trace in fig["data"] if trace["marker"]["size"] == 15]  # the mean of the one number
    depth = {
        (trace["yaxis"], fig["layout"][trace["yaxis"].replace("y", "yaxis")]["ticktext"][trace["y"][0]]): trace["x"][0]
        for trace in points
    }
    # Jawahar et al. 2019, Table 2: of twelve layers; Tenney et al. 2019, Figure 1: of 24.
    best = {"sentence length": 3, "which words": 4, "depth of the tree": 6, "top constituents": 7, "word order": 9,
            "tense": 9, "number of the subject": 6, "number of the object": 7, "odd word out": 12,
            "order of clauses": 9}  # fmt: skip
    for task, layer in best.items():
        assert depth["y2", task] == pytest.approx(layer / 12), task
    assert depth["y", "coreference"] == pytest.approx(9.47 / 24)


def test_english_is_probed_for_relations_and_pronouns():
    asked = open_page(**{"sentences-en": "en"}).dataframe[0].value.set_index("task")
    assert asked.loc["dependency", "labels"] == 9 and asked.loc["dependency", "kind"] == "syntax"
    assert asked.loc["coreference", "labels"] == 2 and asked.loc["coreference", "kind"] == "meaning"
    assert asked.loc["coreference", "example"].split(" → ")[1] in ("antecedent", "other")


@pytest.mark.slow
def test_a_run_is_shown_as_its_events_say():
    from minibert.inside.probes import gathered, order_of_kinds
    from ui.runs import manager

    app = upload(columns(60))
    assert "Train" in app.button(key="probe").label
    app.button(key="probe").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run.kind.startswith("computed/")]
    assert len(runs) == 2  # the model, and random weights
    until(lambda: all(run.over for run in runs))
    assert {run.state for run in runs} == {"finished"}, [run.error for run in runs]
    whole(app.run())
    ours = gathered(next(run for run in runs if run.title == MODEL).events())
    assert [result.name for result in ours][:2] == ["length", "column 2"]
    fig = figure(app, "probe-lines")
    drawn = {trace["name"] for trace in fig["data"] if trace.get("name")}
    assert drawn == {"this model", "control task", "random weights", "commonest label"}
    app.session_state["part"] = PAPERS
    whole(app.run())
    verdict = order_of_kinds(ours)
    words = {"same": "Ours agrees", "other": "Ours does not agree", "unclear": "Ours cannot tell"}
    assert words[verdict.verdict] in text_of(app)
    assert f"surface at layer {verdict.layers['surface']:.1f}" in text_of(app)
    app.session_state["part"] = ASKING
    whole(app.run())
    app.segmented_control(key="measure").set_value("selectivity")
    whole(app.run())
    assert {trace["name"] for trace in figure(app, "probe-lines")["data"] if trace.get("name")} == {
        "this model", "random weights",
    }  # fmt: skip


FILES = {
    "one column": (b"a\nb\n", "at least 2"),
    "uneven": (b"a b\nc\n", "1 columns where 2"),
    "not UTF-8": (b"caf\xe9 x\n", "not UTF-8"),
    "empty": (b"", "is empty"),
    "one sentence": (columns(1).replace(b"\n\n", b"\n") * 9, "put a blank line after each"),
    "nothing to tell apart": (b"a x\nb x\n\n", "two labels"),
    "markup": (b"</script><img src=x onerror=alert(1)>\n", "two labels"),
}


@pytest.mark.parametrize("name", FILES)
def test_an_unusable_file_is_refused_in_words(name):
    content, message = FILES[name]
    app = upload(content)
    assert any(message in plain(box.value) for box in app.error), [plain(box.value) for box in app.error]
    assert_no_markup(app)


def test_our_own_sets_bring_tasks_in_both_languages():
    for language in ("en", "zh", "toy"):
        app = open_page(**{"sentences-en": language})
        assert app.button(key="probe").label.startswith("Train")
        assert not app.error


def test_chinese_words_are_probed_for_their_part_of_speech():
    app = open_page(**{"sentences-en": "zh"})
    assert "part of speech" in app.dataframe[0].value["task"].tolist()


def test_the_lens_shows_what_every_layer_answers():
    app = open_page(cloze="Once upon a [MASK] there was a king.", right="time")
    loaded = load(MODEL)
    blank = blank_of(loaded.tokenizer, "Once upon a [MASK] there was a king.", 512)
    wanted = only_token(loaded.tokenizer, "time")
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, wanted, 5)
    texts = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    expected = [f"{token} {p:.0%}" for answer in found for token, p in answer.guesses]
    assert [text.replace("<b>", "").replace("</b>", "").replace("&lt;", "<") for text in texts] == expected
    end = found[-1]
    assert f"At the last layer time has rank {end.rank:,} with {end.probability:.1%}" in text_of(app).replace("**", "")


def test_the_title_of_the_lens_says_where_the_right_word_comes_first():
    app = open_page(cloze="Once upon a [MASK] there was a king.", right="time", model="minilm-en")
    loaded = load("minilm-en")
    blank = blank_of(loaded.tokenizer, "Once upon a [MASK] there was a king.", 512)
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, only_token(loaded.tokenizer, "time"), 5)
    first = [answer.rank for answer in found].index(1)
    title = title_of(app, "lens-words")
    assert title == f"“time” first comes first at layer {first} of 6, and ends at rank {found[-1].rank}"


def test_the_lens_shows_its_last_layer_alone_until_the_reader_has_guessed():
    app = open_page()
    shown = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    assert set(shown[:-5]) == {"?"} and "?" not in shown[-5:] and figure(app, "lens-ranks") is None
    assert title_of(app, "lens-words").startswith("The last layer says “by” (")
    app.button(key="lens-guess-0").click()
    whole(app.run())
    shown = [note["text"] for note in figure(app, "lens-words")["layout"]["annotations"]]
    assert "?" not in shown and figure(app, "lens-ranks") is not None
    layer = re.search(r"at layer (\d)", title_of(app, "lens-words"))[1]
    assert f"You guessed embeddings; it is **{layer}**" in text_of(app)


def test_recorded_probes_are_there_before_any_is_trained(tmp_path, monkeypatch):
    from sections.probes.tasks import tasks_of

    monkeypatch.setenv("MINIBERT_RESULTS", str(tmp_path))
    depth = load(MODEL).config.num_hidden_layers + 1
    about = {"event": "probed", "unit": "word", "labels": 2, "majority": 0.5, "control": None, "random": False}
    rows = [
        {**about, "task": task, "kind": kind, "seed": seed, "tasks": tasks_of("en")[1],
         "accuracy": [0.5 + 0.1 * (layer >= best) for layer in range(depth)]}
        for task, kind, best in (("length", "surface", 0), ("topic", "meaning", 2)) for seed in range(2)
    ]  # fmt: skip
    write_records(tmp_path / MODEL, "probes", rows)
    app = open_page(part=ASKING)
    assert "Sentence length is read at layer 0 already, topic only at layer 2" in title_of(app, "probe-lines")
    assert any(f"Recorded from {MODEL}, 2 seeds" in caption.value for caption in app.caption)
    assert "No probe yet" not in text_of(app) and app.button(key="probe")
    write_records(tmp_path / MODEL, "probes", [{**rows[0], "tasks": "of other sentences"}])
    assert "No probe yet" in text_of(open_page(part=ASKING))


def test_without_a_blank_or_with_a_word_of_many_pieces():
    app = open_page(cloze="No blank here.")
    assert any("[MASK]" in box.value for box in app.info)
    app = open_page(cloze="A [MASK] here.", right="antidisestablishment")
    assert any("is not one token" in caption.value for caption in app.caption)
    assert figure(app, "lens-ranks") is None


def test_any_text_is_text():
    app = open_page()
    for text in HOSTILE.values():
        app.text_input(key="cloze").set_value(text + " [MASK]")
        app.text_input(key="right").set_value(text[:60])
        assert_no_markup(whole(app.run()))


def test_every_section_is_on_the_page_and_the_quiz_is_sound():
    shown = " ".join(" ".join(text_of(open_page(part=part)) for part in (LENS, ASKING, PAPERS, LIMITS)).split())
    for name in LESSON.sections:
        assert " ".join(LESSON.section(name)[1].split())[:60] in shown, name
    assert len(load_quiz(ROOT / "lessons" / "probes" / "quiz.toml")) >= 4


def test_the_record_that_ships_is_of_the_tasks_that_the_page_asks(monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    app = open_page(part=ASKING, model="minilm-en")
    assert any("Recorded from minilm-en" in caption.value for caption in app.caption)
    assert len({note["text"] for note in figure(app, "probe-lines")["layout"]["annotations"]}) == 10
    assert "new text" not in {note["text"] for note in figure(app, "probe-lines")["layout"]["annotations"]}
