"""DistilBERT is transformers' DistilBERT, number for number and name for name; it is cut out of a BERT."""

import json

import pytest
import torch
import transformers

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.count import FAMILY, parameters
from minibert.distillation.student import every_second, student_of
from minibert.heads import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from minibert.masked_lm import MaskedLm
from minibert.model import Batch, BertForPreTraining
from minibert.relatives.distilbert import FIELDS, DistilBertConfig
from tests.minibert.relatives.their_heads import assert_equal

SIZES = {"vocab_size": 61, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 72, "max_position_embeddings": 24, "initializer_range": 0.2}
THEIRS = {FIELDS.get(name, name): value for name, value in SIZES.items()}
PAIRS = {
    transformers.DistilBertForMaskedLM: MaskedLm,
    transformers.DistilBertForSequenceClassification: BertForSequenceClassification,
    transformers.DistilBertForTokenClassification: BertForTokenClassification,
    transformers.DistilBertForQuestionAnswering: BertForQuestionAnswering,
    transformers.DistilBertForMultipleChoice: BertForMultipleChoice,
}
every_class = pytest.mark.parametrize("theirs", PAIRS, ids=lambda kind: kind.__name__)


@every_class
def test_theirs_in_ours(theirs, tmp_path):
    torch.manual_seed(0)
    model = theirs(transformers.DistilBertConfig(**THEIRS))
    model.save_pretrained(tmp_path)
    ours = checkpoint.load(tmp_path)
    assert type(ours) is PAIRS[theirs]
    assert_equal(ours, model, segments=False)


@every_class
def test_ours_in_theirs(theirs, tmp_path):
    torch.manual_seed(0)
    ours = PAIRS[theirs](DistilBertConfig(**SIZES))
    checkpoint.save(tmp_path, ours)
    model, info = theirs.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(info[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert_equal(ours, model, segments=False)
    assert json.loads((tmp_path / "config.json").read_text())["architectures"] == [theirs.__name__]


def test_its_published_size():
    config = DistilBertConfig.preset("base")
    with torch.device("meta"):
        model, theirs = MaskedLm(config), transformers.DistilBertModel(transformers.DistilBertConfig())
    encoder = sum(weight.numel() for weight in model.bert.parameters())
    assert encoder == theirs.num_parameters() == 66_362_880 == parameters(config).with_pooler
    assert parameters(FAMILY["DistilBERT"]).pretraining == sum(weight.numel() for weight in model.parameters())


def test_it_is_every_second_layer_of_a_bert():
    assert every_second(12) == [0, 2, 4, 7, 9, 11] and every_second(6) == [0, 2, 4] and every_second(1) == [0]
    torch.manual_seed(0)
    teacher = BertForPreTraining(BertConfig(**{**SIZES, "num_hidden_layers": 4})).eval()
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


def test_what_is_none_of_ours_is_refused():
    with pytest.raises(ValueError, match="sinusoidal"):
        DistilBertConfig.from_dict({"model_type": "distilbert", "sinusoidal_pos_embds": True})
    with pytest.raises(ValueError, match="1e-12"):
        DistilBertConfig.from_dict({"model_type": "distilbert", "layer_norm_eps": 1e-5})
