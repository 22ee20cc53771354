"""The masking page: its draws, its arithmetic, what it says a model expects, its links, and the paper's numbers."""

import re
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from minibert.inside.predictions.cloze import expectations, kl_divergence, rank
from plots.masking import percent
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, link, metrics, sent, text_of, title_of, whole
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import UNTRAINED, available_models

LESSON = Lesson("masking")
MODEL = available_models(fill=True)[0].name
FALLS, EPOCHS, PAPER = "What falls", "Epoch after epoch", "In the paper"
PAIR, WHY = "Two sentences", "Why not always [MASK]"
open_page = partial(driver.open_page, "masking")
falling = partial(open_page, part=FALLS)
with_model = partial(open_page, model=MODEL)


def chips(app: AppTest, epoch: int = 0) -> list[tuple[str, str, str]]:
    """(fate, token, what stands below) of what the model reads."""
    told = sent(app)["epochs"][epoch]
    return list(zip(told["fates"], told["read"], told["under"], strict=True))


def fallen(app: AppTest) -> list[int]:
    return [i for i, (fate, _, _) in enumerate(chips(app)) if fate != "untouched"]


def bars(app: AppTest, key: str) -> list[dict[str, str]]:
    """Of each panel: token → what is written at its bar."""
    return [
        {token: text.replace("\u00a0", " ") for token, text in zip(trace["customdata"], trace["text"], strict=True)}
        for trace in figure(app, key)["data"]
    ]


def table(app: AppTest) -> list[list[str]]:
    rows = next(block.value for block in app.markdown if block.value.startswith("| |")).split("\n")
    return [[cell.strip(" *") for cell in row.strip("|").split("|")] for row in rows]


def shares(app: AppTest) -> list[int]:
    return [app.slider(key=f"split-{i}").value for i in range(3)]


def test_it_opens_with_the_papers_values_draws_anew_and_shares_make_room():
    app = falling(seed=11)
    assert (app.slider(key="rate").value, shares(app)) == (15, [80, 10, 10])
    assert app.button(key="papers-values").disabled
    first = chips(app)
    whole(app.button(key="draw").click().run())
    assert app.number_input(key="seed").value == 12 and chips(app) != first
    assert chips(falling(seed=12)) == chips(app) and chips(falling(seed=11)) == first
    whole(app.slider(key="split-1").set_value(100).run())
    assert shares(app) == [0, 100, 0]
    assert "masked" not in {kind for kind, token, _ in chips(app) if token != "[MASK]"}
    whole(app.button(key="papers-values").click().run())
    assert shares(app) == [80, 10, 10]


def test_all_three_fates_are_in_the_first_draw_and_all_or_none_at_the_ends_of_the_rate():
    assert {"masked", "random", "kept"} <= {kind for kind, _, _ in chips(falling())}
    for rate, times in ((0, "∞"), (100, "1.0")):
        app = falling(rate=rate, split="100-0-0")
        assert {token for _, token, _ in chips(app)[1:-1]} == {"[MASK]"} if rate else not fallen(app)
        assert f"**{times}**" in text_of(driver.part(app, EPOCHS))


def test_the_arithmetic_is_that_of_the_chips():
    app = falling(rate=40, split="30-40-30", seed=7)
    n, kinds = len(chips(app)) - 2, [kind for kind, _, _ in chips(app)]
    budget = round(0.4 * n)
    head, _, expected, this_draw = table(app)
    assert str(n) in head[1]
    assert expected[1].replace("*", "") == f"0.40 × {n} = {0.4 * n:.2f} ≈ {budget}"
    assert expected[2] == f"0.30 × {budget} = {0.3 * budget:.1f}"
    assert this_draw[1:] == [str(budget), *(str(kinds.count(kind)) for kind in ("masked", "random", "kept"))]
    said = sent(app)["epochs"][0]["said"]
    assert len(fallen(app)) == budget and {budget, n} <= set(map(int, re.findall(r"\d+", said)))


def test_a_chosen_tokens_loss_is_the_models_and_grows_with_what_is_hidden():
    app = falling(model=MODEL, rate=50, text=SENTENCE)
    model, tokenizer, true = load(MODEL).model, load(MODEL).tokenizer, load(MODEL).tokenizer.encode(SENTENCE).ids
    ids = [tokenizer.ids[token] for _, token, _ in chips(app)]
    log_probs = expectations(model, ids, fallen(app))
    expected = [-float(row[true[place]]) for place, row in zip(fallen(app), log_probs, strict=True)]
    told = sent(app)["epochs"][0]
    assert [told["losses"][place] for place in fallen(app)] == [f"−ln p = {loss:.2f}" for loss in expected]
    assert f"{sum(expected) / len(expected):.2f}" in told["said"]
    (line,) = figure(with_model(part=EPOCHS), "loss-by-share")["data"]
    assert line["y"][0] < line["y"][-1]


def test_a_chosen_token_shows_its_answer():
    app = falling(rate=100, split="50-50-0", text="the old dog")
    answers = [below for _, _, below in chips(app)]
    assert answers == ["", "was the", "was old", "was dog", ""]
    assert {token for kind, token, _ in chips(app) if kind == "masked"} <= {"[MASK]"}


