"""RoBERTa, SpanBERT, MacBERT, ERNIE: their rows and losses by hand from the papers' formulas, and what falls by how
often it falls."""

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from minibert.masking.similar_words import SimilarWords
from minibert.masking.units import draw_runs, draw_units, entity_units, phrase_units, word_units
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking
from minibert.relatives import build, objective_for
from minibert.relatives.ernie import ErnieConfig
from minibert.relatives.macbert import LENGTHS, SHARES, MlmAsCorrection
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.relatives.parts.span_boundary import LONGEST, SpanLm, Spans, boundaries, draw_spans, length_shares
from minibert.relatives.roberta import RobertaConfig
from minibert.relatives.spanbert import SpanBertConfig
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.text.word_lists import between_phrases, names_in
from minibert.tokenizer import Tokenizer
from tests.minibert.relatives.their_heads import rows
from tests.minibert.relatives.toy_world import TOKENIZER, stream

SIZES = {"vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 70}
SIZES |= {"max_position_embeddings": 24, "initializer_range": 0.2}


def texts_of(batch: Batch) -> torch.Tensor:
    """The rows with nothing hidden."""
    return torch.where(batch.labels != IGNORE, batch.labels, batch.ids)


def test_a_roberta_has_no_positions_up_to_its_paddings_number():
    model = build(RobertaConfig(**SIZES), MaskedLm).eval()
    assert model.config.longest == 22 == model(Batch(torch.full((1, 22), 5))).mlm_logits.size(1)
    with pytest.raises(ValueError, match="23 tokens, but there are only 22 positions"):
        model(Batch(torch.full((1, 23), 5)))


def test_full_sentences_are_read_whatever_rows_are_asked_for():
    objective = objective_for(RobertaConfig(**SIZES), masking=Masking(static=True))
    batches = list(stream(objective, 30, max_length=40, epochs=1))
    assert not objective.static and all(batch.next_labels is None for batch in batches)
    assert not any(batch.segments.any() for batch in batches)
    inner = [(row[1:-1] == TOKENIZER.sep_id).any() for batch in batches for row in batch.ids]
    assert any(inner)  # a row goes on into the next document
    spans = stream(objective_for(SpanBertConfig(**SIZES)), 30, max_length=400, epochs=1)
    one = [(row == TOKENIZER.sep_id).sum() == 1 for batch in spans for row in batch.ids]
    assert len(one) == 30 and all(one)  # rows of one document


# --- ERNIE -----------------------------------------------------------------------------------------------------------


def told(ids: list[int], units) -> str:
    return " | ".join(" ".join(TOKENIZER.vocab[i] for i in ids[a:b]) for a, b in units)


def stands_between(row, unit) -> bool:
    return tuple(row[unit[0] : unit[1]]) in between_phrases(TOKENIZER)


def test_phrases_and_entities_of_a_row():
    encoding = TOKENIZER.encode("felix was an eager boy. nora gave the blue box to lucy near the museum.")
    ids = encoding.ids
    words = word_units([piece.startswith("##") for piece in encoding.tokens], encoding.special)
    assert told(ids, phrase_units(words, partial(stands_between, ids))) == (
        "felix | was | an | eager boy | . | nora gave | the | blue box | to | lucy | near | the | museum | ."
    )
    assert told(ids, entity_units(ids, words, names_in(TOKENIZER))) == (
        "felix | was | an | eager | boy | . | nora | gave | the | blue | box | to | lucy | near | the museum | ."
    )
    assert phrase_units([(n, n + 1) for n in range(9)], lambda unit: False) == [(0, 4), (4, 8), (8, 9)]


def test_stages_follow_each_other_and_come_back_at_the_same_place():
    objective = objective_for(
        ErnieConfig(**{**SIZES, "vocab_size": TOKENIZER.vocab_size}), phrases_from=2, entities_from=4
    )
    assert [objective.after(n).stage for n in range(6)] == ["piece", "piece", "phrase", "phrase", "entity", "entity"]
    going, batches, places = stream(objective), [], []
    for batch in islice(going, 7):
        batches.append(batch)
        places.append(going.position)
    assert [place.given for place in places] == list(range(1, 8))
    for number in (1, 3, 5):
        again = next(iter(stream(objective, position=places[number])))
        assert torch.equal(again.ids, batches[number + 1].ids) and torch.equal(again.labels, batches[number + 1].labels)
    for number, names in ((2, None), (5, names_in(TOKENIZER))):  # whole or not at all
        batch, not_words = batches[number], (TOKENIZER.cls_id, TOKENIZER.sep_id, TOKENIZER.pad_id)
        for row, labels in zip(texts_of(batch).tolist(), batch.labels.tolist(), strict=True):
            words = word_units([False] * len(row), [i in not_words for i in row])
            units = entity_units(row, words, names) if names else phrase_units(words, partial(stands_between, row))
            for start, end in units:
                assert len({label == IGNORE for label in labels[start:end]}) == 1


# --- what falls together ---------------------------------------------------------------------------------------------


def test_words_are_pieces_that_go_on():
    goes_on = [False, False, True, True, False, True, False]
    special = [True, False, False, False, True, False, True]
    assert word_units(goes_on, special) == [(1, 4), (5, 6)]


def test_units_are_drawn_whole_and_within_the_budget():
    for seed in range(20):
        rng = random.Random(seed)
        borders = [0, *itertools.accumulate(rng.randint(1, 5) for _ in range(15))]
        units = list(itertools.pairwise(borders))
        taken = draw_units(units, 9, rng)
        left = 9 - sum(b - a for a, b in taken)
        assert set(taken) <= set(units) and left >= 0 and taken == sorted(taken)
        assert all(b - a > left for a, b in set(units) - set(taken))  # nothing more would have fitted
        assert draw_units([(0, 7), (7, 12)], 3, rng) == [(7, 12)]  # something is asked


def test_runs_are_neighbouring_words():
    words = [(n, n + 1) for n in range(30) if n != 10]  # a special token at 10
    for seed in range(20):
        rng = random.Random(seed)
        found = draw_runs(words, 12, lambda rng=rng: rng.randint(1, 6), rng)
        flat = [word for run in found for word in run]
        assert len(flat) == len(set(flat)) == 12
        for run in found:
            assert all(a[1] == b[0] for a, b in itertools.pairwise(run)) and len(run) <= 6


def test_lengths_of_spans_are_the_papers():
    shares = length_shares()
    assert len(shares) == LONGEST == 10 and sum(shares) == pytest.approx(1)
    assert sum(n * share for n, share in enumerate(shares, 1)) == pytest.approx(3.8, abs=0.05)
    assert [b / a for a, b in itertools.pairwise(shares)] == pytest.approx([0.8] * 9)
    rng, words = random.Random(0), [(n, n + 1) for n in range(2_000)]
    spans = [end - start for _ in range(50) for start, end in draw_spans(words, 300, rng)]
    assert 3.5 < np.mean(spans) < 4.6  # some meet and are one


def test_lengths_of_ngrams_are_the_papers():
    rng, words = random.Random(1), [(n, n + 1) for n in range(5_000)]
    seen = Counter(
        len(run) for _ in range(9) for run in draw_runs(words, 300, lambda: rng.choices(LENGTHS, SHARES)[0], rng)
    )
    for n, share in zip(LENGTHS, SHARES, strict=True):  # some runs end at others
        assert seen[n] / seen.total() == pytest.approx(share, abs=0.08)


def test_a_span_falls_as_one():
    fates = Counter()
    for batch in islice(stream(Spans(), 80, batch_size=16, max_length=64), 50):
        text = texts_of(batch)
        for row, was, labels in zip(batch.ids.tolist(), text.tolist(), batch.labels.tolist(), strict=True):
            starts = [n for n in range(1, len(row)) if labels[n] != IGNORE and labels[n - 1] == IGNORE]
            for start in starts:
                end = labels.index(IGNORE, start)
                masked = row[start:end] == [TOKENIZER.mask_id] * (end - start)
                kept = [row[n] == was[n] for n in range(start, end)]
                assert masked or all(kept) or sum(kept) <= 1  # a random one may be the right one
                fates["mask" if masked else "kept" if all(kept) else "random"] += 1
        budget = (~((text == TOKENIZER.cls_id) | (text == TOKENIZER.sep_id) | (text == 0))).sum(1) * 0.15
        assert ((batch.labels != IGNORE).sum(1) - budget).abs().max() <= 1
    assert fates.total() > 1_000
    shares = [fates[name] / fates.total() for name in ("mask", "random", "kept")]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.03)


