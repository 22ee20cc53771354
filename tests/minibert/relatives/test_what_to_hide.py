"""RoBERTa, SpanBERT, MacBERT, ERNIE: against transformers where it has them, else by hand from the papers' formulas,
and what falls by how often it falls."""

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import transformers

from minibert import checkpoint
from minibert.corruption import MaskVocabulary
from minibert.heads import BertForSequenceClassification
from minibert.hiding import drawn, entities_of, phrases_of, runs, words_of
from minibert.masked_lm import MaskedLm
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import Masking, objective_for
from minibert.relatives.ernie import ErnieConfig, KnowledgeMasking
from minibert.relatives.macbert import Correction, MacBertConfig
from minibert.relatives.roberta import RobertaConfig
from minibert.relatives.spanbert import SpanBertConfig
from minibert.similar_words import SimilarWords
from minibert.spans import LONGEST, SpanLm, Spans, boundaries, draw_spans, length_shares
from minibert.text.batches import PretrainingBatches
from minibert.text.store import TokenStore
from minibert.text.word_lists import between_phrases, names_in
from minibert.tokenizer import Tokenizer
from minibert.toy.world import documents, vocabulary

SIZES = {"vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 70}
SIZES |= {"max_position_embeddings": 24, "initializer_range": 0.2}
TOKENIZER = Tokenizer(vocabulary())
NEVER = torch.tensor(False)


def rows() -> tuple[Batch, dict]:
    rng = torch.Generator().manual_seed(1)
    padding = torch.arange(17) < torch.tensor([[17], [11], [2]])
    ids = torch.randint(2, 61, (3, 17), generator=rng).masked_fill(~padding, 1)
    return Batch(ids, padding=padding), {"input_ids": ids, "attention_mask": padding.long()}


# --- RoBERTa: transformers' ------------------------------------------------------------------------------------------


def assert_same(ours: BertForPreTraining, theirs) -> None:
    batch, inputs = rows()
    with torch.no_grad():
        a, b = ours.eval()(batch), theirs.eval()(**inputs)
    assert (a.mlm_logits - b.logits)[batch.padding].abs().max() < 1e-4


def test_their_roberta_in_ours(tmp_path):
    torch.manual_seed(0)
    theirs = transformers.RobertaForMaskedLM(transformers.RobertaConfig(**SIZES, type_vocab_size=1))
    theirs.save_pretrained(tmp_path)
    ours = checkpoint.load(tmp_path)
    assert isinstance(ours, MaskedLm) and ours.config.pad_token_id == 1
    assert_same(ours, theirs)


def test_our_roberta_in_theirs(tmp_path):
    torch.manual_seed(0)
    ours = MaskedLm(RobertaConfig(**SIZES))
    checkpoint.save(tmp_path, ours)
    theirs, report = transformers.RobertaForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"] and not report["mismatched_keys"]
    assert all("pooler" in name for name in report["unexpected_keys"])  # its masked LM has none
    assert_same(ours, theirs)
    bare, report = transformers.RobertaModel.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"]
    batch, inputs = rows()
    with torch.no_grad():
        x, pooled = ours.bert(batch)
        theirs = bare.eval()(**inputs)
    assert torch.allclose(x[batch.padding], theirs.last_hidden_state[batch.padding], atol=1e-4)
    assert torch.allclose(pooled, theirs.pooler_output, atol=1e-4)


def test_a_classifier_is_theirs_too(tmp_path):
    torch.manual_seed(0)
    ours = BertForSequenceClassification(RobertaConfig(**SIZES), labels=["no", "yes"])
    checkpoint.save(tmp_path, ours)
    theirs, report = transformers.RobertaForSequenceClassification.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report.values()), report
    batch, inputs = rows()
    with torch.no_grad():
        assert torch.allclose(ours.eval()(batch).logits, theirs.eval()(**inputs).logits, atol=1e-4)


