"""Every figure that is given a reader's words draws them as words: none becomes markup, whatever it is.
Nothing that a figure sets is smaller than the back row reads."""

import json
import re
from functools import partial

import numpy as np
import pytest

from minibert.finetune.layer_choice import layers_to_read
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

TEXTS = sorted(HOSTILE.values(), key=lambda text: "<" not in text)  # markup first: some figures draw a few of many
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
SAID = [finetuning.PredictionCurve(text, "random", [(0, EVIL, 0.5), (1, "no", 0.6)]) for text in TEXTS]
HISTORY = {"event": "step", "loss": 1.0, "parts": {}}
HISTORY |= dict.fromkeys(("step", "seconds", "tokens", "tokens_per_second", "lr"), 1.0)
HISTORIES = [pretraining.History.of(text, [HISTORY]) for text in TEXTS]
LAYERS = {"embeddings": "e", "layer": "{n}", "read": "r", "new": "n"}
MATRIX = sentence_vectors.CosineMatrix((EVIL, "b"), SQUARE, (1, 2))
AGREEMENTS = [sentence_vectors.Agreement(text, 0.2, 0.1, 0.3, marked=True) for text in TEXTS]
NETWORKS = [smaller.Point(text, 1.0 + at, 0.8, 9.0, "alone") for at, text in enumerate(TEXTS)]

