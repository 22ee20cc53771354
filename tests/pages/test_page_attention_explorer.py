"""The attention explorer: what it shows is what the model computed, and what one reader switches off stays theirs."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest
import torch

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.heads import BertForSequenceClassification
from minibert.inside.explanations.interventions import fill_logits, switched_off
from minibert.inside.heads.accuracy import about_pronouns, about_relations, better_direction, measure_heads
from minibert.inside.heads.cost import answers, difference, without
from minibert.inside.heads.grammatical_relations import relations
from minibert.inside.heads.kinds import KINDS, attentions, measure, sentences
from minibert.inside.heads.pronouns import read_pronouns
from minibert.inside.heads.telling import telling_head
from minibert.inside.model_input import ModelInput
from minibert.inside.probes.tasks import read_columns
from minibert.model import BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from sections.attention_explorer.asked import means, questions
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, captions, figure, formulas, metrics, numbers, text_of, whole
from ui import held_out, model_registry
from ui.inspected_model import InspectedModel
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import UNTRAINED, available_models

LESSON = Lesson("attention_explorer")
ENTITIES = LESSON.folder.parent / "data" / "entities"
TEXT = LESSON.examples[0]
PARTS = ("Look", "Kinds of heads", "Switch heads off", "BertViz")


def open_page(part: str = PARTS[0], **query):
    assert part in PARTS
    return driver.open_page("attention_explorer", **{"part": part, "model": "mini-en"} | query)


@pytest.fixture(scope="module")
def name():
    return available_models(fill=True, trained=True)[0].name


@pytest.fixture(scope="module")
def model(name):
    return load(name).model


@pytest.fixture(scope="module")
def reading(name):
    return ModelInput.of(load(name).tokenizer, TEXT)


@pytest.fixture(scope="module")
def probs(model, reading):
    return attentions(model, reading.ids, reading.segments)


def views(app) -> dict[str, dict]:
    """What each of our views is given, by the end of its key."""
    return {view.proto.id.split("-explorer-")[-1]: json.loads(view.proto.json) for view in app.get("bidi_component")}


def unpacked(text: str, kind: str = "u1") -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype=kind)


def titles(app) -> list[str]:
    return [driver.plain(block.value).strip("*") for block in app.markdown if block.value.startswith("**")]


def test_lines_small_pictures_and_titles_are_the_models_attention(probs, reading):
    app = open_page(layer=3, head=2, share=100, row=1)  # from all tokens
    lines, small = views(app)["lines-a"], views(app)["heads"]
    tokens, size = list(reading.tokens), len(reading.tokens)
    assert lines["tokens"] == tokens and lines["heads"] == [1]
    counts, columns = unpacked(lines["counts"], "<u2"), unpacked(lines["columns"], "<u2")
    drawn = np.zeros((size, size))
    drawn[np.repeat(np.arange(size), counts), columns] = unpacked(lines["weights"]) / 255
    assert np.abs(drawn - probs[2, 1].numpy()).max() < 0.5 / 255 + 1e-4
    assert "100%" in captions(app)
    assert (small["layers"], small["heads"], small["size"]) == probs.shape[:3]
    back = unpacked(small["weights"]).reshape(probs.shape) / 255
    assert np.abs(back - probs.numpy()).max() < 0.5 / 255 + 1e-4
    shares = [probs[..., tokens.index(special)].mean(-1) for special in ("[CLS]", "[SEP]")]
    for step in (0, -1, 1):
        looks = [(i, i + step) for i in range(size) if i + step in range(1, size - 1)]
        shares.append(sum(probs[..., i, j] for i, j in looks) / size)
    crowd, one = titles(app)[:2]
    assert crowd.startswith(f"{max(int((share > 0.5).sum()) for share in shares)} of 16 ")
    best, second = sorted((share[2, 1].item() for share in shares), reverse=True)[:2]
    assert re.findall(r"\d+%", one) == [f"{best:.0%}", f"{second:.0%}"]


def test_all_heads_of_a_layer_and_hidden_special_tokens(probs, reading):
    app = open_page(layer=2, heads="all", bare="true", share=50)
    lines = views(app)["lines-a"]
    heads = probs.size(1)
    assert lines["heads"] == list(range(heads)) and len(set(lines["colours"])) == heads
    counts = unpacked(lines["counts"], "<u2").reshape(heads, -1)
    special = [place not in reading.words for place in range(len(reading.tokens))]
    assert lines["faint"] == special and (counts[:, special] == 0).all() and (counts[:, ~np.array(special)] > 0).all()
    words = ~torch.tensor(special)
    hidden = 1 - probs[1][:, words][:, :, words].sum(-1).mean().item()
    assert f"{hidden:.0%}" in captions(app)


def test_behind_a_cell_are_exact_numbers_and_the_title_says_where_its_row_looks(probs, reading):
    it = reading.tokens.index("it")
    app = open_page(view="matrix", layer=4, head=3, row=it + 2, column=6)  # 1 is “all”
    row = probs[3, 2, it]
    assert rf"\mathbf{{{row[4].item():.6f}}}" in formulas(app) and r"\sqrt{64}" in formulas(app)
    percent = (100 * row.topk(4).values).tolist()
    assert app.dataframe[0].value["share"].tolist()[:4] == pytest.approx(percent, abs=1e-4)
    assert views(app)["matrix-a"]["row"] == it and views(app)["matrix-a"]["column"] == 4
    of = titles(app)[1]
    assert reading.tokens[int(row.argmax())] in of and f"{row.max().item():.0%}" in of


def test_words_in_place_of_pieces_in_the_views_the_numbers_and_bertviz(name):
    tokenizer, text = load(name).tokenizer, "She unwrapped it."
    tokens = tokenizer.encode(text).tokens
    (first, last) = (place for place, token in enumerate(tokens) if token in ("she", "it"))
    unwrapped, them = list(range(first + 1, last)), attentions(load(name).model, tokenizer.encode(text).ids)
    assert len(unwrapped) > 1
    assert views(open_page(sentence=text))["lines-a"]["tokens"] == tokens
    app = open_page(sentence=text, units="words", view="matrix", layer=3, head=2, from_word=4, to_word=4)
    drawn = views(app)["matrix-a"]
    assert drawn["tokens"] == ["[CLS]", "she", "unwrapped", "it", ".", "[SEP]"] and drawn["row"] == drawn["column"] == 2
    share = sum(them[2, 1, i, j].item() for i in unwrapped for j in unwrapped) / len(unwrapped)
    assert unpacked(drawn["weights"]).reshape(6, 6)[2, 2] / 255 == pytest.approx(share, abs=0.5 / 255 + 1e-4)
    assert f"{share:.6f}" in text_of(app)
    assert app.dataframe[1].value.shape == (len(unwrapped), len(unwrapped) + 1)
    assert '"unwrapped"' in open_page("BertViz", sentence=text, units="words").get("iframe")[0].proto.srcdoc


def test_a_pair_two_sentences_and_two_models_are_read_as_such(name):
    tokenizer = load(name).tokenizer
    both = views(open_page(second="It barked.", compare="sentence", other="A cat slept."))
    assert set(both) == {"lines-a", "lines-b", "heads-a", "heads-b"}
    assert both["lines-a"]["tokens"] == list(ModelInput.of(tokenizer, TEXT, "It barked.").tokens)
    assert both["lines-b"]["tokens"] == list(ModelInput.of(tokenizer, "A cat slept.").tokens)
    both = views(open_page(compare="model", other_model=UNTRAINED))
    assert both["lines-a"]["tokens"] == both["lines-b"]["tokens"]
    assert both["heads-a"]["weights"] != both["heads-b"]["weights"]


def test_512_tokens_take_a_small_payload():
    app = open_page(heads="all", share=100)
    app.text_input(key="sentence").set_value("the dog ran " * 200)  # too long for a link
    given = views(whole(app.run()))
    assert len(given["lines-a"]["tokens"]) == 512 and "602" in app.info[0].value
    assert sum(len(json.dumps(view)) for view in given.values()) < 600_000
    app.session_state["view"] = "matrix"
    assert len(unpacked(views(whole(app.run()))["matrix-a"]["weights"])) == 512 * 512


def test_a_page_begins_with_the_head_that_has_most_to_show_and_all_heads_wait_for_a_guess():
    app = driver.open_page("attention_explorer")
    assert "heads" not in views(app) and "lines-a" in views(app)
    app.button(key="crowd-guess-0").click()
    given, loaded = views(whole(app.run())), load("minilm-en")
    text = ModelInput.of(loaded.tokenizer, TEXT)
    seen = attentions(loaded.model, text.ids, text.segments)
    layer, head, *_ = telling_head(seen, text.tokens, text.tokens.index("it"))  # it gives most to dog, cat and ran
    assert given["heads"]["selected"] == layer * given["heads"]["heads"] + head
    assert given["lines-a"]["heads"] == [head] and given["lines-a"]["row"] == text.tokens.index("it")
    app.text_input(key="sentence").set_value("Ann sold a horse because she was old.")
    given = views(whole(app.run()))["lines-a"]
    assert given["tokens"][given["row"]] == "she"


def test_names_and_counts_are_the_measured_ones(model, name):
    tokenizer = load(name).tokenizer
    kinds = measure(model, sentences(tokenizer, held_out.texts(held_out.kind_of_text(tokenizer)), 512))
    app = open_page("Kinds of heads", layer=2, head=1, threshold=30)
    labels = views(app)["kinds"]["labels"]
    named = [(i, a, kind) for i, row in enumerate(kinds.named(0.3)) for a, kind in enumerate(row)]
    for label, (i, a, kind) in zip(labels, named, strict=True):
        assert label == "–" if kind is None else label.endswith(f"{kinds.score(kind, i, a):.0%}")
    counted = [k for k, kind in enumerate(KINDS) if kind != "antecedent"]
    bars = numbers(figure(app, "explorer-scores")["data"][0]["x"])
    np.testing.assert_allclose(bars, kinds.scores[counted, 1, 0].numpy(), atol=1e-5)
    count = int((kinds.scores[KINDS.index("previous")] > 0.5).sum())  # beside Clark et al. 2019, §3.1 and §3.2
    text, heads = text_of(app), kinds.scores[0].numel()
    assert f" {count} of {heads}" in text and "4 of 144 (layers 2, 4, 7, 8)" in text
    assert "5 of 12 (layers 6, 7, 8, 9, 10)" in text


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
SMALL |= {"max_position_embeddings": 160, "initializer_range": 0.5}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Two small models on a shelf of their own: one of the toy world, one that judges reviews."""
    english = load(available_models(fill=True, trained=True)[0].name).tokenizer
    toy = Tokenizer(toy_world.vocabulary())
    torch.manual_seed(3)
    checkpoint.save(tmp_path / "toy", BertForPreTraining(BertConfig(toy.vocab_size, **SMALL)), toy)
    judge = BertForSequenceClassification(BertConfig(english.vocab_size, **SMALL), ["negative", "positive"])
    checkpoint.save(tmp_path / "judge", judge, english)
    monkeypatch.setattr(model_registry, "CHECKPOINTS", tmp_path)
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "none"))
    return tmp_path


