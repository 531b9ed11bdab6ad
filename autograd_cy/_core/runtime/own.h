/* What a thread keeps for itself where Python has no GIL: a store for each of these. */
#ifndef AUTOGRAD_CY_OWN_H
#define AUTOGRAD_CY_OWN_H

enum {
    AUTOGRAD_CY_TENSORS,
    AUTOGRAD_CY_NODES,
    AUTOGRAD_CY_ARRAYS,
    AUTOGRAD_CY_CODES,
    AUTOGRAD_CY_NUMBERS,
    AUTOGRAD_CY_STORES,     /* how many there are */
};

#endif
