"""Every figure that is given a reader's words draws them as words: none becomes markup, whatever it is.
Nothing that a figure sets is smaller than the back row reads."""

import json
import re

import numpy as np
import pytest

from minibert.finetune.layer_choice import reading
from plots import (
    answers,
    attention,
    attribution,
    cone,
    confusion,
    dialogue,
    embeddings,
    encoder_decoder,
    features,
    few_labels,
    finetuning,
    head_kinds,
    knowledge,
    masking,
    next_sentence,
    nezha,
    over_layers,
    pretraining,
    recurrent,
    sentence_vectors,
    smaller,
    to_write,
    tokenization,
    visibility,
    xlnet,
)
from plots import attention_experiments as experiments
from plots.attention import literal
from plots.theme import SMALL, apply
from tests.hostile import HOSTILE

TEXTS = list(HOSTILE.values())
N = len(TEXTS)
EVIL = HOSTILE["script"] + HOSTILE["markup"]
ONES, SHARES, SQUARE = np.ones(N), np.linspace(0.05, 0.95, N), np.linspace(0, 1, N * N).reshape(N, N)
PAIRS = [(float(i), float(i % 3)) for i in range(N)]
AXES = ("across", "up")
EACH = dict(zip(TEXTS, SHARES, strict=True))
RUNS = {text: [(0, 0.1), (1, 0.2)] for text in TEXTS}  # step, value
MARKS = {text: [(0, {"found": 0.1, "nats": 2, "nats_learned": 1, "alignment": 1, "uniformity": -1})] for text in TEXTS}
BLANK = masking.Blank(EVIL, TEXTS, SHARES, {0: EVIL}, {1: "true"})
FATES = dict.fromkeys(masking.FATE_COLOURS, EVIL)
LINES = [over_layers.Line(text, [0.1, 0.2]) for text in TEXTS]
STARTS = {"pretrained": "as it is", "random": "anew"}
SAID = [finetuning.Said(text, "random", [(0, EVIL, 0.5), (1, "no", 0.6)]) for text in TEXTS]
HISTORY = {"event": "step", "loss": 1.0, "parts": {}}
HISTORY |= dict.fromkeys(("step", "seconds", "tokens", "tokens_per_second", "lr"), 1.0)