def test_a_model_of_the_toy_world_is_measured_on_its_stories(shelf):
    """Which know the true antecedent: one bar more."""

    def bars(**query):
        return len(numbers(figure(open_page("Kinds of heads", **query), "explorer-scores")["data"][0]["x"]))

    assert bars(model="toy", sentence="anna lost her keys.") == bars(on="toy") == bars() + 1
    app = open_page("Kinds of heads", model="toy", sentence="anna lost her keys.", by="word")
    assert figure(app, "explorer-relations") is None and app.info, "relations are asked for in English only"


def test_a_fine_tuned_model_loses_its_own_accuracy(shelf):
    subject = InspectedModel.of("judge")
    asked, off = questions(subject), {(0, 0), (1, 1)}
    assert len(answers(subject.model, asked).losses) == len(held_out.reviews("en")) > 100
    zero, mean = (without(subject.model, asked, off, silence) for silence in (None, means(subject)))
    assert round(zero.loss, 3) != round(mean.loss, 3)
    for silence, after in (("zero", zero), ("mean", mean)):
        app = open_page("Switch heads off", model="judge", off="1.1-2.2", silence=silence, rank="false")
        shown = metrics(app)["Reviews judged right"], metrics(app)["Loss, in nats"]
        assert shown == (f"{after.accuracy:.1%}", f"{after.loss:.3f}")
    assert set(app.dataframe[0].value["answer"]) == {"negative", "positive"}


