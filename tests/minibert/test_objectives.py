"""What is asked of a batch, and how the answers add up."""

import pytest
import torch
import torch.nn.functional as F

from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.objectives import MaskedLanguageModel, Masking, losses, measure
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


def test_the_order_of_two_segments(store):
    """Label 0: both stand as in the story; 1: the same two, swapped. Nothing comes from elsewhere."""
    objective = MaskedLanguageModel(Masking(rate=0.0), second="sop")
    stories = [" ".join(TOKENIZER.encode(" ".join(lines)).tokens[1:-1]) for lines in documents(40, seed=0)]
    counted = {0: 0, 1: 0}
    for batch in batches(store, objective, epochs=3, short_probability=0.5):
        lengths = [len(ids) for ids in batch.ids] if batch.padding is None else batch.padding.sum(1).tolist()
        rows = zip(batch.ids, batch.segments, batch.next_labels.tolist(), lengths, strict=True)
        for ids, segments, label, length in rows:
            row = [TOKENIZER.vocab[i] for i in ids[:length].tolist()]
            end = int((segments[:length] == 0).sum())
            a, b = " ".join(row[1 : end - 1]), " ".join(row[end : length - 1])
            first, then = (b, a) if label else (a, b)
            assert any(first in story and then in story.split(first, 1)[1] for story in stories)
            counted[label] += 1
    assert min(counted.values()) > 0.35 * sum(counted.values())


def test_one_document_is_enough_for_the_order_and_not_for_the_next_sentence(model):
    alone = TokenStore.build(list(documents(1, seed=0)), TOKENIZER)
    order = MaskedLanguageModel(second="sop")
    assert next(iter(batches(alone, order))).next_labels is not None
    with pytest.raises(DataError, match="a single document"):
        batches(alone, MaskedLanguageModel())
    with pytest.raises(ValueError, match="no input format 'sentence_pair'"):
        batches(alone, order, input_format="sentence_pair")
    for relative, objective, asked in (("albert", order, {"mlm", "sop"}), ("bert", MaskedLanguageModel(), {"mlm"})):
        rows = dev_batches(alone, TOKENIZER, PretrainSettings(steps=1, relative=relative, max_length=40))
        found = measure(objective, model, rows)
        assert {name.removesuffix("_loss") for name in found if name.endswith("_loss")} == asked


def test_where_nothing_is_asked_nothing_is_measured(store, model):
    """What asks about pairs alone is not measured as if it hid words."""
    objective = MaskedLanguageModel(Masking(rate=0.0))
    for rows in ([], batches(store, objective, epochs=1)):
        with pytest.raises(ValueError, match="nothing to evaluate on"):
            measure(objective, model, rows)


@pytest.mark.parametrize("wrong", [{"second": "order"}, {"second_weight": -1.0}])
def test_what_cannot_be_asked(wrong):
    with pytest.raises(ValueError):
        MaskedLanguageModel(**wrong)
