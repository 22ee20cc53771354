"""The model against `transformers`, in both directions of weight transfer, and against itself."""

import math

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.attention_masks import causal_mask, padding_mask, prefix_mask
from minibert.checkpoint import their_name
from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining, SelfAttention, masked_softmax
from minibert.relatives import relative_named

ODD = {"hidden_act": "gelu_new", "layer_norm_eps": 1e-6, "max_position_embeddings": 77, "type_vocab_size": 3}
CONFIGS = {
    "tiny": BertConfig.preset("tiny"),
    "mini": BertConfig.preset("mini", vocab_size=8192),
    "odd sizes": BertConfig(997, 42, num_hidden_layers=3, num_attention_heads=7, intermediate_size=101, **ODD),
    "long padded pairs": BertConfig.preset("tiny", vocab_size=1200),
}


def batch_for(name: str, config: BertConfig) -> Batch:
    rng = torch.Generator().manual_seed(7)
    shape = (3, 512) if name == "long padded pairs" else (4, min(33, config.max_position_embeddings))
    ids = torch.randint(config.vocab_size, shape, generator=rng)
    segments = torch.randint(config.type_vocab_size, shape, generator=rng)
    lengths = torch.linspace(shape[1], shape[1] // 3, shape[0]).long()
    return Batch(ids, segments, torch.arange(shape[1]) < lengths[:, None])


def perturbed(config: BertConfig, seed: int = 1) -> BertForPreTraining:
    """A model none of whose weights is at an initial constant, so that a swapped bias or LayerNorm shows."""
    torch.manual_seed(seed)
    model = BertForPreTraining(config).eval()
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=rng))
    return model


def reference(config: BertConfig) -> transformers.BertForPreTraining:
    theirs = transformers.BertConfig(**config.as_dict(), attn_implementation="eager")
    return transformers.BertForPreTraining(theirs).eval()


def assert_same_logits(got, expected, batch: Batch):
    real = batch.padding  # what is computed at padding is nobody's business
    torch.testing.assert_close(got.mlm_logits[real], expected.prediction_logits[real], atol=1e-4, rtol=0)
    torch.testing.assert_close(got.nsp_logits, expected.seq_relationship_logits, atol=1e-4, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_and_attention_equal_transformers_with_our_weights(name):
    """On the fast path and on the explicit one."""
    config, batch = CONFIGS[name], batch_for(name, CONFIGS[name])
    ours, theirs = perturbed(config), reference(config)
    state = {their_name(key, relative_named("bert")): value for key, value in ours.state_dict().items()}
    state["cls.predictions.decoder.bias"] = state["cls.predictions.bias"]
    outcome = theirs.load_state_dict(state, strict=False)
    assert not outcome.unexpected_keys
    assert set(outcome.missing_keys) <= {"bert.embeddings.position_ids"}
    expected = theirs(batch.ids, batch.padding.long(), batch.segments, output_attentions=True)
    seen = {}
    fast, explicit = ours(batch), ours(batch, tap=lambda name, x: seen.setdefault(name, x))
    assert_same_logits(fast, expected, batch)
    torch.testing.assert_close(fast.mlm_logits[batch.padding], explicit.mlm_logits[batch.padding], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(fast.nsp_logits, explicit.nsp_logits, atol=1e-5, rtol=1e-5)
    assert len(expected.attentions) == config.num_hidden_layers
    for layer, probs in enumerate(expected.attentions):
        torch.testing.assert_close(seen[f"blocks.{layer}.attn.probs"], probs, atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("name", CONFIGS)
def test_logits_equal_transformers_with_their_weights(name, tmp_path):
    config, batch = CONFIGS[name], batch_for(name, CONFIGS[name])
    theirs = reference(config)
    for weight in theirs.parameters():
        weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())))
    theirs.save_pretrained(tmp_path)
    assert_same_logits(checkpoint.load(tmp_path)(batch), theirs(batch.ids, batch.padding.long(), batch.segments), batch)


