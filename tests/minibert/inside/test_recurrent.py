"""The cell written out is torch's own, and what is measured of forgetting is what it says."""

import torch
from torch import nn

from minibert.inside.relatives.recurrent import kept, moved, read


def test_the_cell_is_that_of_torch_and_made_of_gates_that_are_shares():
    torch.manual_seed(0)
    lstm, x = nn.LSTM(7, 11, batch_first=True).eval(), torch.randn(9, 7)
    done = read(lstm, x)
    with torch.no_grad():
        hidden, (_last, cell) = lstm(x[None])
    torch.testing.assert_close(done.hidden, hidden[0], atol=1e-6, rtol=0)
    torch.testing.assert_close(done.cell[-1], cell[0, 0], atol=1e-6, rtol=0)
    done = read(lstm, 5 * torch.randn(6, 7))
    for gate in (done.input, done.forget, done.output):
        assert gate.shape == (6, 11) and gate.min() >= 0 and gate.max() <= 1
    before = torch.cat([torch.zeros(1, 11), done.cell[:-1]])
    torch.testing.assert_close(done.cell, done.forget * before + done.input * done.offered)


def test_what_no_forget_gate_took_is_their_product_and_a_reader_of_the_last_word_has_lost_the_others():
    forget = torch.tensor([[0.9, 0.1], [0.5, 1.0], [0.2, 0.4]])
    torch.testing.assert_close(kept(forget), torch.tensor([(0.5 * 0.2 + 1.0 * 0.4) / 2, (0.2 + 0.4) / 2, 1.0]))

    eye, ids = torch.eye(20), torch.tensor([0, 5, 6, 7, 1])
    found = moved(lambda rows: eye[rows[:, -2]], ids, [1, 2, 3], range(8, 20), draws=5)
    torch.testing.assert_close(found, torch.tensor([0.0, 0.0, 1.0]))
    found = moved(lambda rows: eye[rows].sum(1), ids, [1, 2, 3], range(8, 20), draws=40)  # who adds up has lost nothing
    assert found.min() > 0.4 and found.max() - found.min() < 0.01
    assert moved(lambda rows: eye[rows].sum(1), ids, [], range(8, 20), draws=4).numel() == 0
