"""Steps of optimizers: all parameters of a group in one call."""
