/* Maxima of windows and their places, for vectors of adjacent channels: see channel_windows.pyx. */
#ifndef AUTOGRAD_CY_CHANNEL_MAXIMA_H
#define AUTOGRAD_CY_CHANNEL_MAXIMA_H

#include <limits.h>
#include <math.h>
#include <string.h>
#include "tiles.h"

#define FEW_BYTES 16        /* of a vector for channels that don't fill a whole one */

/* A row of windows. Distances are between the pixels of a window, counted in pixels; so are places. */
typedef struct {
    const long long *starts, *counts;       /* of each window, along the row */
    npy_intp out;                           /* the number of windows */
    npy_intp first;                         /* the first pixel of the row, and so the first place */
    npy_intp deep, high;                    /* how many pixels a window has along the other dimensions */
    npy_intp depth, line, column;           /* distances */
    npy_intp channels, end;                 /* of a pixel; elements of the array from the image on */
} autograd_cy_row;

typedef void RowOfMaxima(const void *image, void *y, long long *places, const autograd_cy_row *row);

/* One channel of a window. */
#define MAXIMUM(name, type, least) \
    static void name##_maximum(const type *x, npy_intp corner, npy_intp wide, const autograd_cy_row *w, type *y, \
                               long long *place) { \
        *y = w->deep * w->high * wide > 0 ? x[corner * w->channels] : (type) least; \
        *place = corner; \
        for (npy_intp i = 0; i < w->deep * w->high * wide; i++) { \
            const npy_intp at = corner + i / wide / w->high * w->depth + i / wide % w->high * w->line + i % wide * w->column; \
            const type value = x[at * w->channels]; \
            if (value > *y || value != value) *y = value, *place = at; \
        } \
    }
MAXIMUM(maxima_f32, float, -INFINITY)
MAXIMUM(maxima_f64, double, -INFINITY)
MAXIMUM(maxima_i64, long long, LLONG_MIN)