def test_mlm_loss_before_the_first_step_is_ln_v():
    torch.manual_seed(0)
    config = BertConfig.preset("tiny")
    model = BertForPreTraining(config).eval()
    ids = torch.randint(config.vocab_size, (4, 32))
    with torch.no_grad():
        output = model(Batch(ids, labels=ids, next_labels=torch.zeros(4, dtype=torch.long)))
    assert output.mlm_loss.item() == pytest.approx(math.log(config.vocab_size), rel=0.02)
    assert output.nsp_loss.item() == pytest.approx(math.log(2), rel=0.1)
    assert output.loss.item() == pytest.approx(output.mlm_loss.item() + output.nsp_loss.item())


def test_initial_weights_are_truncated_normal():
    model = BertForPreTraining(BertConfig.preset("tiny"))
    weight = model.bert.embeddings.token.weight
    assert weight.abs().max() <= 0.04
    # A normal cut at ±2σ has standard deviation 0.8796 σ.
    assert weight.std().item() == pytest.approx(0.8796 * 0.02, rel=0.01)
    for name, value in model.named_parameters():
        if name.endswith("bias"):
            assert not value.any(), name
        if "norm" in name and name.endswith("weight"):
            assert (value == 1).all(), name


def test_masked_positions_only_gives_the_logits_of_all_positions():
    config = CONFIGS["odd sizes"]
    model, batch = perturbed(config), batch_for("odd sizes", config)
    labels = torch.full_like(batch.ids, IGNORE)
    labels[0, 3], labels[2, 9] = 5, 6
    with torch.no_grad():
        every, some = model(batch), model(Batch(batch.ids, batch.segments, batch.padding, labels))
    torch.testing.assert_close(some.mlm_logits, every.mlm_logits[[0, 2], [3, 9]])
    expected = torch.nn.functional.cross_entropy(every.mlm_logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(some.mlm_loss, expected)
    assert some.nsp_loss is None


def test_a_batch_without_any_label_has_no_loss():
    model = BertForPreTraining(BertConfig(20, 8, 1, 2, 16, max_position_embeddings=8))
    ids = torch.randint(20, (2, 5))
    output = model(Batch(ids, labels=torch.full_like(ids, IGNORE)))
    output.loss.backward()
    assert output.loss == 0 and all(w.grad is None or not w.grad.any() for w in model.parameters())


def test_what_cannot_be_asked_is_refused():
    model = perturbed(CONFIGS["odd sizes"])
    with pytest.raises(ValueError, match="neither labels nor next_labels"):
        _ = model(batch_for("odd sizes", model.config)).loss
    with pytest.raises(ValueError, match="78 tokens, but there are only 77 positions"):
        model(Batch(torch.zeros(1, 78, dtype=torch.long)))


def test_every_intermediate_is_tapped_with_its_shape():
    config = CONFIGS["odd sizes"]
    model, batch = perturbed(config), batch_for("odd sizes", config)
    seen = {}
    with torch.no_grad():
        model(batch, tap=lambda name, x: seen.setdefault(name, x))
    b, t, h, a, d, f = 4, 33, 42, 7, 6, 101
    per_block = dict.fromkeys(("attn.query", "attn.key", "attn.value", "attn.mixed"), (b, a, t, d))
    per_block |= dict.fromkeys(("attn.scores", "attn.probs"), (b, a, t, t))
    per_block |= dict.fromkeys(("attn.out", "attn.norm", "mlp.out", "out"), (b, t, h))
    per_block["mlp.hidden"] = (b, t, f)
    sums = (f"embeddings.{name}" for name in ("token", "segment", "sum", "out"))
    expected = {
        **dict.fromkeys(sums, (b, t, h)),
        "embeddings.position": (1, t, h),
        **{f"blocks.{i}.{name}": shape for i in range(3) for name, shape in per_block.items()},
        "pooler.out": (b, h),
        "nsp.logits": (b, 2),
        "mlm.logits": (b, t, 997),
    }
    assert {name: tuple(x.shape) for name, x in seen.items()} == expected
    probs = seen["blocks.1.attn.probs"]
    torch.testing.assert_close(probs.sum(-1), torch.ones(b, a, t))
    assert not probs.masked_select(~batch.padding[:, None, None, :].expand_as(probs)).any()
    parts = [seen[f"embeddings.{name}"] for name in ("token", "segment", "position")]
    torch.testing.assert_close(sum(parts), seen["embeddings.sum"])


def test_two_students_ablate_without_meeting():
    config = CONFIGS["odd sizes"]
    model, batch = perturbed(config), batch_for("odd sizes", config)

    def without_head_2(name, x):
        if name == "blocks.1.attn.mixed":
            x = x.clone()
            x[:, 2] = 0
        return x

    with torch.no_grad():
        before = model(batch).mlm_logits
        ablated = model(batch, tap=without_head_2).mlm_logits
        after = model(batch).mlm_logits
    assert (ablated - before).abs().max() > 1e-3
    assert torch.equal(before, after)
    # The same head silenced by hand, in the weights, gives the same logits.
    by_hand = perturbed(config)
    with torch.no_grad():
        by_hand.bert.blocks[1].attn.output.weight[:, 2 * 6 : 3 * 6] = 0
        torch.testing.assert_close(by_hand(batch, tap=lambda name, x: x).mlm_logits, ablated, atol=1e-5, rtol=1e-5)


def test_masks_say_who_sees_whom():
    real = torch.tensor([[True, True, False]])
    assert padding_mask(real).tolist() == [[[[True, True, False]]]]
    assert causal_mask(3)[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    seq2seq = prefix_mask(torch.tensor([[0, 0, 1, 1]]))[0, 0].int().tolist()
    assert seq2seq == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    probs = masked_softmax(torch.zeros(1, 1, 3, 3), causal_mask(3))
    torch.testing.assert_close(probs[0, 0], torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": 130}, "does not divide evenly among 4 heads"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be a whole number of at least 1"),
        ({"vocab_size": 1.5}, "vocab_size must be a whole number"),
        ({"hidden_act": "swish"}, "hidden_act must be one of"),
        ({"hidden_dropout_prob": 1.0}, "hidden_dropout_prob must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        BertConfig.preset("mini", **change)


def test_a_row_that_may_look_nowhere_mixes_nothing_on_both_paths():
    torch.manual_seed(0)
    attention = SelfAttention(CONFIGS["tiny"]).eval()
    x = torch.randn(1, 4, attention.query.in_features)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()[None, None]
    mask = mask & (torch.arange(4) > 0)  # the first token may not even see itself
    with torch.no_grad():
        fused, explicit = attention(x, mask), attention(x, mask, lambda name, y: y)
    assert torch.allclose(fused, explicit, atol=1e-6)
    assert torch.allclose(explicit[0, 0], attention.output.bias)
    x.requires_grad_()
    attention(x, mask, lambda name, y: y).sum().backward()
    assert x.grad.isfinite().all() and all(p.grad.isfinite().all() for p in attention.parameters())


def test_positions_of_ones_own():
    torch.manual_seed(0)
    bert = Bert(BertConfig(50, 32, 2, 2, 64, max_position_embeddings=16)).eval()
    ids = torch.randint(50, (2, 6))
    with torch.no_grad():
        usual = bert(Batch(ids))[0]
        assert torch.equal(bert(Batch(ids, positions=torch.arange(6).expand(2, 6)))[0], usual)
        assert not torch.allclose(bert(Batch(ids, positions=torch.arange(6).flip(0).expand(2, 6)))[0], usual)
    with pytest.raises(ValueError, match="17 tokens, but there are only 16 positions"):
        bert(Batch(ids, positions=torch.full((2, 6), 16)))
