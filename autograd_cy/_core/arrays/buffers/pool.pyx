"""The pool that provides memory for large result arrays: blocks of dead arrays, kept for new arrays of a similar size.

NOTE [Pool]
Fresh pages cost as much as the arithmetic on them, and the C library returns large blocks to the system at once.
  1. The pool is a NumPy memory handler: its arrays own their memory and look like any other ndarray. When one dies, NumPy
     returns its block. The pool is never NumPy's current handler: the current one belongs to the context, and restoring
     it can fail.
  2. A block serves a request if it is at most an eighth larger. On a miss, kept blocks are freed, the least recently used
     first, until the kept blocks and those in use need no more memory than was in use at some time in the last two spans
     of SPAN requests. So sizes that a step needs at different times are kept side by side (1.5 ms of 67 in a step of a
     transformer), and memory that a larger problem left behind is soon freed.
  3. At most `limit` bytes are kept. A limit of 0 switches the pool off; blocks in use still return to it and are freed.
  4. A block remembers outside of which rows it is zero, if that was known when it was returned: see NOTE [Rows].
  5. NumPy calls the handler with the GIL held, which serves as the pool's lock; without a GIL, `lock` does. A forked child
     has its own copy of everything. Nothing is torn down at exit: arrays may outlive the module.
"""

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strcpy

from autograd_cy._core.recording.events cimport note_memory, recorders_on
from autograd_cy._core.runtime.free_threading cimport Spin, peek_size, spin, store_size, unspin
from autograd_cy._core.runtime.state cimport Allocator, Handler, is_denied

cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef __GLIBC__
    #include <malloc.h>
    #define autograd_cy_trim() malloc_trim(0)
    #else
    #define autograd_cy_trim() 0
    #endif
    """
    int trim_heap "autograd_cy_trim"() nogil

cdef enum:
    ALIGNMENT = 64
    SPAN = 1024             # requests: a few steps of training

cdef struct Block:              # lies in the ALIGNMENT bytes before the memory that it describes
    size_t size                 # of that memory
    void *address               # from malloc
    Block *older                # in the list of kept blocks
    Block *newer
    Rows rows

if sizeof(Block) > ALIGNMENT:
    raise ImportError("autograd_cy._core.arrays.buffers: there is no room for a Block")

cdef extern from "fork_lock.h":
    Spin lock "autograd_cy_lock"                # protects everything below
    void watch_forks "autograd_cy_watch_forks"()

watch_forks()                                   # a forked child starts with the lock open and consistent data

cdef Block *oldest = NULL
cdef Block *newest = NULL
cdef size_t limit = <size_t> 1 << 30
cdef size_t kept_bytes = 0
cdef size_t used_bytes = 0
cdef size_t peak_bytes = 0      # the most that were in use
cdef size_t span_peak = 0       # in this span of requests
cdef size_t last_span_peak = 0
cdef size_t hits = 0
cdef size_t misses = 0


cdef void *memory_of(Block *block) noexcept:
    return <char *> block + ALIGNMENT


cdef Block *block_of(void *memory) noexcept:
    return <Block *> (<char *> memory - ALIGNMENT)


cdef Rows *rows_in(void *memory) noexcept:
    return &block_of(memory).rows


cdef size_t size_of(void *memory) noexcept:
    return block_of(memory).size


cdef void free_block(Block *block) noexcept:
    free(block.rows.numbers)
    free(block.address)


cdef void take_out(Block *block) noexcept:
    """Remove a block from the list of kept ones."""
    global oldest, newest, kept_bytes
    if block.older != NULL:
        block.older.newer = block.newer
    else:
        oldest = block.newer
    if block.newer != NULL:
        block.newer.older = block.older
    else:
        newest = block.older
    kept_bytes -= block.size


cdef void give_back(size_t size) noexcept:
    """Free kept blocks of at least that many bytes, or all of them, the oldest first."""
    cdef size_t given = 0
    cdef Block *block
    while given < size and oldest != NULL:
        block = oldest
        take_out(block)
        given += block.size
        free_block(block)


cdef Block *kept_block(size_t size) noexcept:
    """The most recently used block that fits, removed from the list; or NULL."""
    cdef Block *block = newest
    while block != NULL:
        if size <= block.size <= size + size // 8:
            take_out(block)
            return block
        block = block.older
    return NULL


cdef Block *new_block(size_t size) noexcept:
    cdef Block *block
    cdef void *address
    if size > <size_t> -1 - 2 * ALIGNMENT or is_denied():
        return NULL
    address = malloc(size + 2 * ALIGNMENT)
    if address == NULL and oldest != NULL:
        give_all_back()
        address = malloc(size + 2 * ALIGNMENT)
    if address == NULL:
        return NULL
    # align the memory, and leave room for the Block before it
    block = block_of(<void *> ((<size_t> address + 2 * ALIGNMENT - 1) & ~<size_t> (ALIGNMENT - 1)))
    block.size = size
    block.address = address
    block.rows = Rows(NULL, 0, 0, UNKNOWN)
    return block


cdef void *take(void *context, size_t size) noexcept:
    """The handler's malloc."""
    global used_bytes, peak_bytes, span_peak, hits, misses
    cdef Block *block
    spin(&lock)
    block = kept_block(size)
    if (hits + misses) % SPAN == 0:
        begin_span()
    if block != NULL:
        hits += 1
    else:
        misses += 1
        make_room(size)
        unspin(&lock)
        block = new_block(size)
        if block == NULL:
            return NULL
        spin(&lock)
    used_bytes += block.size
    peak_bytes, span_peak = max(peak_bytes, used_bytes), max(span_peak, used_bytes)
    unspin(&lock)
    if recorders_on():
        note_memory(memory_of(block), block.size)
    return memory_of(block)


