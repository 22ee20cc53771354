"""Reading on with a teacher: what is added to the losses of pre-training, and that the teacher stands still."""

import torch

from bench.kept_close import KeptClose, terms
from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining
from minibert.objectives import losses
from minibert.relatives import objective_for

CONFIG = BertConfig(
    40, 16, 2, num_attention_heads=2, intermediate_size=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
)


def batch() -> Batch:
    torch.manual_seed(0)
    written, hidden = torch.randint(5, 40, (3, 8)), torch.zeros(3, 8, dtype=torch.bool)
    hidden[:, 2:4] = True
    padding = torch.ones(3, 8, dtype=torch.bool)
    padding[0, 6:] = False
    labels = written.where(hidden, torch.tensor(IGNORE))
    return Batch(written.masked_fill(hidden, 4), None, padding, labels, next_labels=torch.tensor([0, 1, 0]))


def learner(teacher: bool) -> KeptClose:
    torch.manual_seed(1)
    reader, start = BertForPreTraining(CONFIG), Bert(CONFIG)
    start.load_state_dict(reader.bert.state_dict())
    return KeptClose(reader, start.requires_grad_(False) if teacher else None)


def test_without_a_teacher_it_is_plain_pre_training():
    one, rows, objective = learner(teacher=False), batch(), objective_for(CONFIG)
    found = terms(objective, 3.0, one(rows), rows, rows)
    plain = losses(objective, one.reader(rows), rows, rows)
    assert {name: found[name].item() for name in plain} == {name: value.item() for name, value in plain.items()}
    assert found["apart"] == 0


def test_the_teacher_reads_what_was_hidden_from_the_reader():
    one, rows = learner(teacher=True), batch()
    said, apart = one(rows)
    written = rows.ids.where(rows.labels == IGNORE, rows.labels)
    wanted, _ = one.reader.bert(Batch(written, padding=rows.padding))
    got, _ = one.reader.bert(Batch(rows.ids, padding=rows.padding))
    expected = 1 - torch.cosine_similarity(got, wanted, dim=-1)[rows.padding].mean()
    torch.testing.assert_close(apart, expected)
    assert apart > 1e-4
    loss = terms(objective_for(CONFIG), 3.0, (said, apart), rows, rows)["loss"]
    torch.testing.assert_close(loss, said.mlm_loss + said.nsp_loss + 3 * apart)
    loss.backward()
    assert all(weight.grad is None for weight in one.teacher[0].parameters())  # it does not learn
    assert not {*one.teacher[0].parameters()} & {*one.parameters()}
    assert one.map.weight.grad.abs().max() > 0
