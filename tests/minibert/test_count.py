"""Counts held against the paper's table, against transformers, and against models really built, run and trained."""

import re
import subprocess
import sys
import weakref

import pytest
import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from minibert.config import PRESETS, BertConfig
from minibert.count import FAMILY, CostTerm, Shape, by_group, computed, flops, largest_batch, memory, parameters
from minibert.model import Batch, Bert, BertForPreTraining

# Devlin et al. 2019, §3, and Turc et al. 2019: L/H/A by name, V 30,522 → encoder, + pooler, MaskedLM, PreTraining
TABLE = {
    "tiny": (4_369_408, 4_385_920, 4_416_698, 4_433_468),
    "mini": (11_104_768, 11_170_560, 11_201_594, 11_267_900),
    "small": (28_500_992, 28_763_648, 28_795_194, 29_058_876),
    "medium": (41_110_528, 41_373_184, 41_404_730, 41_668_412),
    "base": (108_891_648, 109_482_240, 109_514_298, 110_106_428),
    "large": (334_092_288, 335_141_888, 335_174_458, 336_226_108),
}
RELATIVES = {
    "RoBERTa-base": 124_645_632,
    "DistilBERT": 66_362_880,
    "ALBERT-base": 11_683_584,
    "ALBERT-large": 17_683_968,
    "ALBERT-xlarge": 58_724_864,
    "ALBERT-xxlarge": 222_595_584,
    "ELECTRA-small": 13_483_008,
}
# A vocabulary, width, layers, heads and inner width of no size that others have.
ODD = BertConfig(101, 42, 3, 7, 50, max_position_embeddings=33, type_vocab_size=5)
CONFIGS = {name: BertConfig.preset(name) for name in PRESETS} | {"odd": ODD}


def numel(model) -> int:
    return sum(p.numel() for p in model.parameters())


def on_meta(build):
    with torch.device("meta"):
        return build()


def identity(name, x):
    """A tap that changes nothing, and so chooses the explicit path."""
    return x


def pretraining_batch(config, batch, tokens, every=7) -> tuple[Batch, int]:
    torch.manual_seed(0)
    ids = torch.randint(0, config.vocab_size, (batch, tokens))
    labels = torch.full((batch, tokens), -100)
    labels[:, ::every] = ids[:, ::every]
    return Batch(ids, labels=labels, next_labels=torch.zeros(batch, dtype=torch.long)), int((labels != -100).sum())


# ------------------------------------------------------------------------------------------------------ parameters
@pytest.fixture(autouse=True)
def fused_attention(monkeypatch):
    """What is counted as fused is run as fused, on a CPU too."""
    monkeypatch.setattr("minibert.model.fused_is_faster", lambda x: True)


@pytest.mark.parametrize("name", TABLE)
def test_every_figure_of_the_table(name):
    totals = parameters(BertConfig.preset(name)).totals()
    assert totals == dict(zip(("encoder", "with_pooler", "masked_lm", "pretraining"), TABLE[name], strict=True))


@pytest.mark.parametrize("name", CONFIGS)
def test_equal_to_the_model_built_and_to_transformers(name):
    config, count = CONFIGS[name], parameters(CONFIGS[name])
    theirs = transformers.BertConfig(**config.as_dict())
    assert count.encoder == numel(on_meta(lambda: transformers.BertModel(theirs, add_pooling_layer=False)))
    assert count.masked_lm == numel(on_meta(lambda: transformers.BertForMaskedLM(theirs)))
    for counted, ours, published in (
        (count.with_pooler, Bert, transformers.BertModel),
        (count.pretraining, BertForPreTraining, transformers.BertForPreTraining),
    ):
        built = on_meta(lambda ours=ours, published=published: (ours(config), published(theirs)))
        assert [numel(model) for model in built] == [counted, counted]


def test_every_part_is_the_module_of_that_name():
    model = on_meta(lambda: BertForPreTraining(ODD))
    built: dict[str, int] = {}
    for name, p in model.named_parameters():  # the tied matrix is named once, under the embeddings
        part = re.sub(r"^bert\.", "", name).rpartition(".")[0]
        part = re.sub(r"^blocks\.\d+", "block", part)
        built[part] = built.get(part, 0) + p.numel()
    assert {part.name: part.total for part in parameters(ODD).parts} == built


