/* Tiles of products: some rows of a times some vectors of each row of b, with sums in registers. Tiles are inlined, so the
   calling function determines the instruction set. For gcc and clang. */
#ifndef AUTOGRAD_CY_TILES_H
#define AUTOGRAD_CY_TILES_H

#include <string.h>
#include "runs.h"

/* At most so many rows: their sums fill the time of an addition, and registers (of 64 bytes there are 32, else 16). */
#define MOST_ROWS(size, count) (size == 64 ? 8 : count == 1 ? 12 : 6)
#define TILE_ROWS 12
#define THREES 4

/* The machine's level: 0 for any machine, 1 and 2 with fused multiply-adds of 32 and of 64 bytes. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !AUTOGRAD_CY_DEBUG
#define FUSED(target_) __attribute__((target(target_), optimize("fp-contract=fast")))

static int best_vectors(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
}
#else
static int best_vectors(void) { return 0; }
#endif

/* These loops are always unrolled: otherwise gcc keeps the sums in memory. */
#define EACH_ROW _Pragma("GCC unroll 12") for (int r = 0; r < rows; r++)
#define EACH_THREE _Pragma("GCC unroll 4") for (int t = 0; 3 * t < rows; t++)
#define EACH_VECTOR(count) _Pragma("GCC unroll 2") for (int c = 0; c < count; c++)
/* The compiler forgets how x was computed. */
#define HIDE(x) __asm__("" : "+r"(x))

/* `rows` rows of a @ b + added, `count` vectors each. `added` may be NULL; if its rows are 0 bytes apart, it is a single one,
   of whole vectors.
   Only the bytes `first` to `end` are written, but b's vectors are read whole. The rows of `out` are fetched meanwhile.
   If rows are adjacent, a vector may be written into the next ones, whose own vectors follow.
   The sum is over n rows of b from each of `segments` places; `offsets` has the places in a and in b.
   Every third row of a has a pointer. From a single one, gcc adds a register for each row, and has too few. */
#define TILE(name, type, size, count) \
    static AUTOGRAD_CY_INLINED void name##_tile##count(const char *a, npy_intp a_row, npy_intp a_column, const char *b, \
                                                       npy_intp b_row, char *out, npy_intp out_row, npy_intp n, \
                                                       npy_intp first, npy_intp end, const char *added, npy_intp added_row, \
                                                       const npy_intp *offsets, npy_intp segments, int rows) { \
        name##_vector sums[TILE_ROWS][count]; \
        EACH_ROW EACH_VECTOR(count) { \
            sums[r][c] = (name##_vector) {0}; \
            __builtin_prefetch(out + r * out_row + c * size, 1); \
        } \
        for (; segments > 0; segments--, offsets += 2) { \
            const char *p[THREES], *q = b + offsets[1]; \
            EACH_THREE { \
                p[t] = a + offsets[0] + 3 * t * a_row; \
                HIDE(p[t]); \
            } \
            for (npy_intp k = 0; k < n; k++, q += b_row) { \
                name##_vector row[count]; \
                EACH_VECTOR(count) row[c] = ((const name##_vector *) q)[c]; \
                EACH_ROW { \
                    const type x = *(const type *) (p[r / 3] + r % 3 * a_row); \
                    EACH_VECTOR(count) sums[r][c] += row[c] * x; \
                } \
                EACH_THREE p[t] += a_column; \
            } \
        } \
        if (first == 0 && end == count * size) { \
            if (added) EACH_ROW EACH_VECTOR(count) sums[r][c] += ((const name##_vector *) (added + r * added_row))[c]; \
            EACH_ROW EACH_VECTOR(count) ((name##_vector *) (out + r * out_row))[c] = sums[r][c]; \
            return; \
        } \
        if (added && !added_row) { \
            EACH_ROW EACH_VECTOR(count) sums[r][c] += ((const name##_vector *) added)[c]; \
            added = NULL; \
        } \
        name##_vector whole[TILE_ROWS][count]; \
        const npy_intp last = !added && first == 0 && out_row == end ? (rows - 1) * out_row + end - count * size : -1; \
        int done = 0; \
        EACH_ROW { \
            const int inside = r * out_row <= last; \
            if (inside) EACH_VECTOR(count) ((name##_vector *) (out + r * out_row))[c] = sums[r][c]; \
            else EACH_VECTOR(count) whole[r][c] = sums[r][c]; \
            done += inside; \
        } \
        out += done * out_row; \
        for (int r = done; r < rows; r++, out += out_row, added += added_row) \
            name##_write_part((char *) whole[r] + first, out + first, end - first, added ? added + first : NULL); \
    }

/* Write a part of a row. */
#define WRITE_PART(name, type) \
    static void name##_write_part(char *sums, char *out, npy_intp bytes, const char *added) { \
        for (npy_intp k = 0; added && k < bytes; k += sizeof(type)) *(type *) (sums + k) += *(const type *) (added + k); \
        copy_run(out, sums, bytes); \
    }

/* The same for m rows. The last two tiles have about as many each, since few sums don't fill the time of an addition. */
#define TILES_OF(name, size, count) \
    static AUTOGRAD_CY_INLINED void name##_rows##count(const char *a, npy_intp a_row, npy_intp a_column, const char *b, \
                                                       npy_intp b_row, char *out, npy_intp out_row, npy_intp m, npy_intp n, \
                                                       npy_intp first, npy_intp end, const char *added, npy_intp added_row, \
                                                       const npy_intp *offsets, npy_intp segments) { \
        const int most = MOST_ROWS(size, count); \
        char whole[count * size]; \
        if (!added) added_row = 0; \
        if (added && !added_row && end - first < count * size) { \
            memset(whole, 0, sizeof whole); \
            memcpy(whole + first, added + first, end - first); \
            added = whole; \
        } \
        while (m > 0) { \
            const int rows = m >= 2 * most ? most : (int) (m > most ? (m + 1) / 2 : m); \
            switch (rows) { \
                TILE_OF(name, count, 1) TILE_OF(name, count, 2) TILE_OF(name, count, 3) TILE_OF(name, count, 4) \
                TILE_OF(name, count, 5) TILE_OF(name, count, 6) TILE_OF(name, count, 7) TILE_OF(name, count, 8) \
                TILE_OF(name, count, 9) TILE_OF(name, count, 10) TILE_OF(name, count, 11) TILE_OF(name, count, 12) \
            } \
            m -= rows, a += rows * a_row, out += rows * out_row, added += rows * added_row; \
        } \
    }
#define TILE_OF(name, count, rows) \
    case rows: \
        if (rows <= most) \
            name##_tile##count(a, a_row, a_column, b, b_row, out, out_row, n, first, end, added, added_row, offsets, \
                               segments, rows); \
        break;

static const npy_intp ONE_SEGMENT[2] = {0, 0};

/* name_rows1 and name_rows2, for vectors of `size` bytes. If the machine lacks them, gcc 12's code is a tenth as fast. */
#define TILES(name, type, size) \
    typedef type name##_vector __attribute__((vector_size(size), aligned(sizeof(type)), may_alias)); \
    WRITE_PART(name, type) \
    TILE(name, type, size, 1) \
    TILE(name, type, size, 2) \
    TILES_OF(name, size, 1) \
    TILES_OF(name, size, 2)

#endif
