"""``torch.distributed.distributed_c10d``: where PyTorch keeps the functions of torch.distributed (facade)."""

from . import *  # noqa: F403
from . import __all__ as __all__
from ._group import GroupMember as GroupMember


def _get_default_group() -> object:
    """The group of all processes; ValueError before init_process_group."""
    from ._group import world

    return world()
