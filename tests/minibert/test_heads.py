"""What the new layers read, against the hidden states of transformers."""

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.finetune.layer_choice import LAYERS
from minibert.heads import BertForSequenceClassification, BertForTokenClassification, BiLstm, TaskBatch
from minibert.model import Batch

IDS = torch.tensor([[2, 5, 3], [2, 7, 3]])


@pytest.fixture(scope="module")
def both(small_checkpoint):
    """Hidden states of transformers for two rows, the second padded: (L + 1) of (2, 6, H), and the batch."""
    theirs = transformers.AutoModel.from_pretrained(small_checkpoint).eval()
    ids = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 3, 0, 0, 0]])
    padding = ids != 0
    with torch.no_grad():
        output = theirs(input_ids=ids, attention_mask=padding.long(), output_hidden_states=True)
    return output.hidden_states, output.pooler_output, Batch(ids, padding=padding)


@pytest.fixture(scope="module")
def head_with(small_checkpoint):
    """A function: options → the small model with a head of two classes, for the tokens or the rows."""

    def load(kind=BertForSequenceClassification, **options):
        return checkpoint.load(small_checkpoint, kind=kind, **{"labels": ["a", "b"], **options})

    return load


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


@torch.no_grad()
@pytest.mark.parametrize("layers", LAYERS)
def test_the_layers_are_those_of_transformers(head_with, both, layers):
    hidden, _, batch = both
    model = head_with(BertForTokenClassification, layers=layers)
    tokens, _ = model.read(batch)
    expected = EXPECTED[layers](hidden)
    assert model.classifier.in_features == model.width == expected.size(-1)
    torch.testing.assert_close(tokens[batch.padding], expected[batch.padding], atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("layers", ["last", "last_four_concat"])
@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_pooling_reads_real_tokens_only(head_with, both, pooling, layers):
    hidden, pooler, batch = both
    _, pooled = head_with(pooling=pooling, layers=layers).read(batch)
    chosen = EXPECTED[layers](hidden)
    rows = [chosen[i][batch.padding[i]] for i in (0, 1)]
    expected = {
        "cls": pooler if layers == "last" else chosen[:, 0],
        "mean": torch.stack([row.mean(0) for row in rows]),
        "max": torch.stack([row.amax(0) for row in rows]),
    }[pooling]
    torch.testing.assert_close(pooled, expected, atol=1e-5, rtol=0)


def test_several_dropout_masks_give_the_mean_loss(head_with):
    """Inoue 2019, §3: the same vector under several masks, one loss, their mean."""
    batch = Batch(torch.tensor([[2, 5, 6, 3]]), labels=torch.tensor([1]))

    def losses(samples: int, seeds: int) -> torch.Tensor:
        torch.manual_seed(0)
        model = head_with(dropout_samples=samples)
        torch.nn.init.normal_(model.classifier.weight)
        model.bert.eval()
        model.dropout.p = 0.5
        model.dropout.train()
        model.training = True
        found = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            found.append(model(batch).loss.item())
        return torch.tensor(found)

    one, many = losses(1, 100), losses(16, 100)
    assert many.std() < one.std() / 2.5  # about a quarter, as of a mean over 16
    assert abs(many.mean() - one.mean()) < 0.2
    assert losses(16, 2).tolist() == many[:2].tolist()


@torch.no_grad()
@pytest.mark.parametrize("way", ["embedding", "concatenated"])
def test_metadata_is_added_to_what_is_read_or_stands_beside_it(head_with, way):
    model = head_with(metadata=[3, 2], metadata_as=way)
    _, plain = model.bert(Batch(IDS))
    tokens, pooled = model.read(TaskBatch(IDS, metadata=torch.tensor([[1, 0], [3, 2]])))
    first, second = model.metadata
    assert first.num_embeddings == 4 and second.num_embeddings == 3  # 0 is the unknown value
    ours = first.weight[[1, 3]], second.weight[[0, 2]]
    torch.testing.assert_close(pooled, plain + sum(ours) if way == "embedding" else torch.cat([plain, *ours], dim=-1))
    assert torch.equal(tokens[:, 2, plain.size(1) :], pooled[:, plain.size(1) :])
    assert model.classifier.in_features == model.read_width == pooled.size(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "sum"}, "pooling must be one of cls, mean, max"),
        ({"layers": "first"}, "layers must be one of last, embeddings"),
        ({"problem": "ranking"}, "the problem must be one of"),
        ({"metadata_as": "token"}, "one of embedding, concatenated, not as 'token'"),
        ({"labels": ["a"]}, "classification needs two classes or more"),
    ],
)
def test_wrong_choices_are_named(head_with, options, message):
    with pytest.raises(ValueError, match=message):
        head_with(**options)


@torch.no_grad()
def test_a_bilstm_reads_both_ways_and_no_padding(head_with, both):
    hidden, _, batch = both
    torch.manual_seed(0)
    model = head_with(BertForTokenClassification, layers="last_four_concat", bilstm=True)
    tokens, pooled = model.read(batch)
    read = torch.cat(hidden, -1)
    torch.testing.assert_close(tokens, model.bilstm(read, batch.padding))
    torch.testing.assert_close(tokens[1, :3], model.bilstm(read[1:, :3])[0])
    assert tokens.shape == read.shape and torch.equal(pooled, tokens[:, 0]) and not tokens[~batch.padding].any()
    alone, followed = (model.bilstm(read[:1, :length])[0, :3].chunk(2, dim=-1) for length in (3, 4))
    torch.testing.assert_close(alone[0], followed[0])  # what follows is not seen forwards …
    assert not torch.allclose(alone[1], followed[1])  # … and backwards it is
    with pytest.raises(ValueError, match="even"):
        BiLstm(15)