def relatives_of_transformers(name):
    """→ (model with its pooler, model of its pre-training), as transformers builds them from the same sizes."""
    t, r = transformers, FAMILY[name]
    sizes = {**r.config.as_dict(), "attn_implementation": "eager"}
    if name.startswith("RoBERTa"):
        config = t.RobertaConfig(**sizes)
        return t.RobertaModel(config), t.RobertaForMaskedLM(config)
    if name.startswith("Distil"):
        config = t.DistilBertConfig(**sizes, hidden_dim=r.config.intermediate_size)
        return t.DistilBertModel(config), t.DistilBertForMaskedLM(config)
    if name.startswith("ALBERT"):
        config = t.AlbertConfig(embedding_size=r.embedding_size, **sizes)
        return t.AlbertModel(config), t.AlbertForPreTraining(config)
    config = t.ElectraConfig(embedding_size=r.embedding_size, **sizes)
    return t.ElectraModel(config), t.ElectraForPreTraining(config)


@pytest.mark.parametrize("name", RELATIVES)
def test_relatives_equal_transformers_built_and_run(name):
    shape = FAMILY[name]
    count = parameters(shape)
    model, pretraining = on_meta(lambda: relatives_of_transformers(name))
    assert count.with_pooler == RELATIVES[name] == numel(model)
    assert count.pretraining == numel(pretraining)
    ids = torch.zeros(2, 64, dtype=torch.long, device="meta")
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        pretraining(input_ids=ids)
    assert counter.get_total_flops() == flops(shape, 2, 64, masked=1, training=False).total


def test_a_block_is_12_h_squared_and_layers_add_up():
    for name in PRESETS:
        config = BertConfig.preset(name)
        h, count = config.hidden_size, parameters(config)
        block = {part.name: part.one for part in count.parts if part.name.startswith("block.")}
        assert count.block == 12 * h**2 + 13 * h
        assert sum(n for part, n in block.items() if part.startswith("block.attn.")) == 4 * h**2 + 4 * h
        assert sum(n for part, n in block.items() if part.startswith("block.mlp.")) == 8 * h**2 + 5 * h
    at = [parameters(BertConfig.preset("mini", num_hidden_layers=n)) for n in (3, 4, 5)]
    assert at[1].encoder - at[0].encoder == at[2].encoder - at[1].encoder == at[0].block


def test_formula_numbers_and_value_agree():
    for part in parameters(BertConfig.preset("base")).parts:
        assert eval(part.numbers.replace(",", "").replace("·", "*").replace("²", "**2")) == part.one
    assert CostTerm("x", "g", "4·H² + V·H", {"H": 768, "V": 30522}).numbers == "4·768² + 30,522·768"
    for no_formula in ("f(H)", "H.real", "H/2", "-H"):
        with pytest.raises(ValueError, match="no formula"):
            computed(no_formula, {"H": 4})


@pytest.mark.parametrize(
    ("bad", "says"),
    [({"objective": "clm"}, "objective"), ({"pooler": False}, "pooler"), ({"embedding_size": 0}, "embedding_size")],
)
def test_a_relative_that_cannot_be_is_refused(bad, says):
    with pytest.raises(ValueError, match=says):
        Shape(BertConfig(), **bad)


def test_counting_needs_no_torch():
    code = "import sys, minibert.count as c; c.parameters(c.FAMILY['BERT-base']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# ----------------------------------------------------------------------------------------------------------- FLOPs
@pytest.mark.parametrize("config", [BertConfig.preset("tiny", vocab_size=500), ODD], ids=["tiny", "odd"])
def test_flops_of_a_training_step_equal_the_counter(config):
    batch, asked = pretraining_batch(config, 4, 28)
    model = BertForPreTraining(config)
    with FlopCounterMode(display=False) as counter:
        loss = model(batch, identity).loss
        forward = counter.get_total_flops()
        loss.backward()
    count = flops(config, 4, 28, masked=asked / (4 * 28))
    assert forward == count.forward
    assert counter.get_total_flops() == count.total == 3 * count.forward


@pytest.mark.parametrize("name", ["mini", "base", "large"])
def test_flops_of_inference_with_the_dense_head(name):
    config = BertConfig.preset(name)
    model = on_meta(lambda: BertForPreTraining(config))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(Batch(torch.zeros(2, 128, dtype=torch.long, device="meta")), identity)
    assert counter.get_total_flops() == flops(config, 2, 128, masked=1, training=False).total


