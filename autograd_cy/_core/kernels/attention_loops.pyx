"""Attention by blocks of rows, and its gradient (knows no Tensor).

In softmax(query @ key.T * scale + mask) @ value, the softmax is held for one block of queries at a time: about BLOCK
elements. The logarithm of each query's sum of exponentials is saved; the gradient recomputes the softmax from it.
Source: Dao et al., "FlashAttention" (2022).

Threads share the heads of all samples. Within a head, the gradients of keys and values are summed block after block.
"""

from libc.math cimport INFINITY, isinf
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.gemm cimport Block, multiply_blocks, transposed
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.kernels.softmax_loops cimport exponential, logarithm
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_attention_softmax( \\
            real *, real *, npy_intp, npy_intp, npy_intp, npy_intp, char const *, npy_intp, npy_intp, real); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_attention_slopes( \\
            real *, real *, real const *, npy_intp, npy_intp, npy_intp, npy_intp, char const *, npy_intp, npy_intp, real);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    BLOCK = 1 << 15             # elements of a block of the softmax ...
    MOST_ROWS = 64              # ... and its maximum number of rows
    MOST_CAUSAL = 32            # ... fewer if causal: a whole block is computed for the keys that its last row sees
    FEWEST_ROWS = 8
    LANES = 16                  # partial results kept side by side
    RUN = 512                   # elements summed before they are added to a total in double

cdef struct Work:               # a shared loop
    Attention *attention
    bint failed                 # there was no memory for a block

cdef struct Head:               # a thread's data of one head
    Attention *of
    npy_intp itemsize, width    # bytes of an element, columns that fit
    Block query, key, value, out, g, query_gradient, key_gradient, value_gradient
    char *mask
    char *sums
    char *softmax               # a block of it ...
    char *slopes                # ... and its gradient
    char *spare


