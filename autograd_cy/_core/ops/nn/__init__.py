"""Networks: activations, softmax, normalization over layers, losses."""