def test_positions_begin_behind_the_paddings_number():
    model = MaskedLm(RobertaConfig(**SIZES)).eval()
    seen = {}
    batch, _ = rows()
    model(batch, tap=lambda name, x: seen.setdefault(name, x))
    table = model.bert.embeddings.position.weight
    for row, length in enumerate((17, 11, 2)):
        wanted = torch.cat([torch.arange(length) + 2, torch.ones(17 - length, dtype=torch.long)])
        assert torch.equal(seen["bert.embeddings.position" if "bert.embeddings.position" in seen else
                                "embeddings.position"][row], table[wanted])  # fmt: skip
    assert model.config.longest == 22
    with pytest.raises(ValueError, match="23 tokens, but there are only 22 positions"):
        model(Batch(torch.full((1, 23), 5)))


def test_full_sentences_are_read_whatever_rows_are_asked_for():
    store = TokenStore.build(documents(30, seed=3), TOKENIZER)
    objective = objective_for(RobertaConfig(**SIZES), masking=Masking(static=True))
    stream = PretrainingBatches(store, TOKENIZER, batch_size=8, max_length=40, seed=0, objective=objective, epochs=1)
    batches = list(stream)
    assert not objective.static and all(batch.next_labels is None for batch in batches)
    assert not any(batch.segments.any() for batch in batches)
    inner = [(row[1:-1] == TOKENIZER.sep_id).any() for batch in batches for row in batch.ids]
    assert any(inner)  # a row goes on into the next document
    spans = objective_for(SpanBertConfig(**SIZES))
    stream = PretrainingBatches(store, TOKENIZER, batch_size=8, max_length=400, seed=0, objective=spans, epochs=1)
    one = [(row == TOKENIZER.sep_id).sum() == 1 for batch in stream for row in batch.ids]
    assert len(one) == 30 and all(one)  # rows of one document


# --- ERNIE: transformers' --------------------------------------------------------------------------------------------


def test_ernie_both_ways(tmp_path):
    torch.manual_seed(0)
    theirs = transformers.ErnieForPreTraining(transformers.ErnieConfig(**SIZES))
    theirs.save_pretrained(tmp_path / "theirs")
    ours = checkpoint.load(tmp_path / "theirs")
    assert isinstance(ours.config, ErnieConfig)
    checkpoint.save(tmp_path / "ours", ours)
    again, report = transformers.ErnieForPreTraining.from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not any(report.values()), report
    batch, inputs = rows()
    with torch.no_grad():
        a = ours(batch)
        for b in (theirs.eval()(**inputs), again.eval()(**inputs)):
            assert (a.mlm_logits - b.prediction_logits)[batch.padding].abs().max() < 1e-4
            assert (a.nsp_logits - b.seq_relationship_logits).abs().max() < 1e-4