# --- SpanBERT's boundaries, by hand ----------------------------------------------------------------------------------


def test_boundaries_of_spans():
    labels = torch.full((2, 9), IGNORE)
    labels[0, 2:5] = 7
    labels[0, 6] = 8
    labels[1, 7] = 9
    left, right, place = boundaries(labels)
    assert left.tolist() == [[0, 1], [0, 1], [0, 1], [0, 5], [1, 6]]
    assert right.tolist() == [[0, 5], [0, 5], [0, 5], [0, 7], [1, 8]]
    assert place.tolist() == [0, 1, 2, 0, 0]


@torch.no_grad()
def test_the_boundary_objective_by_hand():
    """y_i = f(x_{s−1}, x_{e+1}, p_{i−s+1}) with two layers LN(GELU(W·h + b)), and the MLM's decoder; its mean
    cross-entropy is added to the MLM's (§3.2 and §3.3)."""
    torch.manual_seed(0)
    sizes = {**SIZES, "hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 8, "num_hidden_layers": 1}
    model = build(SpanBertConfig(**sizes, span_position_size=3), SpanLm).double().eval()
    for weight in model.parameters():
        weight.copy_(torch.randn_like(weight))
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])
    labels = torch.tensor([[IGNORE, IGNORE, 20, 21, IGNORE, 22, IGNORE]])
    out, x, head, decoder = model(Batch(ids, labels=labels)), model.bert(Batch(ids))[0][0], model.sbo, model.mlm.decoder
    by_hand = []
    for s, e, i in ((2, 3, 2), (2, 3, 3), (5, 5, 5)):
        h = torch.cat([x[s - 1], x[e + 1], head.position.weight[i - s]])
        for layer, norm in ((head.first, head.first_norm), (head.second, head.second_norm)):
            z = layer.weight @ h + layer.bias
            z = z * 0.5 * (1 + torch.erf(z / 2**0.5))
            spread = (((z - z.mean()) ** 2).mean() + norm.eps) ** 0.5
            h = (z - z.mean()) / spread * norm.weight + norm.bias
        by_hand.append(decoder.weight @ h + decoder.bias)
    by_hand = torch.stack(by_hand)
    assert torch.allclose(out.sbo_logits, by_hand, atol=1e-9)
    assert out.sbo_loss.item() == pytest.approx(F.cross_entropy(by_hand, torch.tensor([20, 21, 22])).item(), abs=1e-6)
    assert out.loss.item() == pytest.approx((out.mlm_loss + out.sbo_loss).item())


