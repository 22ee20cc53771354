"""Probes: their accuracy against scikit-learn on transformers' hidden states, the control task, what is made of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from sklearn.linear_model import LogisticRegression

from minibert.config import BertConfig
from minibert.heads import BertForIntentAndEntities
from minibert.inside.heads.pronouns import Pronoun
from minibert.inside.probes import probe as probes
from minibert.inside.probes import tasks as probe_tasks
from minibert.inside.probes.probe import gathered, item_vectors, order_of_kinds, probe_layers, probe_task, split
from minibert.inside.probes.tasks import ProbeItem, ProbeTask, length, order, read_columns, topic, usable
from minibert.tasks import TaskDataError
from minibert.toy.annotations import toy_probe_tasks
from minibert.toy.world import stories


@pytest.fixture(scope="module")
def vowels():
    """Does a word begin with a vowel? The letters' model can see it."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghi"), 3)) for _ in range(240)]
    sentences = tuple(tuple(words[i : i + 4]) for i in range(0, 240, 4))
    items = (ProbeItem(i // 4, (i % 4,), "vowel" if word[0] in "aei" else "other") for i, word in enumerate(words))
    return ProbeTask("vowels", "surface", sentences, tuple(items))


def test_accuracy_is_that_of_scikit_learn_on_transformers_hidden_states(small_checkpoint, loaded, vowels):
    reference = transformers.AutoModel.from_pretrained(small_checkpoint).eval()
    vectors, items = item_vectors(*loaded, vowels)
    ours = probe_task(vowels, items, vectors, seed=5)
    rows = [torch.tensor([loaded[1].encode(" ".join(row)).ids]) for row in vowels.sentences]
    with torch.no_grad():
        hidden = [torch.cat(reference(row, output_hidden_states=True).hidden_states).numpy() for row in rows]
    # A piece a letter, three letters a word, after [CLS].
    words = np.concatenate([states[:, 1:13].reshape(3, 4, 3, -1).mean(2) for states in hidden], axis=1)
    labels = np.array([item.label == "vowel" for item in vowels.items])
    test = split(items, np.random.default_rng(5))
    for layer in range(3):
        train_x, test_x = words[layer, ~test], words[layer, test]
        mean, deviation = train_x.mean(0), train_x.std(0)
        model = LogisticRegression(C=0.1, max_iter=1000).fit((train_x - mean) / deviation, labels[~test])
        right = (model.predict((test_x - mean) / deviation) == labels[test]).sum()
        assert abs(ours.accuracy[layer] * ours.test - right) <= 1  # float32 may turn one that lies on the border
    assert ours.majority == pytest.approx(max(labels[test].mean(), 1 - labels[test].mean()))
    assert ours.accuracy[0] > ours.majority + 0.1
    # A label that is not in the vectors is not found.
    dealt = np.random.default_rng(0).permutation([item.label for item in items])
    shuffled = [replace(item, label=label) for item, label in zip(items, dealt, strict=True)]
    result = probe_task(vowels, shuffled, vectors, seed=0)
    assert max(result.accuracy) < result.majority + 0.15


def test_a_sentence_is_in_one_part_only(vowels):
    together = tuple(i // 3 for i in range(60))  # sentences that belong together stay so, too
    for given, key, size in (((), range(60), 20), ((together,), together, round(20 / 3))):
        test = split(vowels.items, np.random.default_rng(0), *given)
        held, kept = ({key[vowels.items[i].sentence] for i in np.flatnonzero(part)} for part in (test, ~test))
        assert not held & kept and len(held) == size


def test_the_control_gives_every_type_one_label():
    types = [("the",), ("dog",), ("the",), ("cat",)] * 60
    drawn = probes.labels_by_type(types, np.array([0, 1, 0, 1] * 60), np.random.default_rng(1))
    assert len(set(zip(types, drawn, strict=True))) == 3
    kinds, labels = [(str(i),) for i in range(4000)], np.array([0] * 3000 + [1] * 1000)
    many = probes.labels_by_type(kinds, labels, np.random.default_rng(0))
    assert many.mean() == pytest.approx(0.25, abs=0.03)


def test_the_words_of_a_pair_stand_side_by_side_or_are_multiplied(loaded, vowels):
    pairs = tuple(ProbeItem(i, (2, 0), "x") for i in range(20))
    singles = tuple(ProbeItem(i, (j,), "x") for i in range(20) for j in (2, 0))
    both, _ = item_vectors(*loaded, ProbeTask("p", "syntax", vowels.sentences, pairs))
    one, _ = item_vectors(*loaded, ProbeTask("s", "syntax", vowels.sentences, singles))
    assert both.shape == (3, 20, 64)
    np.testing.assert_allclose(both.reshape(3, 40, 32), one, atol=1e-6)
    matched, kept = item_vectors(*loaded, ProbeTask("p", "meaning", vowels.sentences, pairs, matched=True))
    assert matched.shape == (3, 20, 32) and len(kept) == 20
    a, b = (half / np.linalg.norm(half, axis=-1, keepdims=True) for half in np.split(both, 2, axis=-1))
    np.testing.assert_allclose(matched, a * b, atol=1e-6)


def test_a_run_tells_all_and_repeats(small_checkpoint, vowels):
    tasks = usable([vowels, length(vowels.sentences + (("a",) * 9,) * 30)], 500)
    events, again = ([event.as_dict() for event in probe_layers(small_checkpoint, tasks, seeds=2)] for _ in "ab")
    assert [event["event"] for event in events] == ["started", *["probed"] * 4, "done"]
    assert [event["progress"] for event in events[1:-1]] == [0.25, 0.5, 0.75, 1.0]
    assert again[1:-1] == events[1:-1]
    found = gathered(events)
    assert [(result.name, result.accuracy.shape) for result in found] == [("vowels", (2, 3)), ("length", (2, 3))]
    assert found[1].control is None
    np.testing.assert_allclose(found[0].selectivity, found[0].accuracy - found[0].control)


def test_random_weights_have_the_shape_and_nothing_else(loaded):
    copy, again = (probes.untrained_copy(loaded[0], seed=1) for _ in range(2))
    one, other, known = (model.blocks[0].attn.query.weight for model in (copy, again, loaded[0].bert))
    assert torch.equal(one, other) and one.shape == known.shape and not torch.equal(one, known)
    config = BertConfig.preset("tiny", vocab_size=50)
    assert probes.untrained_copy(BertForIntentAndEntities(config, {"intents": ["x"], "tags": ["O"]})).config == config


def ordered(**layers: list[int]):
    """What is said of kinds that settle at these layers, a seed each."""
    same = {"event": "probed", "unit": "sentence", "labels": 2, "majority": 0.5, "control": None, "test": 100}
    events = [
        {**same, "task": kind, "kind": kind, "seed": seed, "accuracy": [0.5] * layer + [0.9] * (6 - layer)}
        for kind, seeds in layers.items()
        for seed, layer in enumerate(seeds)
    ]
    return order_of_kinds(gathered(events))


def test_a_task_settles_at_a_layer_and_the_verdict_follows_from_the_layers():
    assert (probes.settled_layer([0.5, 0.79, 0.8, 0.7]), probes.settled_layer([0.5, 0.5, 0.5])) == (1, 0)
    assert (probes.expected_layer([0.5, 0.5, 0.9]), probes.expected_layer([0.9, 0.8])) == (2.0, 0.0)
    assert probes.expected_layer([0.5, 0.7, 0.6, 0.9]) == pytest.approx((1 * 0.2 + 3 * 0.2) / 0.4)
    assert ordered(surface=[0, 0], syntax=[2, 2], meaning=[4, 4]).verdict == "same"
    assert ordered(surface=[3, 3], syntax=[2, 2], meaning=[4, 4]).verdict == "other"
    assert ordered(surface=[1, 1], syntax=[1, 1], meaning=[4, 4]).verdict == "unclear"
    wide = ordered(surface=[0, 4], syntax=[3, 3], meaning=[5, 5])
    assert (wide.verdict, wide.layers["surface"]) == ("unclear", 2.0)
    with pytest.raises(ValueError, match="two kinds"):
        ordered(syntax=[1])


@pytest.mark.parametrize(("best", "test", "above"), [(0.62, 78, False), (0.62, 1000, True), (0.5, 1000, False)])
def test_a_result_that_chance_would_give_is_none(best, test, above):
    about = {"event": "probed", "task": "x", "kind": "meaning", "unit": "pair", "labels": 2, "control": None, "seed": 0}
    (result,) = gathered([about | {"majority": 0.56, "accuracy": [0.5, best], "test": test}])
    assert result.above_chance == above


def test_the_toy_world_tells_the_truth():
    told = stories(30, seed=0)
    tasks = {task.name: task for task in toy_probe_tasks(told)}
    assert set(tasks) == {"length", "pos", "chunk", "number", "tense", "relation", "order", "coreference"}
    for item in tasks["relation"].items:
        word = told[item.sentence].words[item.places[0]]
        assert (word.head, word.relation) == (item.places[1], item.label)
    for item in tasks["coreference"].items:
        pronoun, name = (told[item.sentence].words[place] for place in item.places)
        assert pronoun.pos == "PRON"
        assert (item.label == "same person") == (item.places[1] in pronoun.determined_by)
        assert name.pos == "PROPN" or item.label == "same person"
    assert {item.label for item in tasks["tense"].items} == {"past", "pres"}


def test_every_second_sentence_is_out_of_order():
    written = [tuple(f"w{i}x{j}" for j in range(6)) for i in range(200)]
    task = order(written)
    for item in task.items:
        before, now = written[item.sentence], task.sentences[item.sentence]
        assert sorted(before) == sorted(now)
        assert sum(a != b for a, b in zip(before, now, strict=True)) == (2 if item.label == "swapped" else 0)
    assert 60 < sum(item.label == "swapped" for item in task.items) < 140
    assert order([("a", "b"), ("x",) * 9]).items == ()
    lengths = length([("w",) * n for n in range(4, 24)])  # four groups of five
    assert [item.label for item in lengths.items] == [str(n // 5) for n in range(20)]


def test_columns_become_tasks():
    first = b"Jordan NNP I-NP I-PER\nmoved VBD I-VP O\nhouses NNS I-NP O\n\n"
    sentences = read_columns(b"-DOCSTART- -X- O O\n\n" + first + b"She PRP I-NP O\nruns VBZ I-VP O\n", "x")
    made = probe_tasks.conll_tasks(sentences)
    tasks = {task.name: [(item.sentence, *item.places, item.label) for item in task.items] for task in made}
    assert tasks["tense"] == [(0, 1, "past"), (1, 1, "present")]
    assert tasks["number"] == [(0, 2, "plural")]
    assert tasks["names"] == [(0, 0, "PER")]
    assert tasks["chunk"][0] == (0, 0, "B-NP")
    assert tasks["relation"] == [(0, 0, 1, "nsubj"), (0, 2, 1, "dobj"), (1, 0, 1, "nsubj")]  # dependent, head
    named = [task.name for task in probe_tasks.column_tasks(sentences)]
    assert named == ["length", "column 2", "column 3", "column 4", "order"]
    for wrong, said in ((b"a b\nc\n", "line 2"), (b"a\n", "at least 2")):
        with pytest.raises(TaskDataError, match=said):
            read_columns(wrong, "x")


def test_each_candidate_of_a_pronoun_is_asked_about():
    words = ("The", "stone", "broke", "the", "window", "because", "it", "was", "heavy")
    meant = [Pronoun(words, 6, 1, (4,), "meaning"), Pronoun((*words[:-1], "thin"), 6, 4, (1,), "meaning")]
    form = Pronoun(("Anna", "saw", "Tom", "as", "he", "left"), 4, 2, (0,), "form")
    task = probe_tasks.coreference([*meant, form])
    assert [(item.sentence, item.places, item.label) for item in task.items] == [
        (0, (6, 1), "antecedent"),
        (0, (6, 4), "other"),
        (1, (6, 1), "other"),
        (1, (6, 4), "antecedent"),
        (2, (4, 0), "other"),
        (2, (4, 2), "antecedent"),
    ]
    assert task.together == (0, 0, 1) and task.matched and task.unit == "pair"


def test_characters_know_where_words_begin_and_too_little_is_left_out():
    made = probe_tasks.name_tasks([[tuple("我喜欢苹果"), ("O",) * 5]])
    (task,) = [task for task in made if task.name == "segmentation"]
    assert [item.label for item in task.items] == ["begins", "begins", "goes on", "begins", "goes on"]
    rare = topic([("some words", "a")] * 30 + [("other words", "b")] * 3)
    assert usable([rare], 100) == []
    kept = topic([("some words", "a")] * 30 + [("other words", "b")] * 30).most(40)
    assert (len(kept.sentences), len(kept.items)) == (40, 40)
