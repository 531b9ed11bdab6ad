"""Python functions and classes entered through C: one frame in errors, modules of nn by their slots."""

include "entry/entry.pyx"
include "entry/module_slots.pyx"
