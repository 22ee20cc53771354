"""What is asked of a batch, and how the answers add up."""

import pytest
import torch
import torch.nn.functional as F

from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, NextToken, losses, measure
from minibert.pretrain import PretrainSettings, dev_batches
from minibert.text.batches import PretrainingBatches
from minibert.text.documents import DataError
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy.world import documents, vocabulary

TOKENIZER = Tokenizer(vocabulary())


@pytest.fixture(scope="module")
def store():
    return TokenStore.build(documents(40, seed=0), TOKENIZER)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    return BertForPreTraining(BertConfig(TOKENIZER.vocab_size, **sizes, max_position_embeddings=64)).eval()


def batches(store, objective, **options):
    return PretrainingBatches(store, TOKENIZER, batch_size=10, max_length=40, seed=0, objective=objective, **options)


@torch.no_grad()
@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_the_sum_of_the_losses(store, model, weight):
    objective = MaskedLanguageModel(second_weight=weight)
    batch = next(iter(batches(store, objective)))
    found = losses(objective, model(batch), batch, batch)
    plain = model(Batch(batch.ids, batch.segments, batch.padding))
    asked = batch.labels != IGNORE
    mlm = F.cross_entropy(plain.mlm_logits[asked], batch.labels[asked])
    nsp = F.cross_entropy(plain.nsp_logits, batch.next_labels)
    assert found["mlm_loss"].item() == pytest.approx(mlm.item(), rel=1e-5)
    assert found["loss"].item() == pytest.approx((mlm + weight * nsp).item(), rel=1e-5)
    right = (plain.mlm_logits[asked].argmax(-1) == batch.labels[asked]).float().mean()
    assert found["mlm_accuracy"].item() == pytest.approx(right.item())


def test_without_a_question_about_the_pair_the_rows_are_the_same(store):
    with_it, without = (next(iter(batches(store, MaskedLanguageModel(second=second)))) for second in ("nsp", None))
    assert torch.equal(with_it.ids, without.ids) and torch.equal(with_it.labels, without.labels)
    assert with_it.next_labels is not None and without.next_labels is None


def test_the_order_of_two_segments(store):
    """Label 0: both stand as in the story; 1: the same two, swapped. Nothing comes from elsewhere."""
    objective = MaskedLanguageModel(Masking(rate=0.0), second="sop")
    stories = [" ".join(TOKENIZER.encode(" ".join(lines)).tokens[1:-1]) for lines in documents(40, seed=0)]
    counted = {0: 0, 1: 0}
    for batch in batches(store, objective, epochs=3, short_probability=0.5):
        lengths = [len(ids) for ids in batch.ids] if batch.padding is None else batch.padding.sum(1).tolist()
        for ids, segments, label, length in zip(
            batch.ids, batch.segments, batch.next_labels.tolist(), lengths, strict=True
        ):
            row = [TOKENIZER.vocab[i] for i in ids[:length].tolist()]
            end = int((segments[:length] == 0).sum())
            a, b = " ".join(row[1 : end - 1]), " ".join(row[end : length - 1])
            first, then = (b, a) if label else (a, b)
            assert any(first in story and then in story.split(first, 1)[1] for story in stories)
            counted[label] += 1
    assert min(counted.values()) > 0.35 * sum(counted.values())


def test_one_document_is_enough_for_the_order_and_not_for_the_next_sentence():
    alone = TokenStore.build(list(documents(1, seed=0)), TOKENIZER)
    assert next(iter(batches(alone, MaskedLanguageModel(second="sop")))).next_labels is not None
    with pytest.raises(DataError, match="a single document"):
        batches(alone, MaskedLanguageModel())
    with pytest.raises(ValueError, match="no input format 'sentence_pair'"):
        batches(alone, MaskedLanguageModel(second="sop"), input_format="sentence_pair")


def test_measured_is_the_mean_over_all_questions(store, model):
    objective = NextToken()
    found = measure(objective, model, list(batches(store, objective, epochs=1)))
    loss = asked = right = 0.0
    for batch in batches(store, objective, epochs=1):
        with torch.no_grad():
            logits = model(Batch(batch.ids, batch.segments, batch.padding)).mlm_logits
        known = batch.labels != IGNORE
        loss += F.cross_entropy(logits[known], batch.labels[known], reduction="sum").item()
        right += (logits[known].argmax(-1) == batch.labels[known]).sum().item()
        asked += int(known.sum())
    assert found["tokens"] == asked
    assert found["next_token_loss"] == pytest.approx(loss / asked, rel=1e-4)
    assert found["next_token_accuracy"] == pytest.approx(right / asked, abs=2 / asked)
    with pytest.raises(ValueError, match="nothing to evaluate on"):
        measure(objective, model, [])


def test_what_asks_about_pairs_alone_is_not_measured_as_if_it_hid_words(store, model):
    objective = MaskedLanguageModel(Masking(rate=0.0))
    with pytest.raises(ValueError, match="nothing to evaluate on"):
        measure(objective, model, batches(store, objective, epochs=1))


def test_a_single_document_is_measured_on_the_order_of_its_segments(model):
    alone = TokenStore.build(list(documents(1, seed=0)), TOKENIZER)
    settings = PretrainSettings(steps=1, relative="albert", max_length=40)
    assert next(iter(dev_batches(alone, TOKENIZER, settings))).next_labels is not None
    plain = PretrainSettings(steps=1, max_length=40)
    assert next(iter(dev_batches(alone, TOKENIZER, plain))).next_labels is None


@pytest.mark.parametrize("wrong", [{"second": "order"}, {"second_weight": -1.0}])
def test_what_cannot_be_asked(wrong):
    with pytest.raises(ValueError):
        MaskedLanguageModel(**wrong)