def test_without_its_boundaries_they_are_not_asked():
    config, (batch, _) = SpanBertConfig(**SIZES), rows()
    labels = torch.full_like(batch.ids, IGNORE)
    labels[0, 3:5] = 7
    objective, batch = objective_for(config, boundary=False), replace(batch, labels=labels)
    assert objective.target_counts(batch) == {"mlm": 2}
    assert set(objective.prediction_stats(build(config, objective.model)(batch), batch)) == {"mlm"}


# --- MacBERT ---------------------------------------------------------------------------------------------------------


def test_similar_words_are_the_nearest_of_as_many_pieces():
    vectors = np.array([[0, 0], [1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9], [-1, 0]], dtype=np.float32)
    similar = SimilarWords(vectors, [(1,), (2,), (3,), (4,), (5,), (1, 2), (2, 1), (0,)])
    assert similar.of((1,)) == [(2,)] and similar.of((3,)) == [(4,)]
    assert similar.of((5,)) == [] and similar.of((0,)) == []  # none near it; no vector
    assert similar.of((1, 2)) == [(2, 1)] and similar.of((1, 2, 3)) == []
    assert similar.draw((5,), random.Random(0)) is None


def test_a_similar_word_stands_where_bert_has_a_mask():
    batches = stream(MlmAsCorrection(second=None), 80, batch_size=16, max_length=64, input_format="doc_sentences")
    fates = Counter()
    for batch in islice(batches, 44):
        asked = batch.labels != IGNORE
        assert not (batch.ids[asked] == TOKENIZER.mask_id).sum() > 3  # a random one may be
        for now, was in zip(batch.ids[asked].tolist(), batch.labels[asked].tolist(), strict=True):
            near = [word[0] for word in batches.vocab.similar.of((was,))]
            fates["kept" if now == was else "similar" if now in near else "random" if near else "none"] += 1
    assert fates["similar"] / (fates.total() - fates["none"]) == pytest.approx(0.8, abs=0.06)
    assert fates["kept"] / fates.total() == pytest.approx(0.1, abs=0.04)


def test_it_is_not_said_to_fill_masks():
    assert MlmAsCorrection().name == "mac+sop" and MlmAsCorrection(second=None).name == "mac"
    assert MlmAsCorrection(similar=False).name == "mlm+sop"
    assert MlmAsCorrection().model is BertForPreTraining


def test_chinese_words_fall_whole_and_are_replaced_by_words():
    tokenizer = Tokenizer.from_directory("checkpoints/mini-zh")
    texts = [
        ["我们在北京大学学习语言模型。", "他们在清华大学学习自然语言。"],
        ["上海的天气很好，北京的天气不好。", "今天的天气怎么样？"],
    ]
    store = TokenStore.build(texts * 8, tokenizer, words="jieba")
    objective = MlmAsCorrection(masking=Masking(rate=0.4), second=None)
    settings = {"batch_size": 8, "max_length": 64, "seed": 0, "input_format": "doc_sentences", "epochs": 1}
    batch = next(iter(PretrainingBatches(store, tokenizer, objective=objective, **settings)))
    whole = 0
    for row, labels in zip(texts_of(batch).tolist(), batch.labels.tolist(), strict=True):
        tokens = [tokenizer.vocab[i] for i in row]
        for n in range(len(row) - 1):
            if tokens[n : n + 2] == ["天", "气"]:
                assert (labels[n] == IGNORE) == (labels[n + 1] == IGNORE)
                whole += labels[n] != IGNORE
    assert whole