def found_by(name: str) -> dict:
    """What the heads of a model find, measured anew: of each relation."""
    loaded = load(name)
    parts = [read_columns((ENTITIES / f"{part}.txt").read_bytes(), part) for part in ("train", "dev")]
    rows = [row for part in parts for row in part]
    grammar = about_relations([row[0] for row in rows], [relations(*row[:3]) for row in rows])
    pronouns = about_pronouns(read_pronouns((ENTITIES.parent / "pronouns" / "en.tsv").read_bytes(), "en.tsv"))
    measured = [one for asked in (grammar, pronouns) for one in measure_heads(loaded.model, loaded.tokenizer, asked)]
    return {one.relation: one for one in better_direction(measured)}


@pytest.mark.release
def test_each_relation_has_its_best_head_its_rule_and_the_papers(name):
    app, found = open_page("Kinds of heads", model=name, by="word"), found_by(name)
    clear = [one for one in found.values() if one.held_out > one.baseline + 0.05]
    most = max(clear, key=lambda one: one.held_out - one.baseline)
    said = f"{len(clear)} of 10", "5", f"{most.held_out:.0%}", f"{most.baseline:.0%}"
    assert re.search(r"\*\*.*" + ".*".join(rf"\b{number}(?!\w)" for number in said), text_of(app))
    spec = figure(app, "explorer-relations")
    assert len(spec["layout"]["yaxis"]["ticktext"]) == len(found) == 10
    _lines, ours, texts, _their_lines, theirs, _their_texts, rules, _anywhere = spec["data"]
    order = ("dobj", "pobj", "det", "poss", "coref", "nsubj", "aux", "auxpass", "prt", "amod")
    np.testing.assert_allclose(numbers(ours["x"]), [found[one].held_out for one in order])
    np.testing.assert_allclose(numbers(rules["x"])[:10], [found[one].baseline for one in order])
    heads = [f"{found[one].best[0] + 1}.{found[one].best[1] + 1}" for one in order]
    assert [text.split(" · ")[1] for text in texts["text"]] == heads
    paper = [86.8, 76.3, 94.3, 80.5, 64, 58.5, 81.1, 82.5, 99.1, 75.6]  # Clark et al. 2019, Tables 1 and 2
    np.testing.assert_allclose(numbers(theirs["x"]), [share / 100 for share in paper])
    paper_rules = [40.0, 34.6, 51.7, 47.7, 29, 45.5, 71.5, 40.5, 91.4, 68.3]
    np.testing.assert_allclose(numbers(rules["x"])[10:], [share / 100 for share in paper_rules])


