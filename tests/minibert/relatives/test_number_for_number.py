"""Networks that transformers has, too: its weights in ours and ours in its, number for number and name for name."""

import json

import pytest
import torch
import transformers

from minibert import checkpoint, heads
from minibert.config import BertConfig
from minibert.count import FAMILY, parameters
from minibert.distillation.student import alternate_layers, student_of
from minibert.model import Batch, BertForPreTraining
from minibert.relatives import build, shape_of
from minibert.relatives.albert import AlbertConfig
from minibert.relatives.distilbert import DistilBertConfig
from minibert.relatives.electra import ElectraConfig
from minibert.relatives.ernie import ErnieConfig
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.relatives.parts.replaced_token_detection import Discriminator, Generator
from minibert.relatives.roberta import RobertaConfig
from tests.minibert.relatives.their_heads import assert_equal, rows

SIZES = {"vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 72, "max_position_embeddings": 24, "initializer_range": 0.2}
FACTORISED = {**SIZES, "embedding_size": 20}
CONFIGS = {
    "Albert": (AlbertConfig, FACTORISED),
    "DistilBert": (DistilBertConfig, SIZES),
    "Electra": (ElectraConfig, FACTORISED),
    "Ernie": (ErnieConfig, SIZES),
    "Roberta": (RobertaConfig, {**SIZES, "type_vocab_size": 1}),
}
TASKS = ("SequenceClassification", "TokenClassification", "QuestionAnswering", "MultipleChoice")
CLASSES = {f"For{task}": getattr(heads, f"BertFor{task}") for task in TASKS}
CLASSIFIER = {"ForSequenceClassification": heads.BertForSequenceClassification}
NETWORKS = {
    "Albert": {"ForPreTraining": BertForPreTraining, **CLASSIFIER},
    "DistilBert": {"ForMaskedLM": MaskedLm, **CLASSES},
    "Electra": {"ForPreTraining": Discriminator, "ForMaskedLM": Generator, **CLASSES},
    "Ernie": {"ForPreTraining": BertForPreTraining},
    "Roberta": {"ForMaskedLM": MaskedLm, **CLASSIFIER},
}
CASES = [(relative, name, {}) for relative, classes in NETWORKS.items() for name in classes]
CASES += [("Electra", name, {"embedding_size": 48}) for name in NETWORKS["Electra"]]  # E = H: nothing is projected


def both(relative: str, name: str, changes: dict):
    """(transformers' class, its config, our class, our config)"""
    config, sizes = CONFIGS[relative]
    sizes, theirs = {**sizes, **changes}, getattr(transformers, relative + name)
    names = DistilBertConfig.renamed if relative == "DistilBert" else {}
    renamed = {names.get(field, field): size for field, size in sizes.items()}
    return theirs, theirs.config_class(**renamed), NETWORKS[relative][name], config(**sizes)


@pytest.mark.parametrize(
    ("relative", "name", "changes", "dtype"),
    [*((*case, None) for case in CASES), ("Albert", "ForPreTraining", {}, torch.float16)],
)
def test_theirs_in_ours_and_ours_in_theirs(relative, name, changes, dtype, tmp_path):
    theirs, their_config, kind, config = both(relative, name, changes)
    torch.manual_seed(0)
    model = theirs(their_config)
    model.save_pretrained(tmp_path / "theirs")
    loaded = checkpoint.load(tmp_path / "theirs")
    assert type(loaded) is kind and type(loaded.config) is type(config)
    assert_equal(loaded, model)

    ours = build(config, kind)
    for weight in ours.parameters():  # so that rounding changes nothing
        weight.data = weight.data.half().float()
    checkpoint.save(tmp_path / "ours", ours, dtype=dtype)
    again, report = theirs.from_pretrained(tmp_path / "ours", output_loading_info=True, dtype=torch.float32)
    if (relative, name) == ("Roberta", "ForMaskedLM"):  # which has no pooler there
        assert all("pooler" in key for key in report.pop("unexpected_keys"))
    assert not any(report.values()), report
    assert_equal(ours, again)
    assert json.loads((tmp_path / "ours" / "config.json").read_text())["architectures"] == [relative + name]


@torch.no_grad()
def test_the_encoder_of_a_roberta_is_theirs_with_its_pooler(tmp_path):
    *_, kind, config = both("Roberta", "ForMaskedLM", {})
    ours = build(config, kind).eval()
    checkpoint.save(tmp_path, ours)
    theirs, report = transformers.RobertaModel.from_pretrained(tmp_path, output_loading_info=True)
    batch, inputs = rows()
    del inputs["token_type_ids"]
    (x, pooled), said = ours.bert(batch), theirs.eval()(**inputs)
    assert not report["missing_keys"]
    assert torch.allclose(x[batch.padding], said.last_hidden_state[batch.padding], atol=1e-4)
    assert torch.allclose(pooled, said.pooler_output, atol=1e-4)


PUBLISHED = {
    (AlbertConfig, "base"): 11_683_584,
    (AlbertConfig, "large"): 17_683_968,
    (AlbertConfig, "xlarge"): 58_724_864,
    (AlbertConfig, "xxlarge"): 222_595_584,
    (DistilBertConfig, "base"): 66_362_880,
    (ElectraConfig, "small"): 13_483_008,
}


@pytest.mark.parametrize(("config", "preset"), PUBLISHED, ids=lambda x: x if isinstance(x, str) else x.model_type)
def test_the_published_sizes(config, preset):
    config, number = config.preset(preset), PUBLISHED[config, preset]
    with torch.device("meta"):
        encoder = build(config)
    assert sum(weight.numel() for weight in encoder.parameters()) == parameters(shape_of(config)).with_pooler == number


def test_the_defaults_of_transformers_are_published_sizes():
    with torch.device("meta"):
        theirs = [
            kind(kind.config_class())
            for kind in (
                transformers.AlbertModel,
                transformers.DistilBertModel,
                transformers.ElectraModel,
                transformers.ElectraForPreTraining,
            )
        ]
        distilled = build(DistilBertConfig.preset("base"), MaskedLm)
    small = parameters(shape_of(ElectraConfig.preset("small")))
    numbers = [222_595_584, 66_362_880, 13_483_008, small.pretraining]
    assert [model.num_parameters() for model in theirs] == numbers
    assert small.encoder == small.with_pooler and small.pretraining == parameters(FAMILY["ELECTRA-small"]).pretraining
    assert sum(weight.numel() for weight in distilled.parameters()) == parameters(FAMILY["DistilBERT"]).pretraining


def test_a_distilbert_is_every_second_layer_of_a_bert():
    assert (
        alternate_layers(12) == [0, 2, 4, 7, 9, 11] and alternate_layers(6) == [0, 2, 4] and alternate_layers(1) == [0]
    )
    torch.manual_seed(0)
    config = BertConfig(61, 48, 4, 4, 72, max_position_embeddings=24, initializer_range=0.2)
    teacher = BertForPreTraining(config).eval()
    student = student_of(teacher)
    assert torch.equal(student.bert.blocks[1].attn.query.weight, teacher.bert.blocks[2].attn.query.weight)
    assert student.mlm.decoder.weight is student.bert.embeddings.token.weight
    assert student.bert.blocks[1].mlp.expand.weight is not teacher.bert.blocks[2].mlp.expand.weight
    whole = student_of(teacher, range(4))
    with torch.no_grad():  # all layers, and no segment vector to add: the same answers
        teacher.bert.embeddings.segment.weight.zero_()
        batch = Batch(torch.randint(61, (2, 9)))
        assert torch.allclose(whole(batch).mlm_logits, teacher(batch).mlm_logits, atol=1e-5)
    for bad in ([], [4], [-1]):
        with pytest.raises(ValueError, match="layers are 0 to 3"):
            student_of(teacher, bad)
    with pytest.raises(ValueError, match="cut out of a BERT"):
        student_of(whole)


@pytest.mark.parametrize(("field", "value"), [("sinusoidal_pos_embds", True), ("layer_norm_eps", 1e-5)])
def test_a_distilbert_that_is_none_of_ours_is_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} is .*; here it is"):
        DistilBertConfig.from_dict({"model_type": "distilbert", field: value})