FIGURES = {
    "answers.probability_bars": lambda: answers.probability_bars(
        TEXTS, SHARES, {1}, thresholds=ONES / 2, threshold_name=EVIL
    ),
    "answers.similarity_scale": lambda: answers.similarity_scale(2.0, 0.0, 5.0, (EVIL, "same"), 4.0),
    "answers.span_probabilities": lambda: answers.span_probabilities(TEXTS, SHARES, SHARES, (2, 9), AXES),
    "answers.similarity_scatter": lambda: answers.similarity_scatter(SHARES, ONES, TEXTS, [1, 7, 8], AXES, 5.0),
    "answers.label_scores": lambda: answers.label_scores(
        {text: {"f1": 0.5, "threshold": 0.7, "count": 3.0} for text in TEXTS}, "n = {n}", "F1"
    ),
    "answers.outcome_bars": lambda: answers.outcome_bars({text: {"right": 2} for text in TEXTS}, {"right": EVIL}, "n"),
    "answers.sureness": lambda: answers.sureness([0.4], [0.3], (EVIL, EVIL), AXES),
    "attention.attention_matrix": lambda: attention.attention_matrix(TEXTS, SQUARE, selected=(7, 8)),
    "attention.vectors": lambda: attention.vectors(TEXTS, {"Q": SQUARE, "K": SQUARE}, selected=(1, 7, 3)),
    "attention.dot_product": lambda: attention.dot_product(SHARES, ONES, (EVIL, EVIL, EVIL)),
    "attention.token_bars": lambda: attention.token_bars(TEXTS, SHARES, TEXTS, selected=7),
    "attention.all_heads": lambda: attention.all_heads(SQUARE[None, None], selected=(0, 0)),
    "attention.compared_words": lambda: attention.compared_words(TEXTS, SHARES, ONES, (EVIL, "b")),
    "attention_experiments.curves": lambda: experiments.curves(
        [1, 2], {text: [1, 2] for text in TEXTS}, xaxis="T", yaxis="y", here=2, marks={2: "T=H"}
    ),
    "attention_experiments.order_differences": lambda: experiments.order_differences(TEXTS, ONES, SHARES, AXES),
    "attention_experiments.paths": lambda: experiments.paths(TEXTS, 7, 9, AXES),
    "attention_experiments.schedule": lambda: experiments.schedule(TEXTS, AXES, "step"),
    "attention_experiments.weight_and_effect": lambda: experiments.weight_and_effect(
        TEXTS, SHARES, ONES, axes=AXES, marked={7: TEXTS[7]}
    ),
    "attribution.word_grid": lambda: attribution.word_grid(TEXTS, {"a": SHARES, "b": ONES}, {"a": "a", "b": "b"}),
    "cone.clouds": lambda: cone.clouds([cone.Cloud(EVIL, SQUARE[:, :2], 0.5, 0.2)], TEXTS, EVIL, AXES),
    "cone.over_dimensions": lambda: cone.over_dimensions(
        {text: [0.2, 0.4] for text in TEXTS}, EACH, [8, 256], EVIL, AXES, "before"
    ),
    "cone.likelihoods": lambda: cone.likelihoods(RUNS, EVIL, AXES),
    "confusion.confusion": lambda: confusion.confusion(SQUARE.astype(int).tolist(), [literal(t) for t in TEXTS], AXES),
    "dialogue.intents": lambda: dialogue.intents(TEXTS, SHARES, "confidence", EVIL),
    "dialogue.tag_path": lambda: dialogue.tag_path(TEXTS, TEXTS, SQUARE, list(range(N)), EVIL),
    "dialogue.step_matrix": lambda: dialogue.step_matrix(TEXTS, SQUARE, AXES, EVIL),
    "dialogue.over_seconds": lambda: dialogue.over_seconds(RUNS, AXES, EVIL),
    "dialogue.share_matrix": lambda: dialogue.share_matrix(TEXTS, SQUARE, EVIL),
    "embeddings.side_by_side": lambda: embeddings.side_by_side(
        [PAIRS, PAIRS], ["0", "1"], [EVIL, "yours"], [0] * (N - 1) + [1], TEXTS, own=1
    ),
    "encoder_decoder.block_circuit": lambda: encoder_decoder.block_circuit(TEXTS[6:13], TEXTS[6:13], 2),
    "encoder_decoder.strips": lambda: encoder_decoder.strips(dict(zip(TEXTS[6:12], SQUARE.tolist(), strict=False)), 1),
    "encoder_decoder.grid": lambda: encoder_decoder.grid(SQUARE, TEXTS, TEXTS, selected=(7, 8)),
    "encoder_decoder.mask_squares": lambda: encoder_decoder.mask_squares(
        TEXTS, {EVIL: [[encoder_decoder.SELF] * N] * N}, 7
    ),
    "encoder_decoder.next_words": lambda: encoder_decoder.next_words(TEXTS, SHARES),
    "features.stack": lambda: features.stack(
        TEXTS, reading("last", 2, 8), 2, True, {"embeddings": "e", "layer": "{n}", "read": "r", "new": "n"}, EVIL
    ),
    "features.bars": lambda: features.bars([features.Bar(text, 4.0, (3.0,)) for text in TEXTS], "F1", AXES),
    "few_labels.words_at_blank": lambda: few_labels.words_at_blank(
        [(text, 0.5, [(text, 0.1)]) for text in TEXTS], EVIL, "p", TEXTS[7]
    ),
    "finetuning.right_by_kind": lambda: finetuning.right_by_kind({"random": {t: [0.5] for t in TEXTS}}, STARTS, "p"),
    "finetuning.answers_over_time": lambda: finetuning.answers_over_time(SAID, "sure", "epoch", STARTS, "other"),
    "finetuning.answers_now": lambda: finetuning.answers_now(SAID, "sure"),
    "head_kinds.kind_scores": lambda: head_kinds.kind_scores(TEXTS, SHARES, ONES, AXES, threshold=0.4),
    "head_kinds.ranking": lambda: head_kinds.ranking(TEXTS, SHARES, ONES, "loss", selected=7),
    "head_kinds.found_words": lambda: head_kinds.found_words(
        TEXTS, [head_kinds.FoundWord(EVIL, 0.9, 0.5)] * N, [None] * N, ("a", "b", "c"), selected=1
    ),
    "knowledge.visible_matrix": lambda: knowledge.visible_matrix(TEXTS, [0] * N, [[True] * N] * N, 7, "x", EVIL),
    "knowledge.joined_vector": lambda: knowledge.joined_vector(SHARES, 3, ("word", "roles"), EVIL),
    "knowledge.translations": lambda: knowledge.translations(TEXTS, N - 1, PAIRS, PAIRS[1:], EVIL),
    "masking.mask_rows": lambda: masking.mask_rows(TEXTS, [["masked"] * N], [EVIL], names=FATES),
    "masking.expected_tokens": lambda: masking.expected_tokens([BLANK]),
    "masking.two_contexts": lambda: masking.two_contexts(
        TEXTS, np.log(SHARES), -ONES, list(range(N)), axes=(EVIL, EVIL), names=(EVIL,) * 3
    ),
    "masking.what_is_read": lambda: masking.what_is_read(0.15, (0.8, 0.1, 0.1), rows=(EVIL, EVIL), names=FATES),
    "masking.ablation": lambda: masking.ablation(TEXTS, {EVIL: SHARES.tolist()}),
    "next_sentence.judgement": lambda: next_sentence.judgement(EACH),
    "nezha.distance_strips": lambda: nezha.distance_strips(TEXTS, range(N), SQUARE, SHARES, 1, (*AXES, "along")),
    "over_layers.over_layers": lambda: over_layers.over_layers(
        [over_layers.Panel(EVIL, LINES, {EVIL: 0.5})] * 3, ["0", "1"], "layer", title=EVIL
    ),
    "over_layers.layer_words": lambda: over_layers.layer_words(
        [[(text, 0.1) for text in TEXTS]] * 2, ["0", "1"], TEXTS[7], AXES, EVIL
    ),
    "over_layers.ranks": lambda: over_layers.ranks(LINES, ["0", "1"], "layer", EVIL, 100),
    "pretraining.learning_curves": lambda: pretraining.learning_curves(
        [pretraining.History.of(text, [HISTORY]) for text in TEXTS], [pretraining.Panel("a", "loss")], "step", "steps"
    ),
    "pretraining.answers_over_steps": lambda: pretraining.answers_over_steps(
        ["0", "1"], {text: [0.1, 0.2] for text in TEXTS}, 1, AXES
    ),
    "pretraining.word_map": lambda: pretraining.word_map(TEXTS, np.array([PAIRS] * 2), 1, AXES, name_start="0"),
    "recurrent.gates": lambda: recurrent.gates(TEXTS, {"in": SHARES}, SQUARE[:2], EVIL, EVIL),
    "recurrent.left_of_words": lambda: recurrent.left_of_words(TEXTS, {"one": SHARES}, AXES, EVIL),
    "recurrent.expected_words": lambda: recurrent.expected_words(TEXTS, {"left": (SHARES, TEXTS)}, "word", EVIL),
    "sentence_vectors.cosine_matrices": lambda: sentence_vectors.cosine_matrices(
        [sentence_vectors.CosineMatrix((EVIL, "b"), SQUARE, (1, 2))], TEXTS, EVIL, "sentence"
    ),
    "sentence_vectors.agreements": lambda: sentence_vectors.agreements(
        [sentence_vectors.Agreement(text, 0.2, 0.1, 0.3, marked=True) for text in TEXTS], EVIL, "axis"
    ),
    "sentence_vectors.nearest_bars": lambda: sentence_vectors.nearest_bars(
        [sentence_vectors.Found(text, 0.9, True) for text in TEXTS], EVIL, "cosine", 100
    ),
    "sentence_vectors.plane": lambda: sentence_vectors.plane(MARKS, AXES, EVIL, "step"),
    "sentence_vectors.found_and_written": lambda: sentence_vectors.found_and_written(MARKS, AXES, AXES, EVIL, "step"),
    "smaller.tradeoff": lambda: smaller.tradeoff(
        [smaller.Point(text, 1.0 + at, 0.8, 9.0, "alone") for at, text in enumerate(TEXTS)], EVIL, AXES, "best"
    ),
    "to_write.over_steps": lambda: to_write.over_steps(RUNS, AXES),
    "tokenization.size_against_length": lambda: tokenization.size_against_length(
        {"words": (34, 900)}, [(40, 900)], here=(80, 500, "here")
    ),
    "visibility.visibility": lambda: visibility.visibility(TEXTS[4 : 4 + visibility.MAX_WORDS], 3, "GPT"),
    "xlnet.two_masks": lambda: xlnet.two_masks(TEXTS, {EVIL: SQUARE > 0.5}, [True] * N, (0, 2, 7), AXES),
    "xlnet.double_mask": lambda: xlnet.double_mask(TEXTS, np.tile(SQUARE > 0.5, (2, 2)), AXES, EVIL),
    "xlnet.looked_at": lambda: xlnet.looked_at(TEXTS, TEXTS, [*SHARES, *SHARES], 1, ("a", "b", "c"), EVIL),
}


def strings_and_sizes(node, path: str = ""):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from strings_and_sizes(value, f"{path}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from strings_and_sizes(value, path)
    elif isinstance(node, str) or path.endswith("font.size"):
        yield path, node


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_becomes_markup_and_no_type_is_small(name):
    fig = FIGURES[name]()
    for path, found in strings_and_sizes(json.loads(apply(fig).to_json())):
        if path.endswith("legendgroup"):
            continue  # a name that nobody is shown
        if isinstance(found, str):
            assert not re.search(r"<img|</script|<b>b</b>", found), (path, found[:200])
        else:
            assert found >= SMALL, path
