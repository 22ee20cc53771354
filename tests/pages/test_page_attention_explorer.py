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
from minibert.inside.grammatical_relations import relations
from minibert.inside.head_accuracy import about_pronouns, about_relations, better_direction, measure_heads
from minibert.inside.head_cost import answers, difference, without
from minibert.inside.head_kinds import KINDS, attentions, measure, sentences
from minibert.inside.interventions import fill_logits, switched_off
from minibert.inside.model_input import ModelInput
from minibert.inside.probe_tasks import read_columns
from minibert.inside.pronouns import read_pronouns
from minibert.inside.telling_head import telling_head
from minibert.model import BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from sections.attention_explorer.asked import questions
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, numbers, text_of, whole
from ui import held_out, models
from ui.lesson import Lesson
from ui.looked_into import Subject
from ui.models import UNTRAINED, available_models, load

LESSON = Lesson("attention_explorer")
ENTITIES = LESSON.folder.parent / "data" / "entities"
TEXT = LESSON.examples[0]
PARTS = ("Look", "Kinds of heads", "Switch heads off", "BertViz")


def open_page(part: str = PARTS[0], **query):
    assert part in PARTS
    return driver.open_page("attention_explorer", part=part, **query)


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


def captions(app) -> str:
    return driver.plain("\n".join(block.value for block in app.caption))


def metric(app, label: str):
    return next(box for box in app.metric if box.label == label)


# --- look --------------------------------------------------------------------------------------------------------


def test_lines_are_the_models_attention(probs, reading):
    app = open_page(layer=3, head=2, share=100)
    lines = views(app)["lines-a"]
    assert lines["tokens"] == list(reading.tokens) and lines["heads"] == [1]
    size = len(reading.tokens)
    counts, columns = unpacked(lines["counts"], "<u2"), unpacked(lines["columns"], "<u2")
    drawn = np.zeros((size, size))
    drawn[np.repeat(np.arange(size), counts), columns] = unpacked(lines["weights"]) / 255
    assert np.abs(drawn - probs[2, 1].numpy()).max() < 0.5 / 255 + 1e-4
    assert "100%" in captions(app)


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


def test_the_small_pictures_are_all_heads(probs):
    small = views(open_page())["heads"]
    layers, heads, size, _ = probs.shape
    assert (small["layers"], small["heads"], small["size"]) == (layers, heads, size)
    back = unpacked(small["weights"]).reshape(probs.shape) / 255
    assert np.abs(back - probs.numpy()).max() < 0.5 / 255 + 1e-4


def test_behind_a_cell_are_exact_numbers(probs, model, reading):
    app = open_page(view="matrix", layer=2, head=3, row=4, column=6)  # 1 is “all”
    exact = probs[1, 2, 2, 4].item()
    formulas = "".join(block.value for block in app.latex)
    assert rf"\mathbf{{{exact:.6f}}}" in formulas and r"\sqrt{64}" in formulas
    table = app.dataframe[0].value
    assert table["share"].tolist()[:4] == pytest.approx(probs[1, 2, 2].topk(4).values.tolist(), abs=1e-6)
    assert views(app)["matrix-a"]["row"] == 2 and views(app)["matrix-a"]["column"] == 4


def test_a_pair_and_two_sentences_are_read_as_such(name):
    tokenizer = load(name).tokenizer
    pair = views(open_page(second="It barked."))["lines-a"]
    assert pair["tokens"] == list(ModelInput.of(tokenizer, TEXT, "It barked.").tokens)
    both = views(open_page(compare="sentence", other="A cat slept."))
    assert set(both) == {"lines-a", "lines-b", "heads-a", "heads-b"}
    assert both["lines-b"]["tokens"] == list(ModelInput.of(tokenizer, "A cat slept.").tokens)


def test_two_models_side_by_side():
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


def test_a_page_begins_with_the_head_that_has_most_to_show():
    app = driver.open_page("attention_explorer", told=["crowd"])
    given, best = views(app), telling("minilm-en")
    assert given["heads"]["selected"] == best[0] * given["heads"]["heads"] + best[1]
    assert given["lines-a"]["heads"] == [best[1]] and given["lines-a"]["row"] is None
    older = views(open_page(row=3))  # a link that says something, but no head, means the one it meant before
    assert older["heads"]["selected"] == older["heads"]["heads"] + 1


def test_all_heads_wait_for_a_guess():
    app = driver.open_page("attention_explorer")
    assert "heads" not in views(app) and "lines-a" in views(app)
    app.button(key="crowd-guess-0").click()
    assert "heads" in views(whole(app.run()))