def test_whole_words_fall_with_all_their_characters():
    words = ("他", "来到", "北京大学", "，", "看见", "了", "很多", "学生", "。")
    ends = [1 + len("".join(words[:i])) for i in range(len(words) + 1)]  # [CLS] stands at 0
    for seed in range(3):
        query = {"text": "".join(words), "rate": 40, "seed": seed, "model": "mini-zh"}
        app = falling(**query, whole="true")
        assert app.text_input(key="cloze").value == "酒店的位置很好，交通很方便。"  # the examples are Chinese as well
        down = set(fallen(app))
        assert down and down != set(fallen(falling(**query)))
        for places in (set(range(*ends[i : i + 2])) for i in range(len(words))):
            assert not down & places or down >= places


def test_static_rows_repeat_and_dynamic_rows_do_not():
    def rows(masks):
        app = open_page(part=EPOCHS, masks=masks, epochs=6)
        asked = [trace["text"] for trace in figure(app, "epoch-rows")["data"]]  # letters, of each fate
        return app, ["".join(" ".join(letters[i]) for letters in asked) for i in range(len(asked[0]))]

    _app, static = rows("static")
    app, dynamic = rows("dynamic")
    assert len(static) == len(set(dynamic)) == 6 and set(static) == {dynamic[0]}  # both start with the draw above
    epochs, asked, n = map(int, re.findall(r"\d+", title_of(app, "epoch-rows"))[:3])
    each = len(fallen(falling(masks="dynamic", epochs=6)))
    assert epochs == 6 and each < asked < n
    assert f"1 − (1 − {each}/{n})⁶ = {1 - (1 - each / n) ** 6:.0%}" in text_of(app)


SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole


def test_the_bars_are_what_the_model_expects():
    app = with_model(cloze=SENTENCE, blanks="2", k=4)
    model, tokenizer = load(MODEL).model, load(MODEL).tokenizer
    ids = tokenizer.encode(SENTENCE).ids
    true, ids[2] = ids[2], tokenizer.mask_id
    log_probs = expectations(model, ids, [2])[0]
    best = log_probs.topk(4).indices.tolist()
    expected = {i: percent(float(log_probs[i].exp())) for i in best}
    if true not in best:
        expected[true] = f"{percent(float(log_probs[true].exp()))}  rank {rank(log_probs, true):,}"
    (told,) = bars(app, "blank-bars")
    assert told == {tokenizer.vocab[i]: text.replace("\u00a0", " ") for i, text in expected.items()}
    word, share = next(iter(told.items()))
    assert word in title_of(app, "blank-bars") and share in title_of(app, "blank-bars")
    several = with_model(cloze=SENTENCE, blanks="2.6.7")
    hidden = zip(bars(several, "blank-bars"), ("man", "house", "."), strict=True)
    right = sum(next(iter(panel)) == true for panel, true in hidden)
    assert re.findall(r"\d+", title_of(several, "blank-bars"))[:2] == [str(right), "3"]


def test_a_click_hides_a_word_and_another_brings_it_back():
    app = open_page(cloze=SENTENCE, blanks="2")
    for chip, label, blanks in ((6, "[MASK]", 2), (2, "man", 1), (6, "house", 0)):
        whole(app.button(key=f"chip-{chip}").click().run())
        assert app.button(key=f"chip-{chip}").label == label
        assert len(bars(app, "blank-bars")) == blanks if blanks else figure(app, "blank-bars") is None and app.info
        assert blanks < 2 or link(app, "blanks") == "2.6"


def test_a_new_sentence_starts_with_its_last_word_hidden_unless_it_has_a_blank():
    app = open_page(cloze=SENTENCE)
    assert app.button(key="chip-6").label == "[MASK]"
    whole(app.text_input(key="cloze").set_value("Two [MASK] and three cats.").run())
    assert [b.label for b in app.button if b.key.startswith("chip")].count("[MASK]") == 1
    whole(app.button(key="chip-2").click().run())  # typed: there is nothing to bring back
    assert app.button(key="chip-2").label == "[MASK]"


def test_many_blanks_are_counted_and_the_first_drawn():
    app = open_page(cloze="a b c d e f g h i j", blanks="1.2.3.4.5.6.7.8.9")
    assert len(bars(app, "blank-bars")) == 6
    assert any({"6", "9"} <= set(re.findall(r"\d+", caption.value)) for caption in app.caption)