FIGURES = [
    partial(answers.probability_bars, TEXTS, SHARES, {1}, thresholds=ONES / 2, threshold_name=EVIL),
    partial(answers.similarity_scale, 2.0, 0.0, 5.0, (EVIL, "same"), 4.0),
    partial(answers.span_probabilities, TEXTS, SHARES, SHARES, (2, 9), AXES),
    partial(answers.similarity_scatter, SHARES, ONES, TEXTS, [0, 1, 9], AXES, 5.0),
    partial(answers.label_scores, {t: {"f1": 0.5, "threshold": 0.7, "count": 3.0} for t in TEXTS}, "n = {n}", "F1"),
    partial(answers.outcome_bars, {text: {"right": 2} for text in TEXTS}, {"right": EVIL}, "n"),
    partial(answers.sureness, [0.4], [0.3], (EVIL, EVIL), AXES),
    partial(attention.attention_matrix, TEXTS, SQUARE, selected=(0, 1)),
    partial(attention.vectors, TEXTS, {"Q": SQUARE, "K": SQUARE}, selected=(1, 0, 3)),
    partial(attention.dot_product, SHARES, ONES, (EVIL, EVIL, EVIL)),
    partial(attention.token_bars, TEXTS, SHARES, TEXTS, selected=0),
    partial(attention.all_heads, SQUARE[None, None], selected=(0, 0)),
    partial(attention.compared_words, TEXTS, SHARES, ONES, (EVIL, "b")),
    partial(experiments.curves, [1, 2], {t: [1, 2] for t in TEXTS}, xaxis="T", yaxis="y", here=2, marks={2: "T=H"}),
    partial(experiments.order_differences, TEXTS, ONES, SHARES, AXES),
    partial(experiments.paths, TEXTS, 0, 2, AXES),
    partial(experiments.schedule, TEXTS, AXES, "step"),
    partial(experiments.weight_and_effect, TEXTS, SHARES, ONES, axes=AXES, marked={0: TEXTS[0]}),
    partial(attribution.word_grid, TEXTS, {"a": SHARES, "b": ONES}, {"a": "a", "b": "b"}),
    partial(cone.clouds, [cone.Cloud(EVIL, SQUARE[:, :2], 0.5, 0.2)], TEXTS, EVIL, AXES),
    partial(cone.over_dimensions, {text: [0.2, 0.4] for text in TEXTS}, EACH, [8, 256], EVIL, AXES, "before"),
    partial(cone.likelihoods, RUNS, EVIL, AXES),
    partial(confusion.confusion, SQUARE.astype(int).tolist(), [literal(t) for t in TEXTS], AXES),
    partial(dialogue.intents, TEXTS, SHARES, "confidence", EVIL),
    partial(dialogue.tag_path, TEXTS, TEXTS, SQUARE, list(range(N)), EVIL),
    partial(dialogue.step_matrix, TEXTS, SQUARE, AXES, EVIL),
    partial(dialogue.over_seconds, RUNS, AXES, EVIL),
    partial(dialogue.share_matrix, TEXTS, SQUARE, EVIL),
    partial(embeddings.side_by_side, [PAIRS, PAIRS], ["0", "1"], [EVIL, "yours"], [0] * (N - 1) + [1], TEXTS, own=1),
    partial(encoder_decoder.block_circuit, TEXTS[:7], TEXTS[:7], 2),
    partial(encoder_decoder.strips, dict(zip(TEXTS[:6], SQUARE.tolist(), strict=False)), 1),
    partial(encoder_decoder.grid, SQUARE, TEXTS, TEXTS, selected=(0, 1)),
    partial(encoder_decoder.mask_squares, TEXTS, {EVIL: [[encoder_decoder.SELF] * N] * N}, 0),
    partial(encoder_decoder.next_words, TEXTS, SHARES),
    partial(features.stack, TEXTS, layers_to_read("last", 2, 8), 2, True, LAYERS, EVIL),
    partial(features.bars, [features.RunScore(text, 4.0, (3.0,)) for text in TEXTS], "F1", AXES),
    partial(few_labels.words_at_blank, [(text, 0.5, [(text, 0.1)]) for text in TEXTS], EVIL, "p", TEXTS[0]),
    partial(finetuning.right_by_kind, {"random": {t: [0.5] for t in TEXTS}}, STARTS, "p"),
    partial(finetuning.answers_over_time, SAID, "sure", "epoch", STARTS, "other"),
    partial(finetuning.answers_now, SAID, "sure"),
    partial(head_kinds.kind_scores, TEXTS, SHARES, ONES, AXES, threshold=0.4),
    partial(head_kinds.ranking, TEXTS, SHARES, ONES, "loss", selected=0),
    partial(head_kinds.found_words, TEXTS, [head_kinds.FoundWord(EVIL, 0.9, 0.5)] * N, [None] * N, "abc", selected=1),
    partial(knowledge.visible_matrix, TEXTS, [0] * N, [[True] * N] * N, 0, EVIL),
    partial(knowledge.joined_vector, SHARES, 3, ("word", "roles"), EVIL),
    partial(knowledge.translations, TEXTS, N - 1, PAIRS, PAIRS[1:], EVIL),
    partial(masking.mask_rows, TEXTS, [["masked"] * N], [EVIL], names=FATES),
    partial(masking.expected_tokens, [BLANK]),
    partial(masking.two_contexts, TEXTS, np.log(SHARES), -ONES, list(range(N)), axes=(EVIL, EVIL), names=(EVIL,) * 3),
    partial(masking.what_is_read, 0.15, (0.8, 0.1, 0.1), rows=(EVIL, EVIL), names=FATES),
    partial(masking.ablation, TEXTS, {EVIL: SHARES.tolist()}),
    partial(next_sentence.judgement, EACH),
    partial(nezha.distance_strips, TEXTS, range(N), SQUARE, SHARES, 1, (*AXES, "along")),
    partial(over_layers.over_layers, [over_layers.Panel(EVIL, LINES, {EVIL: 0.5})] * 3, "01", "layer", title=EVIL),
    partial(over_layers.layer_words, [[(text, 0.1) for text in TEXTS]] * 2, ["0", "1"], TEXTS[0], AXES, EVIL),
    partial(over_layers.ranks, LINES, ["0", "1"], "layer", EVIL, 100),
    partial(pretraining.learning_curves, HISTORIES, [pretraining.CurvePanel("a", "loss")], "step", "steps"),
    partial(pretraining.answers_over_steps, ["0", "1"], {text: [0.1, 0.2] for text in TEXTS}, 1, AXES),
    partial(pretraining.word_map, TEXTS, np.array([PAIRS] * 2), 1, AXES, name_start="0"),
    partial(recurrent.gates, TEXTS, {"in": SHARES}, SQUARE[:2], EVIL, EVIL),
    partial(recurrent.left_of_words, TEXTS, {EVIL: SHARES}, AXES, EVIL),
    partial(recurrent.expected_words, TEXTS, {"left": (SHARES, TEXTS)}, "word", EVIL),
    partial(sentence_vectors.cosine_matrix_of, MATRIX, TEXTS, "sentence"),
    partial(sentence_vectors.agreements, AGREEMENTS, EVIL, "axis"),
    partial(sentence_vectors.nearest_bars, [sentence_vectors.SearchHit(t, 0.9, True) for t in TEXTS], EVIL, "cosine"),
    partial(sentence_vectors.plane, MARKS, AXES, EVIL, "step"),
    partial(sentence_vectors.found_and_written, MARKS, AXES, AXES, EVIL, "step"),
    partial(smaller.tradeoff, NETWORKS, EVIL, AXES, "best"),
    partial(to_write.over_steps, RUNS, AXES),
    partial(tokenization.size_against_length, {"words": (34, 900)}, [(40, 900)], here=(80, 500, "here")),
    partial(visibility.visibility, TEXTS[: visibility.MAX_WORDS], 3, "GPT"),
    partial(xlnet.two_masks, TEXTS, {EVIL: SQUARE > 0.5}, [True] * N, (0, 2, 0), AXES),
    partial(xlnet.double_mask, TEXTS, np.tile(SQUARE > 0.5, (2, 2)), AXES, EVIL),
    partial(xlnet.looked_at, TEXTS, TEXTS, [*SHARES, *SHARES], 1, ("a", "b", "c"), EVIL),
]


def strings_and_sizes(node, path: str = ""):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from strings_and_sizes(value, f"{path}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from strings_and_sizes(value, path)
    elif isinstance(node, str) or path.endswith("font.size"):
        yield path, node


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: f"{draw.func.__module__}.{draw.func.__name__}")
def test_no_text_becomes_markup_and_no_type_is_small(draw):
    for path, found in strings_and_sizes(json.loads(apply(draw()).to_json())):
        if path.endswith("legendgroup"):
            continue  # a name that nobody is shown
        if isinstance(found, str):
            assert not re.search(r"<img|</script|<b>b</b>", found), (path, found[:200])
        else:
            assert found >= SMALL, path