def telling(of: str) -> tuple[int, ...]:
    """The head whose *it* gives most to *dog*, *cat* and *ran*."""
    text = ModelInput.of(load(of).tokenizer, TEXT)
    probs = attentions(load(of).model, text.ids, text.segments)
    return telling_head(probs, text.tokens, text.tokens.index("it"))[:2]


def titles(app) -> list[str]:
    return [driver.plain(block.value).strip("*") for block in app.markdown if block.value.startswith("**")]


def test_titles_say_where_all_heads_look_and_where_one_does(probs, reading):
    tokens, size = list(reading.tokens), len(reading.tokens)
    shares = [probs[..., tokens.index(special)].mean(-1) for special in ("[CLS]", "[SEP]")]
    for step in (0, -1, 1):
        looks = [(i, i + step) for i in range(size) if i + step in range(1, size - 1)]
        shares.append(sum(probs[..., i, j] for i, j in looks) / size)
    crowd, one = titles(open_page(layer=2, head=1))[:2]
    assert crowd.startswith(f"{max(int((share > 0.5).sum()) for share in shares)} of 16 ")
    best, second = sorted((share[1, 0].item() for share in shares), reverse=True)[:2]
    assert re.findall(r"\d+%", one) == [f"{best:.0%}", f"{second:.0%}"]
    it = tokens.index("it")
    of = titles(open_page(layer=4, head=3, row=it + 2))[1]
    assert tokens[int(probs[3, 2, it].argmax())] in of and f"{probs[3, 2, it].max().item():.0%}" in of


# --- kinds -------------------------------------------------------------------------------------------------------