def encoded(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    encoding = TOKENIZER.encode(text)
    return encoding.ids, words_of([piece.startswith("##") for piece in encoding.tokens], encoding.special)


def told(ids: list[int], units) -> list[str]:
    return [" ".join(TOKENIZER.vocab[i] for i in ids[a:b]) for a, b in units]


def test_phrases_and_entities_of_a_row():
    ids, words = encoded("felix was an eager boy. nora gave the blue box to lucy near the museum.")
    between, names = between_phrases(TOKENIZER), names_in(TOKENIZER)
    phrases = phrases_of(words, lambda unit: tuple(ids[unit[0] : unit[1]]) in between)
    assert told(ids, phrases) == [
        "felix", "was", "an", "eager boy", ".", "nora gave", "the", "blue box", "to", "lucy", "near", "the", "museum",
        ".",
    ]  # fmt: skip
    assert told(ids, entities_of(ids, words, names)) == [
        "felix", "was", "an", "eager", "boy", ".", "nora", "gave", "the", "blue", "box", "to", "lucy", "near",
        "the museum", ".",
    ]  # fmt: skip
    long = phrases_of([(n, n + 1) for n in range(9)], lambda unit: False)
    assert long == [(0, 4), (4, 8), (8, 9)]


def stands_between(row, unit) -> bool:
    return tuple(row[unit[0] : unit[1]]) in between_phrases(TOKENIZER)


def test_stages_follow_each_other_and_come_back_at_the_same_place():
    config = ErnieConfig(vocab_size=TOKENIZER.vocab_size, **{k: v for k, v in SIZES.items() if k != "vocab_size"})
    objective = objective_for(config, phrases_from=2, entities_from=4)
    assert [objective.after(n).stage for n in range(6)] == ["piece", "piece", "phrase", "phrase", "entity", "entity"]
    store = TokenStore.build(documents(40, seed=3), TOKENIZER)
    make = {"batch_size": 8, "max_length": 60, "seed": 0, "objective": objective}
    stream = PretrainingBatches(store, TOKENIZER, **make)
    going, batches, places = iter(stream), [], []
    for _ in range(7):
        batches.append(next(going))
        places.append(stream.position)
    assert [place.given for place in places] == list(range(1, 8))
    for number in (1, 3, 5):
        again = next(iter(PretrainingBatches(store, TOKENIZER, **make, position=places[number])))
        assert torch.equal(again.ids, batches[number + 1].ids) and torch.equal(again.labels, batches[number + 1].labels)
    for number, names in ((2, None), (5, names_in(TOKENIZER))):  # whole or not at all
        batch = batches[number]
        text = torch.where(batch.labels != IGNORE, batch.labels, batch.ids)
        for row, labels in zip(text.tolist(), batch.labels.tolist(), strict=True):
            special = [i in (TOKENIZER.cls_id, TOKENIZER.sep_id, TOKENIZER.pad_id) for i in row]
            words = words_of([False] * len(row), special)
            units = entities_of(row, words, names) if names else phrases_of(words, partial(stands_between, row))
            for start, end in units:
                assert len({label == IGNORE for label in labels[start:end]}) == 1


def test_a_stage_there_is_not_is_refused():
    with pytest.raises(ValueError, match="the stage must be one of piece, phrase, entity"):
        KnowledgeMasking(stage="sentence")


# --- what falls together ---------------------------------------------------------------------------------------------


def test_words_are_pieces_that_go_on():
    goes_on = [False, False, True, True, False, True, False]
    special = [True, False, False, False, True, False, True]
    assert words_of(goes_on, special) == [(1, 4), (5, 6)]


@pytest.mark.parametrize("seed", range(20))
def test_units_are_drawn_whole_and_within_the_budget(seed):
    rng = random.Random(seed)
    units, at = [], 0
    while at < 40:
        size = rng.randint(1, 5)
        units.append((at, at + size))
        at += size
    taken = drawn(units, 9, rng)
    assert set(taken) <= set(units) and sum(b - a for a, b in taken) <= 9 and taken == sorted(taken)
    left = 9 - sum(b - a for a, b in taken)
    assert all(b - a > left for a, b in set(units) - set(taken))  # nothing more would have fitted
    assert drawn([(0, 7), (7, 12)], 3, rng) == [(7, 12)]  # something is asked


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_neighbouring_words(seed):
    rng = random.Random(seed)
    words = [(n, n + 1) for n in range(10)] + [(n, n + 1) for n in range(11, 30)]  # a special token at 10
    found = runs(words, 12, lambda: rng.randint(1, 6), rng)
    flat = [word for run in found for word in run]
    assert len(flat) == len(set(flat)) == 12
    for run in found:
        assert all(a[1] == b[0] for a, b in itertools.pairwise(run)) and len(run) <= 6


def test_lengths_of_spans_are_the_papers():
    shares = length_shares()
    assert len(shares) == LONGEST == 10 and sum(shares) == pytest.approx(1)
    assert sum(n * share for n, share in enumerate(shares, 1)) == pytest.approx(3.8, abs=0.05)
    assert [b / a for a, b in itertools.pairwise(shares)] == pytest.approx([0.8] * 9)
    rng = random.Random(0)
    words = [(n, n + 1) for n in range(20_000)]
    # One span a row, with room for it: what is drawn is what is told.
    seen = Counter(
        len(run)
        for _ in range(4_000)
        for run in runs(words[:200], 10, lambda: rng.choices(range(1, 11), shares)[0], rng)[:1]
    )
    assert sum(seen.values()) == 4_000
    spans = [end - start for _ in range(50) for start, end in draw_spans(words[:2_000], 300, rng)]
    assert 3.5 < np.mean(spans) < 4.6  # some meet and are one


def test_lengths_of_ngrams_are_the_papers():
    from minibert.relatives.macbert import LENGTHS, SHARES

    rng = random.Random(1)
    words = [(n, n + 1) for n in range(5_000)]
    seen = Counter(len(run) for _ in range(9) for run in runs(words, 300, lambda: rng.choices(LENGTHS, SHARES)[0], rng))
    total = sum(seen.values())
    for n, share in zip(LENGTHS, SHARES, strict=True):  # some runs end at others
        assert seen[n] / total == pytest.approx(share, abs=0.08)


def rows_hidden(objective, store_seed=3, rows=60, **more):
    store = TokenStore.build(documents(80, seed=store_seed), TOKENIZER)
    vocab = objective.vocabulary(store, TOKENIZER)
    stream = PretrainingBatches(store, TOKENIZER, batch_size=16, max_length=64, seed=0, objective=objective, **more)
    batches = []
    for batch in stream:
        batches.append(batch)
        if len(batches) * 16 >= rows:
            return vocab, batches


def test_a_span_falls_as_one():
    _, batches = rows_hidden(Spans(), rows=800)
    fates = Counter()
    for batch in batches:
        text = torch.where(batch.labels != IGNORE, batch.labels, batch.ids)
        for row, was, labels in zip(batch.ids.tolist(), text.tolist(), batch.labels.tolist(), strict=True):
            starts = [n for n in range(1, len(row)) if labels[n] != IGNORE and labels[n - 1] == IGNORE]
            for start in starts:
                end = next(n for n in range(start, len(row)) if labels[n] == IGNORE)
                masked = all(row[n] == TOKENIZER.mask_id for n in range(start, end))
                kept = [row[n] == was[n] for n in range(start, end)]
                assert masked or all(kept) or sum(kept) <= 1  # a random one may be the right one
                fates["mask" if masked else "kept" if all(kept) else "random"] += 1
        budget = (~((text == TOKENIZER.cls_id) | (text == TOKENIZER.sep_id) | (text == 0))).sum(1) * 0.15
        assert ((batch.labels != IGNORE).sum(1) - budget).abs().max() <= 1
    total = sum(fates.values())
    assert total > 1_000
    assert [fates[name] / total for name in ("mask", "random", "kept")] == pytest.approx([0.8, 0.1, 0.1], abs=0.03)


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
    model = SpanLm(SpanBertConfig(**sizes, span_position_size=3)).double().eval()
    for weight in model.parameters():
        weight.copy_(torch.randn_like(weight))
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])
    labels = torch.full_like(ids, IGNORE)
    labels[0, 2:4] = torch.tensor([20, 21])
    labels[0, 5] = 22
    out = model(Batch(ids, labels=labels))
    x = model.bert(Batch(ids))[0][0]
    head, by_hand = model.sbo, []
    for s, e, i in ((2, 3, 2), (2, 3, 3), (5, 5, 5)):
        h = [*x[s - 1].tolist(), *x[e + 1].tolist(), *head.position.weight[i - s].tolist()]
        for layer, norm in ((head.first, head.first_norm), (head.second, head.second_norm)):
            z = [
                sum(w * a for w, a in zip(row, h, strict=True)) + b
                for row, b in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            ]
            z = [a * 0.5 * (1 + torch.erf(torch.tensor(a / 2**0.5, dtype=torch.float64)).item()) for a in z]
            mean = sum(z) / len(z)
            spread = (sum((a - mean) ** 2 for a in z) / len(z) + norm.eps) ** 0.5
            h = [
                (a - mean) / spread * g + b for a, g, b in zip(z, norm.weight.tolist(), norm.bias.tolist(), strict=True)
            ]
        decoder = model.mlm.decoder
        by_hand.append(
            [
                sum(w * a for w, a in zip(row, h, strict=True)) + b
                for row, b in zip(decoder.weight.tolist(), decoder.bias.tolist(), strict=True)
            ]
        )
    by_hand = torch.tensor(by_hand, dtype=torch.float64)
    assert torch.allclose(out.sbo_logits, by_hand, atol=1e-9)
    assert out.sbo_loss.item() == pytest.approx(F.cross_entropy(by_hand, torch.tensor([20, 21, 22])).item(), abs=1e-6)
    assert out.loss.item() == pytest.approx((out.mlm_loss + out.sbo_loss).item())