def test_what_facts_say_of_the_dense_head():
    """The decoder is 90 % of tiny's forward FLOPs and 70 % of mini's; 15 % only saves 4.2× and 2.5×."""
    for name, share, saved in (("tiny", 0.90, 4.2), ("mini", 0.70, 2.5)):
        dense, asked = (flops(BertConfig.preset(name), 32, 128, masked=m) for m in (1, 0.15))
        head = sum(part.total for part in dense.parts if part.name.startswith("mlm."))
        assert head / dense.forward == pytest.approx(share, abs=0.01)
        assert dense.forward / asked.forward == pytest.approx(saved, abs=0.05)


def test_attention_is_quadratic_in_tokens_and_the_rest_linear():
    config = BertConfig.preset("base")
    short, long = (by_group(flops(config, 1, t).parts) for t in (128, 256))
    assert long["scores"] == 4 * short["scores"]
    assert long["attention"] == 2 * short["attention"] and long["mlp"] == 2 * short["mlp"]
    config = BertConfig.preset("tiny", max_position_embeddings=1000)
    groups = by_group(flops(config, 1, 6 * config.hidden_size).parts)  # 4·B·T²·H against 24·B·T·H² a block
    assert groups["scores"] == groups["attention"] + groups["mlp"]


# ---------------------------------------------------------------------------------------------------------- memory
def test_weights_gradients_and_moments_are_exact():
    config = BertConfig.preset("tiny", vocab_size=300)
    model = BertForPreTraining(config)
    optimizer = torch.optim.AdamW(model.parameters())
    model(pretraining_batch(config, 2, 9)[0]).loss.backward()
    optimizer.step()
    moments = [s[key] for s in optimizer.state.values() for key in ("exp_avg", "exp_avg_sq")]
    groups = by_group(memory(config, 2, 9).parts)
    assert groups["weights"] == sum(p.nbytes for p in model.parameters())
    assert groups["gradients"] == sum(p.grad.nbytes for p in model.parameters())
    assert groups["moments"] == sum(m.nbytes for m in moments)
    assert by_group(memory(config, 2, 9, optimizer="sgd").parts)["moments"] == 0


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(("attention", "dropout"), [("explicit", 0.1), ("explicit", 0.0), ("fused", 0.0)])
@pytest.mark.parametrize("sizes", ["tiny", "mini"])
def test_activations_equal_what_autograd_keeps(sizes, attention, dropout, precision):
    """For backward, weights themselves aside, each storage once."""
    config = BertConfig.preset(sizes, vocab_size=400, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    inputs, asked = pretraining_batch(config, 3, 48)
    model = BertForPreTraining(config).train()
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"),
    ):
        model(inputs, identity) if attention == "explicit" else model(inputs)
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    measured = sum(storage.nbytes() for key, storage in kept.items() if key not in weights)
    how = {"attention": attention, "precision": precision, "masked": asked / (3 * 48)}
    groups = by_group(memory(config, 3, 48, **how).parts)
    counted = groups["activations"] + groups["scores"] + groups.get("copies", 0)
    assert counted == pytest.approx(measured, rel=0.001)  # what is left: a few scalars, labels, masks


class Peak(TorchDispatchMode):
    """The most bytes alive at one time in tensors made inside; views of `given` tensors do not count."""

    def __init__(self, given):
        super().__init__()
        self.now = self.most = 0
        self.seen = {tensor.untyped_storage()._cdata for tensor in given}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                self.watch(tensor.untyped_storage())
        return out

    def watch(self, storage):
        key, size = storage._cdata, storage.nbytes()
        if key in self.seen:
            return
        self.seen.add(key)
        self.now += size
        self.most = max(self.most, self.now)
        weakref.finalize(storage, self.free, key, size)

    def free(self, key, size):
        self.seen.discard(key)
        self.now -= size


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(
    ("batch", "tokens", "attention"), [(2, 128, "fused"), (2, 128, "explicit"), (1, 512, "explicit"), (1, 512, "fused")]
)
def test_peak_of_inference(batch, tokens, attention, precision):
    config = BertConfig.preset("tiny", vocab_size=4000)
    model = BertForPreTraining(config).eval().to(torch.bfloat16 if precision == "bf16" else torch.float32)
    weights = sum(p.nbytes for p in model.parameters())
    inputs = Batch(pretraining_batch(config, batch, tokens)[0].ids)
    tap = {"tap": identity} if attention == "explicit" else {}
    for run, masked in ((model, 1.0), (model.bert, 0.0)):
        with torch.no_grad(), Peak(model.parameters()) as measured:
            run(inputs, **tap)
        counted = memory(config, batch, tokens, training=False, attention=attention, precision=precision, masked=masked)
        assert counted.peak == pytest.approx(weights + measured.most, rel=0.01)