def test_a_relation_is_seen_in_a_sentence(shelf):
    app = open_page("Kinds of heads", model="judge", by="word", relation=5)  # the fifth: pronoun → antecedent
    found = found_by("judge")["coref"]
    layer, head = found.best
    assert any({option[0] for option in box.options} == {"✓", "✗"} for box in app.selectbox if box.options)
    drawn = views(app)["relation-lines"]
    assert drawn["heads"] == [head] and drawn["tokens"][drawn["row"]] in text_of(app)
    specials = [token in ("[CLS]", "[SEP]") for token in drawn["tokens"]]
    assert drawn["faint"] == specials and not unpacked(drawn["counts"], "<u2")[np.array(specials)].any()
    right = found.right[:, layer, head]
    assert f"({int(right[:36].sum())}/36)" in captions(app)  # the first 36 are settled by their form


def test_a_vocabulary_with_some_chinese_is_not_chinese():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    few = [*special, *(chr(0x4E00 + i) for i in range(500)), *map(str, range(9_000))]
    assert held_out.kind_of_text(Tokenizer(few)) == "en"
    assert held_out.kind_of_text(Tokenizer(few[:600])) == "zh"


@pytest.mark.release
def test_what_is_lost_is_what_the_intervention_says(model, name, reading):
    off = {(0, 0), (1, 2)}
    app = open_page("Switch heads off", off="1.1-2.3", hide=2)
    asked = questions(InspectedModel.of(name))
    before, after = answers(model, asked), without(model, asked, off)
    assert metrics(app)["Words filled in right"] == f"{after.accuracy:.1%}"
    assert metrics(app)["Loss, in nats"] == f"{after.loss:.3f}"
    change = difference(after.right, before.right)
    (delta,) = (box.delta for box in app.metric if box.label == "Words filled in right")
    assert delta == f"{100 * change.mean:+.1f} points ± {200 * change.error:.1f}".replace("-", "−")
    batch, table, vocab = reading.hiding(2).batch(), app.dataframe[0].value, load(name).tokenizer.vocab
    places = [vocab.index(word) for word in table["answer"]]
    for column, tap in (("logit", lambda name, x: x), ("logit without", switched_off(off))):
        logits = fill_logits(model, batch, 2, tap)[0]
        assert table[column].tolist() == pytest.approx(logits[places].tolist(), abs=1e-4)
        assert column != "logit" or places[0] == logits.argmax()
    assert views(app)["switches"]["crossed"] == [0, load(name).config.num_attention_heads + 2]