def test_what_the_boundaries_do_not_see_changes_nothing():
    """Nothing of the hidden tokens' own vectors reaches the boundary head, but through its neighbours."""
    torch.manual_seed(0)
    head = SpanLm(SpanBertConfig(**SIZES)).sbo
    left, right = torch.randn(2, 3, 48)
    places = torch.tensor([0, 1, 2])
    assert head(left, right, places).shape == (3, 48)
    assert not torch.allclose(head(left[:1], right[:1], places[:1]), head(left[:1], right[:1], places[1:2]))


def test_without_its_boundaries_they_are_not_asked():
    objective = objective_for(SpanBertConfig(**SIZES), boundary=False)
    batch, _ = rows()
    labels = torch.full_like(batch.ids, IGNORE)
    labels[0, 3:5] = 7
    batch = replace(batch, labels=labels)
    assert objective.number_asked(batch) == {"mlm": 2}
    model = objective.model(SpanBertConfig(**SIZES))
    assert set(objective.questions(model(batch), batch)) == {"mlm"}


# --- MacBERT ---------------------------------------------------------------------------------------------------------


def test_similar_words_are_the_nearest_of_as_many_pieces():
    vectors = np.array([[0, 0], [1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9], [-1, 0]], dtype=np.float32)
    similar = SimilarWords(vectors, [(1,), (2,), (3,), (4,), (5,), (1, 2), (2, 1), (0,)])
    assert similar.of((1,)) == [(2,)] and similar.of((3,)) == [(4,)]
    assert similar.of((5,)) == [] and similar.of((0,)) == []  # none near it; no vector
    assert similar.of((1, 2)) == [(2, 1)] and similar.of((1, 2, 3)) == []
    assert similar.draw((5,), random.Random(0)) is None


