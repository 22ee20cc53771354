"""ALBERT: what its layers share, and what transformers makes of it."""

from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file

from minibert import checkpoint
from minibert.count import parameters
from minibert.model import BertForPreTraining
from minibert.pretrain import pretrain
from minibert.relatives import build, shape_of
from minibert.relatives.albert import AlbertConfig
from tests.minibert.relatives.their_heads import assert_equal, rows
from tests.minibert.relatives.toy_world import SETTINGS, texts_in

SIZES = {"vocab_size": 61, "hidden_size": 48, "embedding_size": 20, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 70, "max_position_embeddings": 24, "initializer_range": 0.2}


def albert(**changes) -> BertForPreTraining:
    torch.manual_seed(0)
    return build(AlbertConfig(**{**SIZES, **changes}), BertForPreTraining).eval()


@pytest.mark.parametrize("shared", ["all", "attention", "feed_forward", "none"])
def test_what_is_shared_is_so_in_memory_and_on_disk(shared, tmp_path):
    ours = albert(shared=shared)
    checkpoint.save(tmp_path, ours)
    again = checkpoint.load(tmp_path)
    assert again.config == ours.config
    for model in (ours, again):
        first, *others = model.bert.blocks
        for other in others:
            for half, part in (("attention", "attn"), ("feed_forward", "mlp")):
                one = getattr(first, part) is getattr(other, part)
                assert one == (getattr(first, f"{part}_norm") is getattr(other, f"{part}_norm"))
                assert one == (shared in (half, "all"))
    with torch.no_grad():
        assert torch.equal(again(rows()[0]).mlm_logits, ours(rows()[0]).mlm_logits)
    stored = sum(tensor.numel() for tensor in load_file(tmp_path / "model.safetensors").values())
    counted = parameters(shape_of(ours.config)).pretraining
    assert stored == counted == sum(weight.numel() for weight in ours.parameters())
    if shared in ("all", "none"):  # which transformers has: one group of layers, or as many as layers
        theirs, report = transformers.AlbertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
        assert not any(report.values()) and theirs.config.num_hidden_groups == (1 if shared == "all" else 3)
        assert_equal(ours, theirs)


def test_sharing_half_is_transformers_groups_with_that_half_copied():
    """It has no class for that: its layers of their own, with one layer's attention written into all."""
    torch.manual_seed(0)
    theirs = transformers.AlbertForPreTraining(transformers.AlbertConfig(**SIZES, num_hidden_groups=3))
    groups = [group.albert_layers[0] for group in theirs.albert.encoder.albert_layer_groups]
    for group in groups[1:]:
        group.attention.load_state_dict(groups[0].attention.state_dict())
    ours = albert(shared="attention")
    state, names = theirs.state_dict(), checkpoint.stored_names(ours)
    ours.load_state_dict({name: state[names[name]] for name in ours.state_dict() if names[name]}, strict=False)
    assert_equal(ours, theirs)


@pytest.mark.parametrize(("second", "rows_of"), [(None, "doc_sentences"), ("nsp", "segment_pair")])
def test_another_question_about_pairs_is_noted(second, rows_of, tmp_path):
    options, sizes = {"second": second}, {**SETTINGS.sizes, "embedding_size": 16}
    settings = replace(SETTINGS, relative="albert", steps=1, sizes=sizes, objective_options=options)
    settings = replace(settings, input_format=rows_of)
    list(pretrain(settings, out=tmp_path / "run", **texts_in(tmp_path)))
    assert checkpoint.config_values(tmp_path / "run")[checkpoint.OBJECTIVE] == ("mlm+nsp" if second else "mlm")
