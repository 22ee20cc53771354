"""The family as data: its sizes against models that transformers builds, and what a file of it may not say."""

import pytest
import torch
import transformers

from minibert.inside.relatives.family import KINDS, children_of, family, line_of
from ui.lesson import LESSONS

FILE = LESSONS / "family" / "models.toml"
WIDE = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
BASE = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
ROBERTA = {"vocab_size": 50_265, "max_position_embeddings": 514, "type_vocab_size": 1}
DEBERTA = {
    "vocab_size": 50_265,
    "type_vocab_size": 0,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}
SIX_AND_SIX = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in (("layers", 6), ("ffn_dim", 3072), ("attention_heads", 12))
}


def t5(*sizes: int) -> dict:
    names = ("d_model", "d_kv", "d_ff", "num_layers", "num_heads")
    return {"vocab_size": 32_128, **dict(zip(names, sizes, strict=True))}


# Model/size → the class of its sizes in transformers, and what is not as there by default.
THEIRS = {
    "GPT/GPT": ("OpenAIGPT", {}),
    "GPT-2/small": ("GPT2", {}),
    "GPT-2/XL": ("GPT2", {"n_embd": 1600, "n_layer": 48, "n_head": 25}),
    "XLNet/base": ("XLNet", {"d_model": 768, "n_layer": 12, "n_head": 12, "d_inner": 3072}),
    "XLNet/large": ("XLNet", {}),
    "RoBERTa/base": ("Roberta", ROBERTA),
    "RoBERTa/large": ("Roberta", {**ROBERTA, **WIDE}),
    "BART/base": ("Bart", {"d_model": 768, **SIX_AND_SIX}),
    "BART/large": ("Bart", {}),
    "T5/small": ("T5", t5(512, 64, 2048, 6, 8)),
    "T5/base": ("T5", t5(768, 64, 3072, 12, 12)),
    "T5/11B": ("T5", t5(1024, 128, 65_536, 24, 128)),
    "MPNet/base": ("MPNet", {"vocab_size": 30_527, "max_position_embeddings": 514}),
    "Longformer/base": ("Longformer", {**ROBERTA, "max_position_embeddings": 4098}),
    "DeBERTa/base": ("Deberta", DEBERTA),
    "DistilBERT/base": ("DistilBert", {}),
    "ELECTRA/small": ("Electra", {}),
    "ELECTRA/base": ("Electra", {"embedding_size": 768, **BASE}),
    "ELECTRA/large": ("Electra", {"embedding_size": 1024, **WIDE}),
}


@pytest.fixture(scope="module")
def members():
    return family(FILE)


def test_there_are_some_fifty_each_after_its_parent(members):
    assert len(members) >= 45 and "BERT" in members
    dates = [member.months for member in members.values()]
    assert dates == sorted(dates)
    assert all(member.changed and set(member.changed) <= set(KINDS) and member.paper for member in members.values())
    assert {kind for member in members.values() for kind in member.changed} == set(KINDS)


@pytest.mark.parametrize("name", THEIRS)
def test_sizes_are_those_of_transformers(members, name):
    model, _, size = name.partition("/")
    kind, sizes = THEIRS[name]
    with torch.device("meta"):
        theirs = transformers.AutoModel.from_config(getattr(transformers, f"{kind}Config")(**sizes))
    ours = next(one.weights for one in members[model].sizes if one.name == size)
    assert ours == sum(weight.numel() for weight in theirs.parameters())


def test_sizes_are_those_of_the_papers(members):
    for name, said, within in (
        ("ELMo", 93.6e6, 0.1e6),  # the authors' page of models
        ("BERT", 110e6, 1e6),  # §3, of base
        ("GPT-3", 175e9, 0.5e9),  # table 2.1
        ("Megatron-LM", 8.3e9, 0.05e9),  # table 2
        ("ALBERT", 12e6, 0.5e6),  # table 1
        ("TinyBERT", 14.5e6, 0.2e6),  # table 2
    ):
        assert members[name].sizes[0].counted and abs(members[name].sizes[0].weights - said) <= within


def test_the_line_the_children_and_the_formula_of_a_model(members):
    assert line_of(members, "MacBERT") == ["Transformer", "GPT", "BERT", "BERT-wwm", "MacBERT"]
    assert line_of(members, "word2vec") == ["word2vec"]
    assert children_of(members, "Sentence-BERT") == ["BERT-flow", "SimCSE"]
    gpt, bert = (members[name].sizes[0] for name in ("GPT", "BERT"))
    assert gpt.formula == "V·H + P·H + L·(12·H² + 13·H)"
    assert gpt.numbers == "40,478·768 + 512·768 + 12·(12·768² + 13·768)"
    assert bert.formula.startswith("V·H + P·H + S·H + ") and "49·(H² + H)" in bert.formula
    assert not members["Transformer"].sizes[0].counted


def test_what_cannot_be_is_said(tmp_path):
    form = '[[model]]\nname = "{name}"\ndate = "{date}"\nchanged = ["{kind}"]\nsizes = []\n{more}\n'
    form += 'by = ""\npaper = ""\nwhat = ""\n'
    values = {"name": "one", "date": "2018-10", "kind": "data", "more": ""}
    later = {**values, "name": "later", "date": "2019-01"}
    for of_the_first, message in (
        ({"more": 'parent = "Nobody"'}, "its parent Nobody is not there"),
        ({"more": 'parent = "later"'}, "came before its parent later"),
        ({"kind": "luck"}, "luck is not one of"),
        ({"name": "later"}, "stands there twice"),
    ):
        file = tmp_path / "models.toml"
        file.write_text(form.format(**values | of_the_first) + form.format(**later), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            family.__wrapped__(file)  # which is otherwise remembered
