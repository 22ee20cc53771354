"""What is cut away is really gone, and what is left answers as the whole with it switched off; by whom it is chosen."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.utils import prune as torch_prune
from transformers.pytorch_utils import prune_linear_layer

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.count import flops, parameters
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.heads import BertForSequenceClassification, TaskBatch, every_layer
from minibert.inside.heads.cost import answers
from minibert.model import Batch
from minibert.pruning import magnitude
from minibert.pruning.cut import MaskTap, cut
from minibert.pruning.importance import batches_of, importance, losses_without_heads, losses_without_layers
from minibert.pruning.keep import Keep, least_important, normalised
from minibert.pruning.run import Cut, Pruning, prune, pruned
from minibert.relatives import shape_of
from minibert.relatives.albert import AlbertConfig
from minibert.relatives.pruned import PrunedConfig
from minibert.train import Done, Eval, Preparing, Started, Step
from tests.minibert.inside.random_models import random_model
from tests.minibert.pruning.quick import SETTINGS, toys

CONFIG = BertConfig(57, 32, 3, 4, 48, 64, initializer_range=0.3)
SOME = Keep((0, 2), ((1, 3), (0,)), ((0, 5, 47), tuple(range(40))))
WHOLE = Keep.whole(CONFIG)
GONE = [{0, 1}, {0, 2}, {1, 2}]
NOTHING = Keep((1,), ((),), ((),))
UNEVEN = Keep((0, 1, 2), ((), (2,), (0, 1, 2, 3)), ((), (7,), tuple(range(48))))


@pytest.fixture(scope="module")
def model():
    return random_model(CONFIG, spread=0.2)


@pytest.fixture(scope="module")
def tuned(small_checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("tuned") / "model"
    *_, done = finetune(small_checkpoint, "classification", *toys(128, 40), replace(SETTINGS, epochs=8), out=out)
    assert done.metrics["accuracy"] > 0.85
    return out


@pytest.fixture
def teller(model):
    """(a model that tells classes apart, of random weights, and what it is asked)"""
    torch.manual_seed(2)
    teller = BertForSequenceClassification(CONFIG, labels=["no", "yes"], pooling="mean").eval()
    teller.bert.load_state_dict(model.bert.state_dict())
    return teller, [TaskBatch(**(vars(rows()) | {"labels": torch.tensor([0, 1, 0])}))]


def rows() -> Batch:
    ids = torch.randint(5, 57, (3, 12), generator=torch.Generator().manual_seed(1))
    return Batch(ids, torch.zeros_like(ids), torch.arange(12) < torch.tensor([[12], [9], [5]]))


@pytest.mark.parametrize("keep", [WHOLE, SOME, NOTHING, UNEVEN, *(WHOLE.without_layers(gone) for gone in GONE)])
@torch.no_grad()
def test_what_is_cut_answers_as_the_whole_with_it_masked(model, keep, tmp_path):
    small, real = cut(model, keep), rows().padding
    tap = MaskTap(keep, CONFIG)
    for _ in range(2):  # a tap that has been used is as good as new
        assert torch.allclose(small(rows()).mlm_logits[real], model(rows(), tap).mlm_logits[real], atol=1e-5)
    counted = parameters(shape_of(small.config))
    assert counted.pretraining == sum(weight.numel() for weight in small.parameters())
    assert counted.block == round(counted.of("block.") / small.config.num_hidden_layers)  # their mean: blocks differ
    assert small.config.heads == tuple(map(len, keep.heads)) and small.config.neurons == tuple(map(len, keep.neurons))
    again = checkpoint.load(checkpoint.save(tmp_path / "small", small))
    assert again.config == small.config and torch.equal(again(rows()).mlm_logits, small(rows()).mlm_logits)


@torch.no_grad()
def test_what_is_cut_answers_as_rows_of_zeros_do_and_as_transformers_cuts_them(model):
    """Zeros in the whole model's matrices, by hand; and `prune_linear_layer`, which transformers has kept."""
    small = cut(model, SOME)
    by_hand = cut(model, WHOLE.without_layers({1}))  # a copy, only without the layer
    for n, (layer, heads, neurons) in enumerate(zip(SOME.layers, SOME.heads, SOME.neurons, strict=True)):
        block, kept, whole = by_hand.bert.blocks[n], small.bert.blocks[n], model.bert.blocks[layer]
        numbers = torch.tensor([head * 8 + i for head in heads for i in range(8)])
        for name in ("query", "key", "value"):
            theirs = prune_linear_layer(getattr(whole.attn, name), numbers)
            assert torch.equal(getattr(kept.attn, name).weight, theirs.weight)
            assert torch.equal(getattr(kept.attn, name).bias, theirs.bias)
        assert torch.equal(kept.attn.output.weight, prune_linear_layer(whole.attn.output, numbers, dim=1).weight)
        gone = [i for i in range(32) if i not in numbers]
        block.attn.value.weight[gone], block.attn.value.bias[gone] = 0, 0
        gone = [i for i in range(48) if i not in neurons]
        block.mlp.expand.weight[gone], block.mlp.expand.bias[gone] = 0, 0  # GELU(0) = 0
    real = rows().padding
    assert torch.allclose(small(rows()).mlm_logits[real], by_hand(rows()).mlm_logits[real], atol=1e-5)