def test_names_and_counts_are_the_measured_ones(model, name):
    tokenizer = load(name).tokenizer
    kinds = measure(model, sentences(tokenizer, held_out.texts(held_out.kind_of_text(tokenizer)), 512))
    app = open_page("Kinds of heads", layer=2, head=1, threshold=30)
    labels = views(app)["kinds"]["labels"]
    for at, (label, kind) in enumerate(zip(labels, (kind for row in kinds.named(0.3) for kind in row), strict=True)):
        i, a = divmod(at, kinds.scores.size(2))
        assert label == "–" if kind is None else label.endswith(f"{kinds.score(kind, i, a):.0%}")
    counted = [k for k, kind in enumerate(KINDS) if kind != "antecedent"]
    bars = numbers(figure(app, "explorer-scores")["data"][0]["x"])
    np.testing.assert_allclose(bars, kinds.scores[counted, 1, 0].numpy(), atol=1e-5)
    count = int((kinds.scores[KINDS.index("previous")] > 0.5).sum())  # beside Clark et al. 2019, §3.1 and §3.2
    text, heads = text_of(app), kinds.scores[0].numel()
    assert f" {count} of {heads}" in text and "4 of 144 (layers 2, 4, 7, 8)" in text
    assert "5 of 12 (layers 6, 7, 8, 9, 10)" in text


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Two small models on a shelf of their own: one of the toy world, one that judges reviews."""
    english = load(available_models(fill=True, trained=True)[0].name).tokenizer
    toy = Tokenizer(toy_world.vocabulary())
    torch.manual_seed(3)
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    shape |= {"max_position_embeddings": 160, "initializer_range": 0.5}
    checkpoint.save(tmp_path / "toy", BertForPreTraining(BertConfig(toy.vocab_size, **shape)), toy)
    judge = BertForSequenceClassification(BertConfig(english.vocab_size, **shape), ["negative", "positive"])
    checkpoint.save(tmp_path / "judge", judge, english)
    monkeypatch.setattr(models, "CHECKPOINTS", tmp_path)
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
    app = open_page("Switch heads off", model="judge", off="1.1-2.2")
    subject = Subject.of("judge")
    before = answers(subject.model, questions(subject))
    after = without(subject.model, questions(subject), {(0, 0), (1, 1)})
    assert len(before.losses) == len(held_out.reviews("en")) > 100
    assert metric(app, "Reviews judged right").value == f"{after.accuracy:.1%}"
    assert set(app.dataframe[0].value["answer"]) == {"negative", "positive"}


# --- which word a head finds --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(name):
    """What the heads find, measured anew."""
    loaded = load(name)
    sentences = [
        row for part in ("train", "dev") for row in read_columns((ENTITIES / f"{part}.txt").read_bytes(), part)
    ]
    grammar = about_relations([row[0] for row in sentences], [relations(*row[:3]) for row in sentences])
    pronouns = about_pronouns(read_pronouns((ENTITIES.parent / "pronouns" / "en.tsv").read_bytes(), "en.tsv"))
    measured = [one for asked in (grammar, pronouns) for one in measure_heads(loaded.model, loaded.tokenizer, asked)]
    return {one.relation: one for one in better_direction(measured)}


@pytest.mark.release
def test_each_relation_has_its_best_head_its_rule_and_the_papers(found, name):
    app = open_page("Kinds of heads", model=name, by="word")
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


@pytest.mark.release
def test_the_finding_is_the_numbers(found, name):
    text = text_of(open_page("Kinds of heads", model=name, by="word"))
    clear = [one for one in found.values() if one.held_out > one.baseline + 0.05]
    most = max(clear, key=lambda one: one.held_out - one.baseline)
    said = f"{len(clear)} of 10", "5", f"{most.held_out:.0%}", f"{most.baseline:.0%}"
    assert re.search(r"\*\*.*" + ".*".join(rf"\b{number}(?!\w)" for number in said), text)


def test_a_relation_is_seen_in_a_sentence(found, name):
    app = open_page("Kinds of heads", model=name, relation=5)  # the fifth: pronoun → antecedent
    layer, head = found["coref"].best
    assert any({option[0] for option in box.options} == {"✓", "✗"} for box in app.selectbox if box.options)
    drawn = views(app)["relation-lines"]
    assert drawn["heads"] == [head] and drawn["tokens"][drawn["row"]] in text_of(app)
    specials = [token in ("[CLS]", "[SEP]") for token in drawn["tokens"]]
    assert drawn["faint"] == specials and not unpacked(drawn["counts"], "<u2")[np.array(specials)].any()
    right = found["coref"].right[:, layer, head]
    assert f"({int(right[:36].sum())}/36)" in captions(app)  # the first 36 are settled by their form


@pytest.mark.parametrize(
    ("query", "drawn", "not_drawn"),
    [
        ({"relation": 2}, "relations", "scores"),
        ({"case-dobj": 2}, "relations", "scores"),
        ({"relation": 2, "by": "place"}, "scores", "relations"),
    ],
)
def test_a_link_of_before_opens_the_way_it_was_about(query, drawn, not_drawn):
    """Once both ways of naming heads stood under each other."""
    app = open_page("Kinds of heads", **query)
    assert figure(app, f"explorer-{drawn}") and figure(app, f"explorer-{not_drawn}") is None


def test_a_vocabulary_with_some_chinese_is_not_chinese():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    few = [*special, *(chr(0x4E00 + i) for i in range(500)), *map(str, range(9_000))]
    assert held_out.kind_of_text(Tokenizer(few)) == "en"
    assert held_out.kind_of_text(Tokenizer(few[:600])) == "zh"


# --- switched off ------------------------------------------------------------------------------------------------


@pytest.mark.release
def test_what_is_lost_is_what_the_intervention_says(model, name, reading):
    off = {(0, 0), (1, 2)}
    app = open_page("Switch heads off", off="1.1-2.3", hide=2)
    asked = questions(Subject.of(name))
    before, after = answers(model, asked), without(model, asked, off)
    box = metric(app, "Words filled in right")
    assert box.value == f"{after.accuracy:.1%}"
    change = difference(after.right, before.right)
    assert box.delta == f"{100 * change.mean:+.1f} points ± {200 * change.error:.1f}".replace("-", "−")
    assert metric(app, "Loss, in nats").value == f"{after.loss:.3f}"
    logits = [
        fill_logits(model, reading.hiding(2).batch(), 2, tap)[0] for tap in (lambda name, x: x, switched_off(off))
    ]
    table = app.dataframe[0].value
    vocab = load(name).tokenizer.vocab
    for word, one, other in zip(table["answer"], table["logit"], table["logit without"], strict=True):
        assert one == pytest.approx(logits[0][vocab.index(word)].item(), abs=1e-4)
        assert other == pytest.approx(logits[1][vocab.index(word)].item(), abs=1e-4)
    assert table["answer"].iloc[0] == vocab[logits[0].argmax()]
    assert views(app)["switches"]["crossed"] == [0, load(name).config.num_attention_heads + 2]


@pytest.mark.release
def test_a_mean_is_not_zeros():
    zero, mean = (open_page("Switch heads off", off="2.2-2.4", silence=how) for how in ("zero", "mean"))
    assert metric(zero, "Loss, in nats").value != metric(mean, "Loss, in nats").value


def test_many_heads_at_once(shelf):
    app = open_page("Switch heads off", layer=1, head=2, model="judge", rank="false")
    heads = views(app)["switches"]["heads"]
    for label, count in (
        ("Layer 1 off", heads),
        ("All but layer 1, head 2 in its layer", heads - 1),
        ("All but layer 1, head 2", len(views(app)["switches"]["labels"]) - 1),
        ("All on", 0),
    ):
        next(button for button in app.button if button.label == label).click()
        whole(app.run())
        assert len(views(app)["switches"]["crossed"]) == count
        if count:
            assert len(driver.link(app, "off").split("-")) == count
        else:
            assert "off" not in app.query_params


def test_two_readers_never_affect_each_other(model):
    before = {key: value.clone() for key, value in model.state_dict().items()}
    one = open_page("Switch heads off", rank="false")
    intact = metric(one, "Loss, in nats").value
    other = open_page("Switch heads off", off="2.1-2.2-2.3-2.4", rank="false")
    assert metric(other, "Loss, in nats").value != intact
    whole(one.run())
    assert metric(one, "Loss, in nats").value == intact and views(one)["switches"]["crossed"] == []
    assert views(open_page())["heads"]["weights"] == views(open_page())["heads"]["weights"]
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_the_ranking_is_each_head_alone(model, name):
    app = open_page("Switch heads off")
    asked = questions(Subject.of(name))
    spec = figure(app, "explorer-ranking")["data"][0]
    costs, places = numbers(spec["x"]), numbers(spec["customdata"]).flatten().astype(int)
    assert (np.diff(costs) <= 0).all() and sorted(places) == list(range(len(costs)))
    alone = without(model, asked, {divmod(int(places[0]), load(name).config.num_attention_heads)})
    assert costs[0] == pytest.approx(alone.loss - answers(model, asked).loss, abs=1e-5)
    assert figure(app, "explorer-disagree")


def test_heads_are_ranked_unless_there_are_many(shelf):
    assert figure(open_page("Switch heads off", model="judge", rank="false"), "explorer-ranking") is None
    english = load("judge").tokenizer
    shape = {"hidden_size": 24, "intermediate_size": 8, "max_position_embeddings": 64, "initializer_range": 0.5}
    config = BertConfig(english.vocab_size, num_hidden_layers=7, num_attention_heads=12, **shape)
    checkpoint.save(shelf / "many", BertForPreTraining(config), english)
    app = open_page("Switch heads off", model="many")
    assert "84" in app.toggle(key="rank").label and not app.toggle(key="rank").value
    assert figure(app, "explorer-ranking") is None and views(app)["switches"]["heads"] == 12


# --- BertViz -----------------------------------------------------------------------------------------------------


def test_bertviz_compares_two_models():
    frames = [frame.proto for frame in open_page("BertViz", compare="model", other_model=UNTRAINED).get("iframe")]
    assert len(frames) == 2 and all(frame.srcdoc.startswith("<!doctype html>") and frame.alt for frame in frames)


def test_bertviz_shows_the_chosen_layer_and_head():
    chosen = {"layer": 3, "head": 2, "bertviz_model": "true", "bertviz_neuron": "true"}
    head, model, neuron = (frame.proto.srcdoc for frame in open_page("BertViz", **chosen).get("iframe"))
    assert '"layer": 3, "heads": null' in head and "attn_background_2_1" in model
    assert '"layer": 2, "head": 1' in neuron
    app = open_page("BertViz", bertviz_alone="true", **chosen)
    assert '"layer": 3, "heads": [1]' in app.get("iframe")[0].proto.srcdoc


def test_a_long_text_is_cut_for_bertviz_alone():
    app = open_page("BertViz", bertviz_neuron="true")
    app.text_input(key="sentence").set_value("the dog ran " * 60)  # too long for a link
    whole(app.run())
    assert "111 of 182" in captions(app) and captions(app).count("of 182") == 2


# --- anything may be typed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
def test_any_sentence_in_every_part(part):
    app = open_page(part, model=UNTRAINED, rank="false", bertviz_model="true", bertviz_neuron="true")
    for text in ("", EVERYTHING):
        app.text_input(key="sentence").set_value(text)
        app.text_input(key="second").set_value(text)
        assert_no_markup(whole(app.run()))


@pytest.mark.parametrize("bad", ["99", "0.0-999.999", "<img>"])
def test_a_bad_link_breaks_nothing(bad):
    names = ("layer", "head", "row", "column", "view", "heads", "share", "off", "model", "compare", "on", "threshold")
    for part in PARTS:
        open_page(part, **dict.fromkeys(names, bad))