cdef void begin_span() noexcept:
    global span_peak, last_span_peak
    last_span_peak, span_peak = span_peak, used_bytes


cdef void make_room(size_t size) noexcept:
    """Free kept blocks so that a new block does not exceed what was in use lately: case 2 of NOTE [Pool]."""
    cdef size_t wanted = used_bytes + kept_bytes + size, lately = max(span_peak, last_span_peak)
    if wanted > lately:
        give_back(wanted - lately)


cdef void *take_zeros(void *context, size_t n, size_t itemsize) noexcept:
    """The handler's calloc."""
    cdef void *memory
    if itemsize != 0 and n > <size_t> -1 // itemsize:
        return NULL
    memory = take(context, n * itemsize)
    if memory != NULL:
        memset(memory, 0, n * itemsize)
    return memory


cdef void put_back(void *context, void *memory, size_t size) noexcept:
    """The handler's free."""
    cdef Block *block
    if memory == NULL:
        return
    block = block_of(memory)
    if recorders_on():
        note_memory(memory, -<long long> block.size)
    block.rows.state = ZERO_ELSEWHERE if block.rows.state == KNOWN else UNKNOWN
    spin(&lock)
    keep(block)
    unspin(&lock)


cdef void keep(Block *block) noexcept:
    """Keep a block that is no longer in use, or free it."""
    global oldest, newest, kept_bytes, used_bytes
    used_bytes -= block.size
    if block.size > limit:
        free_block(block)
        return
    if kept_bytes + block.size > limit:
        give_back(kept_bytes + block.size - limit)
    block.older = newest
    block.newer = NULL
    if newest != NULL:
        newest.newer = block
    else:
        oldest = block
    newest = block
    kept_bytes += block.size


cdef void *resize(void *context, void *memory, size_t size) noexcept:
    """The handler's realloc."""
    cdef void *moved = take(context, size)
    if moved != NULL and memory != NULL:
        memcpy(moved, memory, min(size, block_of(memory).size))
        put_back(context, memory, 0)
    return moved


cdef Handler handler
strcpy(handler.name, b"autograd_cy pool")
handler.version = 1
handler.allocator = Allocator(NULL, take, take_zeros, resize, put_back)
cdef object capsule = PyCapsule_New(&handler, b"mem_handler", NULL)


cdef bint is_on() noexcept:
    return peek_size(&limit) > 0


cdef PyObject *memory_handler() noexcept:
    """The handler as NumPy knows it. Borrowed."""
    return <PyObject *> capsule


def memory_stats():
    """memory_stats() -> dict: the pool of large results, in bytes and requests.

    `used_bytes` belong to live arrays, `peak_bytes` is their maximum so far, `kept_bytes` wait to be reused. `hits` and
    `misses` count requests that a kept block did and did not serve.

    >>> import autograd_cy as ag
    >>> sorted(ag.memory.memory_stats())
    ['hits', 'kept_bytes', 'limit', 'misses', 'peak_bytes', 'used_bytes']
    """
    return {"hits": hits, "kept_bytes": kept_bytes, "limit": limit, "misses": misses, "peak_bytes": peak_bytes,
            "used_bytes": used_bytes}


cpdef void give_all_back() noexcept:
    """give_all_back(): free the kept memory of dead arrays."""
    spin(&lock)
    give_back(kept_bytes)
    unspin(&lock)


def trim():
    """trim() -> bool: make the C library return its free pages to the system; whether it returned any."""
    cdef int trimmed
    with nogil:
        trimmed = trim_heap()
    return trimmed != 0


def set_cache_limit(long long nbytes):
    """set_cache_limit(nbytes) -> int: keep at most that many bytes of dead arrays; returns the previous limit.

    0 switches the pool off: new results get their memory as any ndarray does. ValueError for a negative number.

    >>> import autograd_cy as ag
    >>> before = ag.memory.set_cache_limit(0)
    >>> ag.memory.set_cache_limit(before)
    0
    """
    global limit
    cdef size_t before
    if nbytes < 0:
        raise ValueError(f"set_cache_limit(): expected a number of bytes >= 0, got {nbytes}")
    spin(&lock)
    before = limit
    store_size(&limit, nbytes)
    if kept_bytes > limit:
        give_back(kept_bytes - limit)
    unspin(&lock)
    return before