cdef bint attend(Attention *attention) noexcept nogil:
    """Write `out` and `sums`; False if there is not enough memory for a block."""
    cdef Work work = Work(attention, False)
    parallel_for(forward_part, &work, attention.samples * attention.heads,
                 attention.rows * attention.columns * (attention.size + attention.value_size) // 8 + 1)
    return not work.failed


cdef bint attend_backwards(Attention *attention) noexcept nogil:
    """Write all three gradients from `g` and the `sums` of `attend`; False if there is not enough memory."""
    cdef Work work = Work(attention, False)
    parallel_for(backward_part, &work, attention.samples * attention.heads,
                 attention.rows * attention.columns * (attention.size + attention.value_size) // 4 + 1)
    return not work.failed


cdef npy_intp rows_at_once(const Attention *a) noexcept nogil:
    cdef npy_intp most = MOST_CAUSAL if a.causal else MOST_ROWS
    return min(max(min(BLOCK // max(a.columns, 1), most), <npy_intp> FEWEST_ROWS), a.rows)


# heads

cdef char *head_of(const Heads *heads, const Attention *a, npy_intp number) noexcept nogil:
    return heads.data + number // a.heads * heads.sample + number % a.heads * heads.head


cdef Block block_of(const Heads *heads, const Attention *a, npy_intp number, npy_intp itemsize) noexcept nogil:
    if heads.data == NULL:
        return Block(NULL, 0, 0)
    return Block(head_of(heads, a, number), heads.row, itemsize)


cdef Block below(Block block, npy_intp row) noexcept nogil:
    """The block from a row on."""
    return Block(block.data + row * block.row, block.row, block.column)


cdef bint take_memory(Head *head, Attention *a, int blocks) noexcept nogil:
    """Room for blocks of the softmax, and for a product or a transposed matrix."""
    cdef npy_intp rows = rows_at_once(a)
    head.of, head.itemsize, head.width = a, sizeof(float) if a.dtype_code == FLOAT32 else sizeof(double), a.columns
    cdef npy_intp block = rows * a.columns * head.itemsize
    cdef npy_intp spare = max(a.columns, rows) * max(a.size, a.value_size) * head.itemsize
    head.softmax = <char *> malloc(blocks * block + spare + 1)
    head.slopes = head.softmax + (blocks - 1) * block
    head.spare = head.softmax + blocks * block
    return head.softmax != NULL


cdef void go_to(Head *head, npy_intp number) noexcept nogil:
    cdef Attention *a = head.of
    cdef npy_intp size = head.itemsize
    head.query, head.key = block_of(&a.query, a, number, size), block_of(&a.key, a, number, size)
    head.value, head.out = block_of(&a.value, a, number, size), block_of(&a.out, a, number, size)
    head.g = block_of(&a.g, a, number, size)
    head.query_gradient = block_of(&a.query_gradient, a, number, size)
    head.key_gradient = block_of(&a.key_gradient, a, number, size)
    head.value_gradient = block_of(&a.value_gradient, a, number, size)
    head.mask = NULL if a.mask.data == NULL else head_of(&a.mask, a, number)
    head.sums = <char *> a.sums + number * a.rows * size


cdef inline npy_intp seen_from(const Attention *a, npy_intp end) noexcept nogil:
    """How many keys the queries before `end` see."""
    return min(a.columns, end) if a.causal else a.columns


cdef inline const char *mask_from(Head *head, npy_intp row) noexcept nogil:
    return NULL if head.mask == NULL else head.mask + row * head.of.mask.row


cdef Block scores(Head *head, npy_intp row, npy_intp rows, npy_intp columns) noexcept nogil:
    """The products of some queries with the keys, in the block of the softmax."""
    cdef Block block = Block(head.softmax, columns * head.itemsize, head.itemsize)
    multiply_blocks(head.of.dtype_code, below(head.query, row), transposed(head.key), block, rows, head.of.size, columns,
                    False, head.spare)
    return block


# rows of scores, in dense memory

cdef inline void mask_row(real *x, npy_intp columns, npy_intp seen, const char *mask, npy_intp mask_column,
                          real scale) noexcept nogil:
    """Scale the scores of a query and add the mask. Scores of keys that it does not see become -inf."""
    cdef npy_intp j
    multiply(x, columns, scale)
    if mask != NULL:
        for j in range(columns):
            x[j] = x[j] + (<const real *> (mask + j * mask_column))[0]
    for j in range(seen, columns):
        x[j] = <real> -INFINITY


cdef inline void subtract(real *x, npy_intp n, real y) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        x[j] = x[j] - y


cdef inline void multiply(real *x, npy_intp n, real factor) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        x[j] = x[j] * factor


cdef inline void raise_all(real *x, npy_intp n) noexcept nogil:
    """x = exp(x)"""
    cdef npy_intp j
    for j in range(n):
        x[j] = exponential(x[j])


cdef inline real top_of(const real *x, npy_intp n) noexcept nogil:
    """The largest element; any number if there is a nan. (NumPy's loop checks the floating-point flags at each call, which
    takes longer than a row of 16.)"""
    cdef real[LANES] tops
    cdef npy_intp j = 0, k
    for k in range(LANES):
        tops[k] = <real> -INFINITY
    while j + LANES <= n:
        for k in range(LANES):
            tops[k] = x[j + k] if x[j + k] > tops[k] else tops[k]
        j += LANES
    for k in range(n - j):
        tops[k] = x[j + k] if x[j + k] > tops[k] else tops[k]
    for k in range(8):                              # LANES / 2, and so on
        tops[k] = tops[k + 8] if tops[k + 8] > tops[k] else tops[k]
    for k in range(4):
        tops[k] = tops[k + 4] if tops[k + 4] > tops[k] else tops[k]
    for k in range(2):
        tops[k] = tops[k + 2] if tops[k + 2] > tops[k] else tops[k]
    return tops[1] if tops[1] > tops[0] else tops[0]


cdef inline real total_of(const real *x, const real *y, npy_intp n) noexcept nogil:
    """The sum of x, or of x * y if y is given. Sums of RUN elements are added in double: errors don't grow with n."""
    cdef real[LANES] lanes
    cdef double total = 0
    cdef npy_intp j = 0, k, end
    while j < n:
        end = min(n, j + RUN)
        for k in range(LANES):
            lanes[k] = 0
        while j + LANES <= end:
            for k in range(LANES):
                lanes[k] = lanes[k] + (x[j + k] if y == NULL else x[j + k] * y[j + k])
            j += LANES
        for k in range(end - j):
            lanes[k] = lanes[k] + (x[j + k] if y == NULL else x[j + k] * y[j + k])
        j = end
        for k in range(LANES // 2):
            lanes[k] = lanes[k] + lanes[k + LANES // 2]
        for k in range(LANES // 4):
            lanes[k] = lanes[k] + lanes[k + LANES // 4]
        total += (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    return <real> total


cdef void softmax_rows "autograd_cy_attention_softmax"(
        real *x, real *sums, npy_intp rows, npy_intp columns, npy_intp seen, npy_intp more, const char *mask,
        npy_intp mask_row_stride, npy_intp mask_column, real scale) noexcept nogil:
    """The softmax of some queries' scores, and the logarithm of each sum; zeros and infinity for a query that sees nothing.
    The first query sees `seen` keys, each following one `more`."""
    cdef npy_intp row
    cdef real total
    for row in range(rows):
        mask_row(x + row * columns, columns, seen + row * more, mask, mask_column, scale)
        if mask != NULL:
            mask += mask_row_stride
        sums[row] = top_of(<const real *> x + row * columns, columns)
        if isinf(sums[row]) and sums[row] < 0:
            sums[row] = 0                           # of -inf, exp(-inf - 0) is 0, and exp(-inf + inf) would be nan
        subtract(x + row * columns, columns, sums[row])
    raise_all(x, rows * columns)
    for row in range(rows):
        total = total_of(<const real *> x + row * columns, <const real *> NULL, columns)
        if total == 0:
            sums[row] = <real> INFINITY
        else:
            multiply(x + row * columns, columns, 1 / total)
            sums[row] += logarithm(total)


cdef void slopes_of_rows "autograd_cy_attention_slopes"(
        real *x, real *slopes, const real *sums, npy_intp rows, npy_intp columns, npy_intp seen, npy_intp more,
        const char *mask, npy_intp mask_row_stride, npy_intp mask_column, real scale) noexcept nogil:
    """Recompute the softmax from its sums, and overwrite its gradient g, in `slopes`, with the gradient of the scores:
    softmax * (g - sum(g * softmax)) * scale."""
    cdef npy_intp row, _row
    for row in range(rows):
        mask_row(x + row * columns, columns, seen + row * more, mask, mask_column, scale)
        if mask != NULL:
            mask += mask_row_stride
        subtract(x + row * columns, columns, sums[row])
    raise_all(x, rows * columns)
    for _row in range(rows):
        pull_back(<const real *> x, slopes, columns, total_of(<const real *> x, <const real *> slopes, columns), scale)
        x += columns
        slopes += columns


cdef inline void pull_back(const real *y, real *g, npy_intp n, real weighted, real scale) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        g[j] = y[j] * (g[j] - weighted) * scale


# forward

cdef void forward_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Work *work = <Work *> data
    cdef Head head
    cdef npy_intp row, count = rows_at_once(work.attention)
    if not take_memory(&head, work.attention, 1):
        work.failed = True
        return
    while first < end:
        go_to(&head, first)
        row = 0
        while row < work.attention.rows:
            attend_rows(&head, row, min(count, work.attention.rows - row))
            row += count
        first += 1
    free(head.softmax)


cdef void attend_rows(Head *head, npy_intp row, npy_intp rows) noexcept nogil:
    cdef Attention *a = head.of
    cdef npy_intp columns = seen_from(a, row + rows)
    cdef Block block = scores(head, row, rows, columns)
    if a.dtype_code == FLOAT32:
        normalize(head, <float *> block.data, row, rows, columns)
    else:
        normalize(head, <double *> block.data, row, rows, columns)
    multiply_blocks(a.dtype_code, block, head.value, below(head.out, row), rows, columns, a.value_size, False, head.spare)


cdef inline void normalize(Head *head, real *x, npy_intp row, npy_intp rows, npy_intp columns) noexcept nogil:
    """The softmax of the scores of some queries."""
    cdef Attention *a = head.of
    softmax_rows(x, <real *> head.sums + row, rows, columns, row + 1 if a.causal else columns, a.causal,
                 mask_from(head, row), a.mask.row, a.mask_column, <real> a.scale)


# backward

cdef void backward_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Work *work = <Work *> data
    cdef Attention *a = work.attention
    cdef Head head
    cdef npy_intp row, count = rows_at_once(a)
    if not take_memory(&head, a, 2):
        work.failed = True
        return
    while first < end:
        go_to(&head, first)
        for row in range(a.columns):
            memset(below(head.key_gradient, row).data, 0, a.size * head.itemsize)
            memset(below(head.value_gradient, row).data, 0, a.value_size * head.itemsize)
        row = 0
        while row < a.rows:
            pull_rows_back(&head, row, min(count, a.rows - row))
            row += count
        first += 1
    free(head.softmax)


cdef void pull_rows_back(Head *head, npy_intp row, npy_intp rows) noexcept nogil:
    """Compute some queries' gradients, and add their share to the gradients of keys and values."""
    cdef Attention *a = head.of
    cdef npy_intp columns = seen_from(a, row + rows)
    cdef Block block = scores(head, row, rows, columns), slopes = Block(head.slopes, columns * head.itemsize, head.itemsize)
    cdef Block g = below(head.g, row), query = below(head.query, row)
    multiply_blocks(a.dtype_code, g, transposed(head.value), slopes, rows, a.value_size, columns, False, head.spare)
    if a.dtype_code == FLOAT32:
        find_slopes(head, <float *> block.data, <float *> slopes.data, row, rows, columns)
    else:
        find_slopes(head, <double *> block.data, <double *> slopes.data, row, rows, columns)
    multiply_blocks(a.dtype_code, transposed(block), g, head.value_gradient, columns, rows, a.value_size, True, head.spare)
    multiply_blocks(a.dtype_code, slopes, head.key, below(head.query_gradient, row), rows, columns, a.size, False, head.spare)
    multiply_blocks(a.dtype_code, transposed(slopes), query, head.key_gradient, columns, rows, a.size, True, head.spare)


cdef inline void find_slopes(Head *head, real *x, real *slopes, npy_intp row, npy_intp rows, npy_intp columns) noexcept nogil:
    """Recompute the softmax of some queries, and turn its gradient into the gradient of the scores."""
    cdef Attention *a = head.of
    slopes_of_rows(x, slopes, <const real *> head.sums + row, rows, columns, row + 1 if a.causal else columns, a.causal,
                   mask_from(head, row), a.mask.row, a.mask_column, <real> a.scale)