#if defined(__GNUC__)
/* `count` vectors of channels of a window, of which the first `kept` channels are written. */
#define WINDOW(name, type, index, size, least, attributes) \
    typedef type name##_vector __attribute__((vector_size(size), aligned(sizeof(type)), may_alias)); \
    typedef index name##_index __attribute__((vector_size(size))); \
    typedef long long name##_place __attribute__((vector_size(size / sizeof(type) * 8), aligned(8), may_alias)); \
    attributes static AUTOGRAD_CY_INLINED void name##_window(const type *x, npy_intp corner, npy_intp wide, const autograd_cy_row *w, \
                                                  type *y, long long *places, int count, npy_intp kept) { \
        name##_vector best[4]; \
        name##_index offsets[4]; \
        const int lanes = size / sizeof(type); \
        const type *pixel = x + corner * w->channels; \
        for (int v = 0; v < count; v++) { \
            best[v] = ((const name##_vector *) pixel)[v]; \
            offsets[v] = (name##_index) {0}; \
            if (w->deep * w->high * wide == 0) best[v] = (name##_vector) {0} + (type) least; \
        } \
        for (npy_intp a = 0; a < w->deep; a++) \
            for (npy_intp b = 0; b < w->high; b++) { \
                npy_intp offset = a * w->depth + b * w->line; \
                const type *line = pixel + offset * w->channels; \
                for (npy_intp c = 0; c < wide; c++, offset += w->column, line += w->column * w->channels) \
                    _Pragma("GCC unroll 4") \
                    for (int v = 0; v < count; v++) { \
                        const name##_vector value = ((const name##_vector *) line)[v]; \
                        const name##_index larger = (name##_index) (value > best[v]) | (name##_index) (value != value); \
                        best[v] = (name##_vector) ((larger & (name##_index) value) | (~larger & (name##_index) best[v])); \
                        offsets[v] = (larger & (index) offset) | (~larger & offsets[v]); \
                    } \
            } \
        for (int v = 0; v < count; v++, y += lanes, places += lanes) { \
            const name##_place at = __builtin_convertvector(offsets[v], name##_place) + (long long) corner; \
            if (kept >= count * lanes) { \
                *(name##_vector *) y = best[v]; \
                *(name##_place *) places = at; \
            } else { \
                type values[size / sizeof(type)]; \
                long long all_places[size / sizeof(type)]; \
                memcpy(values, &best[v], sizeof values); \
                memcpy(all_places, &at, sizeof all_places); \
                for (int k = 0; k < lanes - 1; k++) \
                    if (k < kept) y[k] = values[k], places[k] = all_places[k]; \
            } \
        } \
    }

/* A row of at least a vector of channels: whole vectors, the last of which overlaps the one before. `next` has smaller ones. */
#define ROW_OF_MAXIMA(name, next, type, size, most, attributes) \
    attributes static void name##_row(const void *image, void *out, long long *places, const autograd_cy_row *row) { \
        const autograd_cy_row w = *row; \
        const npy_intp n = w.channels, lanes = size / sizeof(type); \
        type *y = out; \
        if (n < lanes) { \
            next##_row(image, out, places, row); \
            return; \
        } \
        for (npy_intp k = 0; k < w.out; k++, y += n, places += n) { \
            const npy_intp corner = w.first + w.starts[k], wide = w.counts[k]; \
            const type *x = image; \
            npy_intp c = 0; \
            for (; c + most * lanes <= n; c += most * lanes) \
                name##_window(x + c, corner, wide, &w, y + c, places + c, most, most * lanes); \
            for (; c < n; c += lanes) { \
                c = c + lanes <= n ? c : n - lanes; \
                name##_window(x + c, corner, wide, &w, y + c, places + c, 1, lanes); \
            } \
        } \
    }

/* A row of fewer channels than a vector of FEW_BYTES, which is read anyway unless this would exceed the array. */
#define ROW_OF_FEW(name, window, one, type, attributes) \
    attributes static void name##_row(const void *image, void *out, long long *places, const autograd_cy_row *row) { \
        const autograd_cy_row w = *row; \
        const npy_intp n = w.channels; \
        const type *x = image; \
        type *y = out; \
        for (npy_intp k = 0; k < w.out; k++, y += n, places += n) { \
            const npy_intp corner = w.first + w.starts[k], wide = w.counts[k]; \
            const npy_intp last = (w.deep - 1) * w.depth + (w.high - 1) * w.line + (wide - 1) * w.column; \
            if ((corner + (last > 0 ? last : 0)) * n + (npy_intp) (FEW_BYTES / sizeof(type)) <= w.end) \
                window##_window(x, corner, wide, &w, y, places, 1, n); \
            else \
                for (npy_intp c = 0; c < n; c++) one##_maximum(x + c, corner, wide, &w, y + c, places + c); \
        } \
    }

#define MAXIMA(name, next, type, index, size, most, least, attributes) \
    WINDOW(name, type, index, size, least, attributes) \
    ROW_OF_MAXIMA(name, next, type, size, most, attributes)
#define MAXIMA_OF_FEW(name, one, type, index, least, attributes) \
    WINDOW(name, type, index, FEW_BYTES, least, attributes) \
    ROW_OF_FEW(name##_few, name, one, type, attributes) \
    ROW_OF_MAXIMA(name, name##_few, type, FEW_BYTES, 2, attributes)
#define ROWS_OF_MAXIMA(suffix, next, size, most, attributes) \
    MAXIMA(maxima_f32##suffix, maxima_f32##next, float, int, size, most, -INFINITY, attributes) \
    MAXIMA(maxima_f64##suffix, maxima_f64##next, double, long long, size, most, -INFINITY, attributes) \
    MAXIMA(maxima_i64##suffix, maxima_i64##next, long long, long long, size, most, LLONG_MIN, attributes)
#define ROWS_OF_FEW(suffix, attributes) \
    MAXIMA_OF_FEW(maxima_f32##suffix, maxima_f32, float, int, -INFINITY, attributes) \
    MAXIMA_OF_FEW(maxima_f64##suffix, maxima_f64, double, long long, -INFINITY, attributes) \
    MAXIMA_OF_FEW(maxima_i64##suffix, maxima_i64, long long, long long, LLONG_MIN, attributes)
#else
#define MAXIMA_OF_FEW(name, one, type) \
    static void name##_row(const void *image, void *out, long long *places, const autograd_cy_row *w) { \
        for (npy_intp k = 0; k < w->out * w->channels; k++) \
            one##_maximum((const type *) image + k % w->channels, w->first + w->starts[k / w->channels], \
                          w->counts[k / w->channels], w, (type *) out + k, places + k); \
    }
#define ROWS_OF_FEW(suffix, attributes) \
    MAXIMA_OF_FEW(maxima_f32##suffix, maxima_f32, float) \
    MAXIMA_OF_FEW(maxima_f64##suffix, maxima_f64, double) \
    MAXIMA_OF_FEW(maxima_i64##suffix, maxima_i64, long long)
#endif
ROWS_OF_FEW(_any, )

/* Chosen by the machine's instruction set, as in panels.h. */
#if defined(FUSED)
ROWS_OF_FEW(_half, FUSED("avx2,fma"))
ROWS_OF_MAXIMA(_avx2, _half, 32, 2, FUSED("avx2,fma"))
ROWS_OF_MAXIMA(_avx512, _avx2, 64, 4, FUSED("avx512f"))
static RowOfMaxima *const rows_of_maxima[3][3] = {
    {maxima_f32_any_row, maxima_f64_any_row, maxima_i64_any_row},
    {maxima_f32_avx2_row, maxima_f64_avx2_row, maxima_i64_avx2_row},
    {maxima_f32_avx512_row, maxima_f64_avx512_row, maxima_i64_avx512_row}};
#else
static RowOfMaxima *const rows_of_maxima[1][3] = {{maxima_f32_any_row, maxima_f64_any_row, maxima_i64_any_row}};
#endif

#endif