def test_a_similar_word_stands_where_bert_has_a_mask():
    vocab, batches = rows_hidden(Correction(second=None), rows=700, input_format="doc_sentences")
    fates = Counter()
    for batch in batches:
        asked = batch.labels != IGNORE
        assert not (batch.ids[asked] == TOKENIZER.mask_id).sum() > 3  # a random one may be
        for now, was in zip(batch.ids[asked].tolist(), batch.labels[asked].tolist(), strict=True):
            near = [word[0] for word in vocab.similar.of((was,))]
            fates["kept" if now == was else "similar" if now in near else "random" if near else "none"] += 1
    total = sum(fates.values())
    known = total - fates["none"]
    assert fates["similar"] / known == pytest.approx(0.8, abs=0.06)
    assert fates["kept"] / total == pytest.approx(0.1, abs=0.04)


def test_it_is_not_said_to_fill_masks():
    assert Correction().name == "mac+sop" and Correction(second=None).name == "mac"
    assert Correction(similar=False).name == "mlm+sop"
    assert isinstance(Correction().model(MacBertConfig(**SIZES)), BertForPreTraining)


def test_chinese_words_fall_whole_and_are_replaced_by_words():
    tokenizer = Tokenizer.from_directory("checkpoints/mini-zh")
    texts = [
        ["我们在北京大学学习语言模型。", "他们在清华大学学习自然语言。"],
        ["上海的天气很好，北京的天气不好。", "今天的天气怎么样？"],
    ]
    store = TokenStore.build(texts * 8, tokenizer, words="jieba")
    objective = Correction(masking=Masking(rate=0.4), second=None)
    stream = PretrainingBatches(
        store,
        tokenizer,
        batch_size=8,
        max_length=64,
        seed=0,
        objective=objective,
        input_format="doc_sentences",
        epochs=1,
    )
    batch = next(iter(stream))
    text = torch.where(batch.labels != IGNORE, batch.labels, batch.ids)
    whole = 0
    for row, labels in zip(text.tolist(), batch.labels.tolist(), strict=True):
        tokens = [tokenizer.vocab[i] for i in row]
        for n in range(len(row) - 1):
            if tokens[n : n + 2] == ["天", "气"]:
                assert (labels[n] == IGNORE) == (labels[n + 1] == IGNORE)
                whole += labels[n] != IGNORE
    assert whole


def test_a_vocabulary_knows_no_more_than_is_asked():
    plain = MaskVocabulary.of(TOKENIZER)
    assert plain.similar is None and not plain.names and not plain.between