def test_the_divergence_is_that_of_the_two_contexts():
    a, b = "She fed the [MASK].", "She opened the [MASK]."
    app = with_model(part=PAIR, a=a, b=b)
    loaded = load(MODEL)
    log_p, log_q = (
        expectations(loaded.model, ids, [ids.index(loaded.tokenizer.mask_id)])[0]
        for ids in (loaded.tokenizer.encode(text).ids for text in (a, b))
    )
    assert metrics(app)["KL(A‖B)"] == f"{kl_divergence(log_p, log_q):.3f} nats"
    assert metrics(app)["KL(B‖A)"] == f"{kl_divergence(log_q, log_p):.3f} nats"
    cloud = figure(app, "two-contexts")["data"][0]
    counted = sum(1 + int(([*label.split(" +"), "0"])[1]) for label in cloud["customdata"])
    assert counted == loaded.tokenizer.vocab_size  # the whole vocabulary
    same = with_model(part=PAIR, a=a, b=a)
    assert {value for label, value in metrics(same).items() if "KL" in label} == {"0.000 nats"} and same.info
    blankless = with_model(part=PAIR, a="No blank here.")
    assert figure(blankless, "two-contexts") is None and blankless.info
    pairs = [text for text in LESSON.examples if "[MASK]" in text]
    assert len(pairs) % 2 == 0 and all(text.count("[MASK]") == 1 for text in pairs)
    blankless.pills(key="two-0-pair").set_value(1).run()
    assert [blankless.text_input(key=key).value for key in "ab"] == pairs[2:4]


def test_the_three_readings_are_the_models():
    app = with_model(part=WHY, probe=SENTENCE, at=2, swap=5)
    model, tokenizer = load(MODEL).model, load(MODEL).tokenizer
    titles = [note["text"] for note in figure(app, "readings")["layout"]["annotations"]]
    other = titles[1].removeprefix("random: ")
    ids = tokenizer.encode(SENTENCE).ids
    true, chances = ids[2], []
    assert other not in (tokenizer.vocab[true], *tokenizer.special_tokens)
    for shown in (tokenizer.mask_id, tokenizer.ids[other], true):
        row = expectations(model, [*ids[:2], shown, *ids[3:]], [2])[0].exp()
        chances.append(percent(float(row[true])).replace("\u00a0", " "))
    for panel, chance in zip(bars(app, "readings"), chances, strict=True):
        assert panel["man"].startswith(chance) and chance in text_of(app)
    whole(app.button(key="swap-again").click().run())
    assert [note["text"] for note in figure(app, "readings")["layout"]["annotations"]][1] != titles[1]


def test_a_random_model_is_called_one():
    assert MODEL != UNTRAINED and not open_page().warning
    for part in ("Fill the blanks", FALLS, PAIR, WHY):
        assert len(open_page(model=UNTRAINED, part=part).warning) == 1


def test_table_8_is_the_papers():
    assert [trace["x"] for trace in figure(open_page(part=PAPER), "ablation")["data"]] == [
        [94.9, 94.0, 94.6, 94.7, 94.6, 94.6],
        [95.4, 94.9, 95.2, 95.2, 94.8, 94.9],
        [84.2, 84.3, 84.1, 84.4, 83.7, 83.6],
    ]


@pytest.mark.parametrize(
    ("part", "key"), [("Fill the blanks", "cloze"), (FALLS, "text"), (EPOCHS, "text"), (PAIR, "a"), (WHY, "probe")]
)
def test_any_text_is_text(part, key):
    app = open_page(part=part)
    for text in ("", EVERYTHING):
        for field in ("cloze", key):
            app.session_state[field] = text
        assert_no_markup(whole(app.run()))
        assert not app.error
        assert text or len(app.info) == 1


@pytest.mark.parametrize(
    "query",
    [
        {"rate": "-5", "split": "50-60-70", "seed": "1e9", "epochs": "99", "masks": "<b>", "whole": "maybe", "k": "x"},
        {"blanks": "9999.²..-3.abc", "at": "0", "swap": "-1", "model": "../../etc/passwd", "split": "80-10-10-0"},
        {"text": "y" * 3000, "blanks": "5", "at": "500", "seed": ""},
    ],
)
def test_a_bad_link_falls_back(query):
    assert not open_page(**query).error  # the blanks
    app = falling(**query)
    assert shares(app) == [80, 10, 10]
    assert 0 <= app.slider(key="rate").value <= 100
    assert len(fallen(app)) > 0


def test_what_the_class_types_goes_on_into_every_part():
    app = falling(cloze="My cat sleeps on the sofa.")
    assert app.text_area(key="text").value == "My cat sleeps on the sofa."
    assert [token for _, token, _ in chips(app)][-2] == "."
    assert open_page(cloze="My cat sleeps on the sofa.", part=WHY).text_input(key="probe").value.startswith("My cat")
    whole(app.text_area(key="text").set_value("One of its own.").run())
    whole(app.text_input(key="cloze").set_value("Another sentence.").run())
    assert app.text_area(key="text").value == "One of its own."  # what is typed there stays


def test_before_the_answer_one_may_guess():
    app = open_page()
    assert figure(driver.part(app, WHY), "readings") is None
    whole(app.button(key="taken-in-show").click().run())
    assert figure(app, "readings")


@pytest.mark.parametrize("back", ["Fill the blanks", "Why not always [MASK]"])
def test_a_sentence_is_there_again_after_a_part_that_has_none(back):
    app = open_page(cloze="He saw the [MASK] there.")
    app = driver.part(driver.part(app, "In the paper"), back)
    assert app.text_input(key="cloze").value == "He saw the [MASK] there."  # and the browser is told: driver.whole
