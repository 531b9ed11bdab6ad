/* Tiles of products: some rows of a times some vectors of each row of b, with sums in registers. Tiles are inlined, so the
   calling function determines the instruction set. For gcc and clang. */
#ifndef AUTOGRAD_CY_TILES_H
#define AUTOGRAD_CY_TILES_H

#include <string.h>
#include "runs.h"

#define TILE_ROWS 12         /* of one vector, half as many of two: sums that fill the time of an addition */

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

/* `rows` rows of a @ b + added, `count` vectors each. `added` may be NULL; if its rows are 0 bytes apart, it is a single one.
   Only the bytes `first` to `end` are written, but b's vectors are read whole. The rows of `out` are fetched meanwhile.
   The sum is over n rows of b from each of `segments` places; `offsets` has the places in a and in b. */
#define TILE(name, type, size, count) \
    static AUTOGRAD_CY_INLINED void name##_tile##count(const char *a, npy_intp a_row, npy_intp a_column, const char *b, \
                                                       npy_intp b_row, char *out, npy_intp out_row, npy_intp n, \
                                                       npy_intp first, npy_intp end, const char *added, npy_intp added_row, \
                                                       const npy_intp *offsets, npy_intp segments, int rows) { \
        name##_vector sums[TILE_ROWS / count][count]; \
        for (int r = 0; r < rows; r++) \
            for (int c = 0; c < count; c++) { \
                sums[r][c] = (name##_vector) {0}; \
                __builtin_prefetch(out + r * out_row + c * size, 1); \
            } \
        for (; segments > 0; segments--, offsets += 2) { \
            const char *p = a + offsets[0], *q = b + offsets[1]; \
            for (npy_intp k = 0; k < n; k++, p += a_column, q += b_row) { \
                name##_vector row[count]; \
                for (int c = 0; c < count; c++) row[c] = ((const name##_vector *) q)[c]; \
                _Pragma("GCC unroll 12") \
                for (int r = 0; r < rows; r++) { \
                    const type x = *(const type *) (p + r * a_row); \
                    for (int c = 0; c < count; c++) sums[r][c] += row[c] * x; \
                } \
            } \
        } \
        for (int r = 0; r < rows; r++, out += out_row, added += added_row) { \
            if (first == 0 && end == count * size) { \
                for (int c = 0; c < count; c++) { \
                    if (added) sums[r][c] += ((const name##_vector *) added)[c]; \
                    ((name##_vector *) out)[c] = sums[r][c]; \
                } \
            } else { \
                name##_vector whole[count]; \
                for (int c = 0; c < count; c++) whole[c] = sums[r][c]; \
                name##_write_part((char *) whole + first, out + first, end - first, added ? added + first : NULL); \
            } \
        } \
    }

/* Write a part of a row. */
#define WRITE_PART(name, type) \
    static void name##_write_part(char *sums, char *out, npy_intp bytes, const char *added) { \
        for (npy_intp k = 0; added && k < bytes; k += sizeof(type)) *(type *) (sums + k) += *(const type *) (added + k); \
        copy_run(out, sums, bytes); \
    }

/* The same for m rows. */
#define TILES_OF(name, count) \
    static AUTOGRAD_CY_INLINED void name##_rows##count(const char *a, npy_intp a_row, npy_intp a_column, const char *b, \
                                                       npy_intp b_row, char *out, npy_intp out_row, npy_intp m, npy_intp n, \
                                                       npy_intp first, npy_intp end, const char *added, npy_intp added_row, \
                                                       const npy_intp *offsets, npy_intp segments) { \
        const int most = TILE_ROWS / count; \
        if (!added) added_row = 0; \
        for (; m >= most; m -= most, a += most * a_row, out += most * out_row, added += most * added_row) \
            TILE_OF(name, count, most); \
        if (most > 8 && m >= 8) { \
            TILE_OF(name, count, 8); \
            m -= 8, a += 8 * a_row, out += 8 * out_row, added += 8 * added_row; \
        } \
        if (m >= 4) { \
            TILE_OF(name, count, 4); \
            m -= 4, a += 4 * a_row, out += 4 * out_row, added += 4 * added_row; \
        } \
        if (m >= 2) { \
            TILE_OF(name, count, 2); \
            m -= 2, a += 2 * a_row, out += 2 * out_row, added += 2 * added_row; \
        } \
        if (m > 0) TILE_OF(name, count, 1); \
    }
#define TILE_OF(name, count, rows) \
    name##_tile##count(a, a_row, a_column, b, b_row, out, out_row, n, first, end, added, added_row, offsets, segments, rows)

static const npy_intp ONE_SEGMENT[2] = {0, 0};

/* name_rows1 and name_rows2, for vectors of `size` bytes. If the machine lacks them, gcc 12's code is a tenth as fast. */
#define TILES(name, type, size) \
    typedef type name##_vector __attribute__((vector_size(size), aligned(sizeof(type)), may_alias)); \
    WRITE_PART(name, type) \
    TILE(name, type, size, 1) \
    TILE(name, type, size, 2) \
    TILES_OF(name, 1) \
    TILES_OF(name, 2)

#endif
