"""Sequences of several lengths, packed, read by an LSTM in both directions; a GRU cell beside it. Written for PyTorch."""

import json

import torch
from shared.start import fill, normal
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(16, 6)
        self.head = nn.Linear(6, 1)

    def forward(self, sequences, lengths):
        padded = pad_sequence(sequences, batch_first=True)
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        outputs, (last, _) = self.lstm(packed)
        outputs, lengths = pad_packed_sequence(outputs, batch_first=True)
        state = last[-1].new_zeros(len(lengths), 6)
        for t in range(outputs.shape[1]):
            state = torch.where((t < lengths).unsqueeze(1), self.cell(outputs[:, t], state), state)
        return self.head(state).squeeze(1)


def main():
    lengths = [3, 7, 5, 7, 2, 4]
    sequences = [normal(n, 2) for n in lengths]
    targets = torch.stack([s[:, 0].cumsum(0).max() for s in sequences])
    model = fill(Reader())
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(15):
        loss = nn.functional.huber_loss(model(sequences, torch.tensor(lengths)), targets)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.2)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    print(json.dumps({"losses": losses, "last": model(sequences, torch.tensor(lengths)).tolist()}))


if __name__ == "__main__":
    main()
