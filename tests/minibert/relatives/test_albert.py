"""ALBERT is transformers' ALBERT, number for number and name for name."""

from dataclasses import replace

import pytest
import torch
import transformers
from safetensors.torch import load_file

from minibert import checkpoint
from minibert.count import parameters
from minibert.heads import BertForSequenceClassification
from minibert.model import Bert, BertForPreTraining
from minibert.relatives.albert import AlbertConfig
from tests.minibert.relatives.their_heads import rows

SIZES = {"vocab_size": 61, "hidden_size": 48, "embedding_size": 20, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 70, "max_position_embeddings": 24, "initializer_range": 0.2}
PUBLISHED = {"base": 11_683_584, "large": 17_683_968, "xlarge": 58_724_864, "xxlarge": 222_595_584}


def assert_equal(ours: BertForPreTraining, theirs: transformers.AlbertForPreTraining) -> None:
    batch, inputs = rows()
    with torch.no_grad():
        a, b = ours.eval()(batch), theirs.eval()(**inputs)
    assert (a.mlm_logits - b.prediction_logits)[batch.padding].abs().max() < 1e-4
    assert (a.nsp_logits - b.sop_logits).abs().max() < 1e-4


def test_theirs_in_ours(tmp_path):
    torch.manual_seed(0)
    theirs = transformers.AlbertForPreTraining(transformers.AlbertConfig(**SIZES))
    theirs.save_pretrained(tmp_path)
    assert_equal(checkpoint.load(tmp_path), theirs)


@pytest.mark.parametrize("dtype", [None, torch.float16])
def test_ours_in_theirs(dtype, tmp_path):
    torch.manual_seed(0)
    ours = BertForPreTraining(AlbertConfig(**SIZES))
    for weight in ours.parameters():
        weight.data = weight.data.half().float()
    checkpoint.save(tmp_path, ours, dtype=dtype)
    theirs, report = transformers.AlbertForPreTraining.from_pretrained(
        tmp_path, output_loading_info=True, dtype=torch.float32
    )
    assert not any(report.values()), report
    assert_equal(ours, theirs)


def test_a_task_head_too(tmp_path):
    torch.manual_seed(0)
    ours = BertForSequenceClassification(AlbertConfig(**SIZES), ["a", "b", "c"]).eval()
    checkpoint.save(tmp_path, ours)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    batch, inputs = rows()
    with torch.no_grad():
        assert (ours(batch).logits - theirs(**inputs).logits).abs().max() < 1e-4
    theirs.save_pretrained(tmp_path / "again")
    with torch.no_grad():
        assert torch.equal(checkpoint.load(tmp_path / "again")(batch).logits, ours(batch).logits)


@pytest.mark.parametrize(("name", "number"), PUBLISHED.items())
def test_the_published_sizes(name, number):
    config = AlbertConfig.preset(name)
    with torch.device("meta"):
        model = Bert(config)
    assert sum(weight.numel() for weight in model.parameters()) == parameters(config).with_pooler == number


def test_all_layers_are_one_block_in_memory_and_on_disk(tmp_path):
    checkpoint.save(tmp_path, BertForPreTraining(AlbertConfig(**SIZES)))
    names = load_file(tmp_path / "model.safetensors")
    assert not [name for name in names if "albert_layers.1" in name or ".layer.1" in name]
    model = checkpoint.load(tmp_path)
    assert all(block is model.bert.blocks[0] for block in model.bert.blocks)
    for weight in model.bert.blocks[2].mlp.expand.parameters():
        weight.data.zero_()
    assert not model.bert.blocks[0].mlp.expand.weight.any()


def test_embeddings_are_narrow_until_they_are_projected():
    seen = {}
    BertForPreTraining(AlbertConfig(**SIZES))(rows()[0], lambda name, x: seen.setdefault(name, x))
    assert seen["embeddings.sum"].shape == seen["embeddings.narrow"].shape == (3, 17, 20)
    assert seen["embeddings.out"].shape == (3, 17, 48)


@pytest.mark.parametrize("shared", ["attention", "feed_forward", "none"])
def test_half_a_block_or_nothing_is_shared_and_comes_back(shared, tmp_path):
    torch.manual_seed(0)
    ours = BertForPreTraining(AlbertConfig(**SIZES, shared=shared)).eval()
    first, last = ours.bert.blocks[0], ours.bert.blocks[2]
    assert (first.attn is last.attn) == (first.attn_norm is last.attn_norm) == (shared == "attention")
    assert (first.mlp is last.mlp) == (first.mlp_norm is last.mlp_norm) == (shared == "feed_forward")
    checkpoint.save(tmp_path, ours)
    again = checkpoint.load(tmp_path)
    assert again.config == ours.config and (again.bert.blocks[0].mlp is again.bert.blocks[2].mlp) == (
        shared == "feed_forward"
    )
    with torch.no_grad():
        assert torch.equal(again(rows()[0]).mlm_logits, ours(rows()[0]).mlm_logits)
    stored = sum(tensor.numel() for tensor in load_file(tmp_path / "model.safetensors").values())
    assert stored == parameters(ours.config).pretraining == sum(weight.numel() for weight in ours.parameters())


def test_layers_of_their_own_are_transformers_groups(tmp_path):
    torch.manual_seed(0)
    ours = BertForPreTraining(AlbertConfig(**SIZES, shared="none"))
    checkpoint.save(tmp_path, ours)
    theirs, report = transformers.AlbertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report.values()), report
    assert theirs.config.num_hidden_groups == 3
    assert_equal(ours, theirs)


def test_sharing_half_is_transformers_groups_with_that_half_copied():
    """It has no class for that: its layers of their own, with one layer's attention written into all."""
    torch.manual_seed(0)
    theirs = transformers.AlbertForPreTraining(transformers.AlbertConfig(**SIZES, num_hidden_groups=3))
    groups = [group.albert_layers[0] for group in theirs.albert.encoder.albert_layer_groups]
    for group in groups[1:]:
        group.attention.load_state_dict(groups[0].attention.state_dict())
    ours = BertForPreTraining(AlbertConfig(**SIZES, shared="attention"))
    state, names = theirs.state_dict(), checkpoint.stored_names(ours)
    ours.load_state_dict({name: state[names[name]] for name in ours.state_dict() if names[name]}, strict=False)
    assert_equal(ours, theirs)


def test_another_question_about_pairs_is_noted(tmp_path):
    from minibert.toy.pretrain import TOY, pretrain_toy

    sizes = {"hidden_size": 16, "intermediate_size": 32, "embedding_size": 8, "num_attention_heads": 1}
    for second, format in ((None, "doc_sentences"), ("nsp", "segment_pair")):
        settings = replace(
            TOY, relative="albert", sizes=sizes, objective_options={"second": second}, minutes=None, steps=1,
            input_format=format, snapshots=(),
        )  # fmt: skip
        list(pretrain_toy(settings, tmp_path / str(second), stories=30))
        asked = checkpoint.config_values(tmp_path / str(second))[checkpoint.OBJECTIVE]
        assert asked == f"mlm+{second}".removesuffix("+None")


@pytest.mark.parametrize("wrong", [{"num_hidden_groups": 2}, {"embedding_size": 0}, {"inner_group_num": 3}])
def test_what_this_is_not(wrong):
    with pytest.raises(ValueError, match="must be 1 here"):
        AlbertConfig(**{**SIZES, **wrong})


def test_what_is_shared_is_one_of_four():
    with pytest.raises(ValueError, match="shared must be one of none, attention, feed_forward, all, not 'heads'"):
        AlbertConfig(**SIZES, shared="heads")