@torch.no_grad()
def test_a_head_reads_the_layers_that_are_left_and_one_that_reads_several_loses_none():
    torch.manual_seed(0)
    head = BertForSequenceClassification(CONFIG, layers="second_to_last", pooling="mean").eval()
    small = cut(head, WHOLE.without_layers({0}))
    x = every_layer(small.bert, rows())[-2]
    assert torch.equal(small.read(rows())[0], x)
    several = BertForSequenceClassification(CONFIG, layers="all_concat")
    with pytest.raises(ValueError, match="'all_concat' layers: none of them can go"):
        cut(several, WHOLE.without_layers({0}))
    cut(several, UNEVEN)  # heads and neurons can


def test_a_cut_model_is_cut_again_and_what_cannot_be_cut_is_refused(model):
    twice = cut(cut(model, SOME), Keep((1,), ((0,),), ((3, 4),)))
    once = cut(model, Keep((2,), ((0,),), ((3, 4),)))
    assert all(torch.equal(a, b) for a, b in zip(twice.state_dict().values(), once.state_dict().values(), strict=True))
    wrong = [{"layers": (2, 0)}, {"layers": (0, 3)}, {"heads": ((4,), (0,))}, {"neurons": ((0,),)}]
    for keep in (*(replace(SOME, **change) for change in wrong), Keep((), (), ())):
        with pytest.raises(ValueError):
            cut(model, keep)
    with pytest.raises(ValueError, match="without any layer"):
        WHOLE.without_layers({0, 1, 2})
    with pytest.raises(ValueError, match="only a plain BERT is cut here, not 'albert'"):
        Keep.whole(AlbertConfig(57, 32, 3, 4, 48))
    for change, said in (
        ({"kept_heads": [1, 2]}, "has 2 numbers for 3 layers"),
        ({"kept_heads": [1, 2, 5]}, "from 0 to 4"),
        ({"kept_neurons": [1, 2, -1]}, "from 0 to 48"),
        ({"kept_neurons": "many"}, "must be a list"),
    ):
        with pytest.raises(ValueError, match=said):
            PrunedConfig.from_dict({**CONFIG.as_dict(), "model_type": "pruned", **change})


def test_half_the_heads_and_neurons_are_half_the_multiplications():
    half = PrunedConfig(**CONFIG.as_dict(), kept_heads=(0, 2, 4), kept_neurons=(48, 24, 0))
    counted = (flops(shape_of(config), 2, 16, masked=0).parts for config in (CONFIG, half))
    whole, less = (sum(part.total for part in parts if part.name.startswith("block.")) for parts in counted)
    assert less * 2 == whole


def test_the_least_goes_first_wherever_it_stands():
    assert least_important([[3.0, 1.0], [2.0, 0.5, 9.0]], 0.4) == {(1, 1), (0, 1)}
    assert least_important([[1.0, 1.0], [1.0]], 1 / 3) == {(0, 0)} and least_important([[1.0]], 0) == set()
    assert normalised([[3.0, 4.0], [0.0, 0.0], []]) == [[0.6, 0.8], [0.0, 0.0], []]
    with pytest.raises(ValueError, match="from 0 to 1"):
        least_important([[1.0]], 1.5)


def test_importance_is_the_slope_of_the_loss_by_a_gate(teller):
    """Of each text: the loss with the gate a little more open, less the loss with it a little closed."""
    model, batches = teller
    found = importance(model, batches)

    def losses(gate: float, at: str, where) -> torch.Tensor:
        def tap(name, x):
            if name == at:
                x = x.clone()
                x[where] *= gate
            return x

        return answers(model, batches, tap).losses.double()

    for at, where, ours in (
        ("blocks.0.attn.mixed", (slice(None), 1), found.heads[0][1]),  # (B, A, T, D)
        ("blocks.1.mlp.hidden", (..., 3), found.neurons[1][3]),  # (B, T, F)
    ):
        slope = (losses(1.02, at, where) - losses(0.98, at, where)) / 0.04
        assert ours == pytest.approx(slope.abs().mean().item(), rel=2e-2) and ours > 1e-3


