"""What the new layers read, against the hidden states of transformers."""

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.heads import LAYERS, BertForSequenceClassification, BertForTokenClassification, TaskBatch
from minibert.model import Batch


@pytest.fixture(scope="module")
def both(small_checkpoint):
    """Hidden states of transformers for two rows, the second padded: (L + 1) of (2, 6, H), and the batch."""
    theirs = transformers.AutoModel.from_pretrained(small_checkpoint).eval()
    ids = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 3, 0, 0, 0]])
    padding = ids != 0
    with torch.no_grad():
        output = theirs(input_ids=ids, attention_mask=padding.long(), output_hidden_states=True)
    return output.hidden_states, output.pooler_output, Batch(ids, padding=padding)


EXPECTED = {
    "last": lambda h: h[-1],
    "embeddings": lambda h: h[0],
    "second_to_last": lambda h: h[-2],
    "last_four_concat": lambda h: torch.cat(h[-4:], -1),  # of three: embeddings and two blocks
    "last_four_sum": lambda h: sum(h[-4:]),
    "last_four_weighted": lambda h: sum(h[-4:]) / len(h[-4:]),  # at the start
    "all_concat": lambda h: torch.cat(h, -1),
    "all_sum": lambda h: sum(h[1:]),
    "weighted": lambda h: sum(h) / len(h),  # at the start
}


@pytest.mark.parametrize("layers", LAYERS)
def test_the_layers_are_those_of_transformers(small_checkpoint, both, layers):
    hidden, _, batch = both
    model = checkpoint.load(small_checkpoint, kind=BertForTokenClassification, labels=["a", "b"], layers=layers)
    with torch.no_grad():
        tokens, _ = model.read(batch)
    expected = EXPECTED[layers](hidden)
    assert model.classifier.in_features == model.width == expected.size(-1)
    torch.testing.assert_close(tokens[batch.padding], expected[batch.padding], atol=1e-5, rtol=0)


@pytest.mark.parametrize("layers", ["last", "last_four_concat"])
@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_pooling_reads_real_tokens_only(small_checkpoint, both, pooling, layers):
    hidden, pooler, batch = both
    kind = BertForSequenceClassification
    model = checkpoint.load(small_checkpoint, kind=kind, labels=["a", "b"], pooling=pooling, layers=layers)
    with torch.no_grad():
        _, pooled = model.read(batch)
    chosen = EXPECTED[layers](hidden)
    rows = [chosen[i][batch.padding[i]] for i in (0, 1)]
    expected = {
        "cls": pooler if layers == "last" else chosen[:, 0],
        "mean": torch.stack([row.mean(0) for row in rows]),
        "max": torch.stack([row.amax(0) for row in rows]),
    }[pooling]
    torch.testing.assert_close(pooled, expected, atol=1e-5, rtol=0)


def test_learned_weights_mix_the_layers(small_checkpoint, both):
    hidden, _, batch = both
    model = checkpoint.load(small_checkpoint, kind=BertForTokenClassification, labels=["a", "b"], layers="weighted")
    with torch.no_grad():
        model.mix.weights.copy_(torch.tensor([0.0, 1.0, 2.0]))
        model.mix.scale.fill_(3.0)
        tokens, _ = model.read(batch)
    weights = torch.tensor([0.0, 1.0, 2.0]).softmax(0)
    expected = 3 * sum(w * h for w, h in zip(weights, hidden, strict=True))
    torch.testing.assert_close(tokens[batch.padding], expected[batch.padding], atol=1e-5, rtol=0)


def test_several_dropout_masks_give_the_mean_loss(small_checkpoint):
    """Inoue 2019, §3: the same vector under several masks, one loss, their mean."""
    batch = Batch(torch.tensor([[2, 5, 6, 3]]), labels=torch.tensor([1]))

    def losses(samples: int, seeds: range) -> torch.Tensor:
        torch.manual_seed(0)
        options = {"labels": ["a", "b"], "dropout_samples": samples}
        model = checkpoint.load(small_checkpoint, kind=BertForSequenceClassification, **options)
        torch.nn.init.normal_(model.classifier.weight)
        model.bert.eval()
        model.dropout.p = 0.5
        model.dropout.train()
        model.training = True
        found = []
        for seed in seeds:
            torch.manual_seed(seed)
            found.append(model(batch).loss.item())
        return torch.tensor(found)

    torch.manual_seed(7)
    one, many = losses(1, range(100)), losses(16, range(100))
    assert many.std() < one.std() / 2.5  # about a quarter, as of a mean over 16
    assert abs(many.mean() - one.mean()) < 0.2
    assert losses(16, range(2)).tolist() == many[:2].tolist()