def test_many_heads_at_once(shelf):
    app = open_page("Switch heads off", layer=1, head=2, model="judge", rank="false")
    assert figure(app, "explorer-ranking") is None
    for label, count in (
        ("Layer 1 off", 2),
        ("All but layer 1, head 2 in its layer", 1),
        ("All but layer 1, head 2", 3),
        ("All on", 0),
    ):
        next(button for button in app.button if button.label == label).click()
        whole(app.run())
        assert len(views(app)["switches"]["crossed"]) == count
        assert len(driver.link(app, "off").split("-")) == count if count else "off" not in app.query_params


def test_two_readers_never_affect_each_other(shelf):
    model = load("judge").model
    before = {key: value.clone() for key, value in model.state_dict().items()}
    own = {"model": "judge", "rank": "false"}
    one, other = (open_page("Switch heads off", **own, **off) for off in ({}, {"off": "1.1-2.2"}))
    intact = metrics(one)["Loss, in nats"]
    assert metrics(other)["Loss, in nats"] != intact
    whole(one.run())
    assert metrics(one)["Loss, in nats"] == intact and views(one)["switches"]["crossed"] == []
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_the_ranking_is_each_head_alone(shelf):
    app = open_page("Switch heads off", model="judge")
    model, asked = load("judge").model, questions(InspectedModel.of("judge"))
    spec = figure(app, "explorer-ranking")["data"][0]
    costs, places = numbers(spec["x"]), numbers(spec["customdata"]).flatten().astype(int)
    assert (np.diff(costs) <= 0).all() and sorted(places) == [0, 1, 2, 3]
    alone = without(model, asked, {divmod(int(places[0]), 2)})
    assert costs[0] == pytest.approx(alone.loss - answers(model, asked).loss, abs=1e-5)
    assert figure(app, "explorer-disagree")


def test_heads_are_ranked_unless_there_are_many(shelf):
    english = load("judge").tokenizer
    shape = {"hidden_size": 24, "intermediate_size": 8, "num_hidden_layers": 7, "num_attention_heads": 12}
    checkpoint.save(shelf / "many", BertForPreTraining(BertConfig(english.vocab_size, **SMALL | shape)), english)
    app = open_page("Switch heads off", model="many")
    assert "84" in app.toggle(key="rank").label and not app.toggle(key="rank").value
    assert figure(app, "explorer-ranking") is None and views(app)["switches"]["heads"] == 12


def test_bertviz_shows_the_chosen_layer_and_head_two_models_and_cuts_a_long_text():
    chosen = {"layer": 3, "head": 2, "bertviz_model": "true", "bertviz_neuron": "true"}
    app = open_page("BertViz", **chosen)
    head, model, neuron = (frame.proto.srcdoc for frame in app.get("iframe"))
    assert '"layer": 3, "heads": null' in head and "attn_background_2_1" in model
    assert '"layer": 2, "head": 1' in neuron
    whole(app.text_input(key="sentence").set_value("the dog ran " * 60).run())  # too long for a link
    assert captions(app).count("of 182") == 3 and captions(app).count("111 of 182") == 1
    app = open_page("BertViz", bertviz_alone="true", **chosen)
    assert '"layer": 3, "heads": [1]' in app.get("iframe")[0].proto.srcdoc
    frames = [frame.proto for frame in open_page("BertViz", compare="model", other_model=UNTRAINED).get("iframe")]
    assert len(frames) == 2 and all(frame.srcdoc.startswith("<!doctype html>") and frame.alt for frame in frames)


@pytest.mark.parametrize("part", PARTS)
def test_any_sentence_in_every_part(part):
    app = open_page(part, model=UNTRAINED, rank="false", bertviz_model="true", bertviz_neuron="true")
    for text in ("", EVERYTHING):
        app.text_input(key="sentence").set_value(text)
        app.text_input(key="second").set_value(text)
        assert_no_markup(whole(app.run()))


@pytest.mark.parametrize("part", PARTS)
def test_a_bad_link_breaks_nothing(part):
    names = ("layer", "head", "row", "column", "view", "heads", "share", "off", "compare", "on", "threshold")
    bad = ("99", "0.0-999.999", "<img>")
    first = PARTS.index(part)  # another of the three for each name, in each part
    open_page(part, **{name: bad[(at + first) % 3] for at, name in enumerate(names)})
    open_page(model=bad[first % 3])