@pytest.mark.parametrize(
    ("sizes", "batch", "tokens", "attention", "precision"),
    [
        ("tiny", 8, 128, "fused", "fp32"),  # the activations decide
        ("mini", 2, 256, "explicit", "fp32"),
        ("small", 1, 32, "fused", "fp32"),  # the gradients decide
        ("mini", 4, 32, "fused", "bf16"),
    ],
)
def test_peak_of_training(sizes, batch, tokens, attention, precision):
    config = BertConfig.preset(sizes, vocab_size=8000, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = BertForPreTraining(config).train()
    inputs, asked = pretraining_batch(config, batch, tokens)
    with Peak(model.parameters()) as measured:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = (model(inputs, identity) if attention == "explicit" else model(inputs)).loss
        loss.backward()
    how = {"attention": attention, "precision": precision, "masked": asked / (batch * tokens)}
    counted = memory(config, batch, tokens, optimizer="sgd", **how)
    # Between the start and the end of backward a little more can be alive than at either.
    assert counted.peak == pytest.approx(sum(p.nbytes for p in model.parameters()) + measured.most, rel=0.06)


def test_agrees_with_the_published_estimate_of_activations():
    """Korthikanti et al. 2022, §4.1: B·T·H·(34 + 5·A·T/H) bytes a block, everything in 16 bit, dropout masks a byte."""
    config = BertConfig.preset("large")
    batch, tokens = 4, 512
    parts = memory(config, batch, tokens, attention="explicit", precision="bf16").parts
    kept = {part.name: part.one for part in parts if part.group in ("activations", "scores")}
    bth, bat2 = batch * tokens * config.hidden_size, batch * config.num_attention_heads * tokens**2
    # Ours more: the input cast three times (2 copies × 2 bytes), two norms in fp32 (2 × 2), two masks of 2 bytes
    # (2 × 1), one byte more in the attention's mask, and each norm's mean and deviation.
    extra = 10 * bth + bat2 + 16 * batch * tokens
    modules = ("attn", "attn_norm", "mlp", "mlp_norm", "dropout")
    block = sum(n for name, n in kept.items() if name.split(".")[1] in modules)
    assert block - extra == 34 * bth + 5 * bat2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"tokens": 513}, "512 positions"),
        ({"batch": 0}, "at least 1"),
        ({"masked": 1.5}, "0 to 1"),
        ({"optimizer": "lion"}, "optimizer"),
        ({"precision": "int8"}, "precision"),
        ({"attention": "linear"}, "attention"),
    ],
)
def test_what_cannot_be_counted_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        memory(BertConfig(), **{"batch": 1, "tokens": 8, **arguments})


@pytest.mark.parametrize("tokens", [16, 128, 512])
@pytest.mark.parametrize("attention", ["fused", "explicit"])
def test_the_largest_batch_fits_and_one_row_more_does_not(tokens, attention):
    config, size, how = BertConfig.preset("base"), 12 * 2**30, {"masked": 0.0, "attention": attention}
    batch = largest_batch(config, tokens, size, **how)
    assert memory(config, batch, tokens, **how).peak <= size < memory(config, batch + 1, tokens, **how).peak
    assert largest_batch(config, tokens, memory(config, 1, tokens, **how).peak - 1, **how) == 0


def test_the_largest_batch_falls_with_the_length_as_it_was_measured():
    """README of google-research/bert, "Out-of-memory issues": a card of 12 GB. TensorFlow 1.11 held fewer rows, but no
    fewer for short ones than for long ones."""
    measured = {64: 64, 128: 32, 256: 16, 320: 14, 384: 12, 512: 6}
    config, how = BertConfig.preset("base"), {"masked": 0.0, "attention": "explicit"}
    for tokens, batch in measured.items():
        assert 1.5 < largest_batch(config, tokens, 12 * 2**30, **how) / batch < 4