def test_metadata_is_added_to_what_is_read(small_checkpoint):
    model = checkpoint.load(small_checkpoint, kind=BertForSequenceClassification, labels=["a", "b"], metadata=[3, 2])
    ids = torch.tensor([[2, 5, 3], [2, 5, 3]])
    with torch.no_grad():
        _, plain = model.bert(Batch(ids))
        _, pooled = model.read(TaskBatch(ids, metadata=torch.tensor([[1, 0], [3, 2]])))
    first, second = model.metadata
    assert first.num_embeddings == 4 and second.num_embeddings == 3  # 0 is the unknown value
    torch.testing.assert_close(pooled[0] - plain[0], first.weight[1] + second.weight[0])
    torch.testing.assert_close(pooled[1] - plain[1], first.weight[3] + second.weight[2])


def test_metadata_stands_beside_what_is_read(small_checkpoint):
    kind, ids = BertForSequenceClassification, torch.tensor([[2, 5, 3], [2, 5, 3]])
    model = checkpoint.load(small_checkpoint, kind=kind, labels=["a", "b"], metadata=[3, 2], metadata_as="concatenated")
    with torch.no_grad():
        _, plain = model.bert(Batch(ids))
        tokens, pooled = model.read(TaskBatch(ids, metadata=torch.tensor([[1, 0], [3, 2]])))
    first, second = model.metadata
    expected = torch.cat([plain, first.weight[[1, 3]], second.weight[[0, 2]]], dim=-1)
    torch.testing.assert_close(pooled, expected)
    assert torch.equal(tokens[:, 2, plain.size(1) :], pooled[:, plain.size(1) :])
    assert model.classifier.in_features == model.read_width == pooled.size(1)


def test_under_one_layer_added_and_beside_come_to_the_same(small_checkpoint):
    """W·(x + v) = W·x + W·v: whatever a vector beside adds to the classes, one that is added can."""
    kind, ids = BertForSequenceClassification, torch.tensor([[2, 5, 3], [2, 7, 3]])
    beside, added = (
        checkpoint.load(small_checkpoint, kind=kind, labels=["a", "b"], metadata=[2], metadata_as=way).eval()
        for way in ("concatenated", "embedding")
    )
    with torch.no_grad():
        added.bert.load_state_dict(beside.bert.state_dict())
        width = added.width
        added.classifier.weight.copy_(beside.classifier.weight[:, :width])
        constants = beside.metadata[0].weight @ beside.classifier.weight[:, width:].T  # (values, classes)
        added.metadata[0].weight.copy_(constants @ torch.linalg.pinv(added.classifier.weight).T)
        batch = TaskBatch(ids, metadata=torch.tensor([[1], [2]]))
        torch.testing.assert_close(added(batch).logits, beside(batch).logits, atol=1e-5, rtol=1e-4)


def test_wrong_choices_are_named(small_checkpoint):
    for options, message in (
        ({"pooling": "sum"}, "pooling must be one of cls, mean, max"),
        ({"layers": "first"}, "layers must be one of last, embeddings"),
        ({"problem": "ranking"}, "the problem must be one of"),
        ({"metadata_as": "token"}, "one of embedding, concatenated, not as 'token'"),
        ({"labels": ["a"]}, "classification needs two classes or more"),
    ):
        with pytest.raises(ValueError, match=message):
            checkpoint.load(small_checkpoint, kind=BertForSequenceClassification, **options)


def test_a_bilstm_between_reads_both_ways_and_no_padding(small_checkpoint, both):
    hidden, _, batch = both
    torch.manual_seed(0)
    kind = BertForTokenClassification
    model = checkpoint.load(small_checkpoint, kind=kind, labels=["a", "b"], layers="last_four_concat", bilstm=True)
    with torch.no_grad():
        tokens, pooled = model.read(batch)
        alone = model.bilstm(torch.cat(hidden[-4:], -1)[1:, :3])
        forwards = model.bilstm(torch.cat([hidden[-1][:1, :3]] * 3, -1))
        longer = model.bilstm(torch.cat([hidden[-1][:1, :4]] * 3, -1))
    assert tokens.shape == (2, 6, 96) and torch.equal(pooled, tokens[:, 0])
    torch.testing.assert_close(tokens[1, :3], alone[0])
    half = tokens.size(-1) // 2
    torch.testing.assert_close(forwards[0, :, :half], longer[0, :3, :half])  # what follows is not seen forwards
    assert not torch.allclose(forwards[0, :, half:], longer[0, :3, half:])