@torch.no_grad()
def test_a_head_that_says_nothing_is_worth_nothing_either_way_and_layers_are_measured(teller):
    model, batches = teller
    head = model.bert.blocks[1].attn
    head.value.weight[:8], head.value.bias[:8] = 0, 0
    quick, honest = importance(model, batches).heads, losses_without_heads(model, batches)
    assert [len(one) for one in quick] == [len(one) for one in honest] == [4, 4, 4]
    assert quick[1][0] == 0 and honest[1][0] == pytest.approx(0, abs=1e-6)
    others = [abs(layer[i]) for way in (quick, honest) for n, layer in enumerate(way) for i in range(4) if n != 1 or i]
    assert min(others) > 1e-4
    tap = MaskTap(WHOLE.without_layers({0}), CONFIG)
    rise = answers(model, batches, tap).loss - answers(model, batches).loss
    assert losses_without_layers(model, batches)[0] == pytest.approx(rise, abs=1e-5)


def test_the_smallest_weights_are_those_that_torch_prunes(model):
    masks = magnitude.magnitude_masks(model, 0.3)
    parts = [part for part in cut(model, WHOLE).bert.blocks.modules() if isinstance(part, nn.Linear)]
    torch_prune.global_unstructured([(part, "weight") for part in parts], torch_prune.L1Unstructured, amount=0.3)
    for part, mask in zip(parts, masks.values(), strict=True):
        assert torch.equal(part.weight_mask.bool(), mask)
    small = magnitude.zeroed(model, masks)
    weights = torch.cat([weight.flatten() for weight in magnitude.pruned_weights(small).values()])
    assert (weights == 0).float().mean().item() == pytest.approx(0.3, abs=1e-3)
    (plain, zipped), (same, less) = magnitude.file_bytes(model), magnitude.file_bytes(small)
    assert plain == same and less < zipped < plain


@pytest.mark.parametrize(
    "pruning",
    [
        Pruning("heads", 0.5),
        Pruning("neurons", 0.25),
        Pruning("layers", 0.5),
        Pruning("weights", 0.5),
        Pruning("heads", 0.0, heads=((0, 1),)),
        Pruning("heads", 1.0),
    ],
    ids=lambda one: f"{one.what}-{one.share}",
)
def test_what_is_left_learns_on_and_is_a_model_like_others(pruning, tuned, tmp_path):
    train, dev = toys(48, 24)
    events = list(
        prune(tuned, pruning, train, dev, SETTINGS, out=tmp_path / "out", probe_inputs=[{"text": "a with b"}])
    )
    (*preparing, first, begun), done = events[:4], events[-1]
    assert isinstance(first, Cut) and isinstance(begun, Started) and isinstance(done, Done)
    assert all(isinstance(one, Preparing) for one in preparing)
    assert next(event for event in events if isinstance(event, Eval)).metrics["accuracy"] == first.after["accuracy"]
    steps = [event for event in events if isinstance(event, Step)]
    assert len(steps) == 6 and steps[-1].progress == 1.0
    saved = Predictor.from_directory(tmp_path / "out")
    assert saved.task.score(saved.answers(dev.examples)[0], dev.examples)["accuracy"] == done.metrics["accuracy"]
    if pruning.what == "weights":
        zeros = torch.cat([weight.flatten() for weight in magnitude.pruned_weights(saved.model).values()]) == 0
        assert zeros.float().mean().item() == pytest.approx(0.5, abs=0.01)
        assert first.after["megabytes"] == first.before["megabytes"] and saved.model.config.model_type == "bert"
        assert first.after["compressed"] < first.before["compressed"]
    else:
        assert first.after["parameters"] < first.before["parameters"] and saved.model.config.model_type == "pruned"
        assert list(saved.model.config.heads) == first.heads and list(saved.model.config.neurons) == first.neurons


def test_what_cannot_be_pruned_is_refused(tuned, small_checkpoint, tmp_path):
    for wrong in ({"what": "words"}, {"share": 1.5}):
        with pytest.raises(ValueError):
            Pruning(**wrong)
    data, known = toys(16, 8), Predictor.from_directory(tuned)
    with pytest.raises(checkpoint.CheckpointError, match="not fine-tuned"):
        list(prune(small_checkpoint, Pruning(), *data, SETTINGS, out=tmp_path / "out"))
    with pytest.raises(ValueError, match="without any layer"):
        pruned(known, Pruning("layers", 1.0), data[0].examples)
    with pytest.raises(ValueError, match="no example with a label"):
        batches_of(known, [replace(example, label=None) for example in data[0].examples])
