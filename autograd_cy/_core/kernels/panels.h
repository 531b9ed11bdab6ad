/* Products by panels: see NOTE [Panels] in panels.pyx. */
#ifndef AUTOGRAD_CY_PANELS_H
#define AUTOGRAD_CY_PANELS_H

#include <string.h>
#include "tiles.h"
#include "turns.h"

#define PANEL_BYTES 128

/* out = a @ panel + added; `added`, `offsets`, `segments`: see tiles.h. A panel may have more than PANEL_BYTES here;
   its rows are read up to a multiple of them. */
typedef void PanelProduct(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, char *out,
                          npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, const char *added, npy_intp added_row,
                          const npy_intp *offsets, npy_intp segments);

#if defined(__GNUC__)
#define PANEL_PRODUCT(name, type, size, attributes) \
    TILES(name, type, size) \
    attributes static void name(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, \
                                char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, const char *added, \
                                npy_intp added_row, const npy_intp *offsets, npy_intp segments) { \
        const npy_intp next = added ? 2 * size : 0; \
        for (; bytes > size; bytes -= 2 * size, panel += 2 * size, out += 2 * size, added += next) \
            name##_rows2(a, a_row, a_column, panel, panel_row, out, out_row, m, n, 0, \
                         bytes < 2 * size ? bytes : 2 * size, added, added_row, offsets, segments); \
        if (bytes > 0) \
            name##_rows1(a, a_row, a_column, panel, panel_row, out, out_row, m, n, 0, bytes, added, added_row, \
                         offsets, segments); \
    }
#else
#define PANEL_PRODUCT(name, type, size, attributes) \
    static void name(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, char *out, \
                     npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, const char *added, npy_intp added_row, \
                     const npy_intp *offsets, npy_intp segments) { \
        for (; m > 0; m--, a += a_row, out += out_row, added += added ? added_row : 0) \
            for (npy_intp j = 0; j < bytes / (npy_intp) sizeof(type); j++) { \
                type sum = 0; \
                for (npy_intp k = 0; k < segments * n; k++) \
                    sum += *(const type *) (a + offsets[k / n * 2] + k % n * a_column) \
                        * ((const type *) (panel + offsets[k / n * 2 + 1] + k % n * panel_row))[j]; \
                ((type *) out)[j] = added ? ((const type *) added)[j] + sum : sum; \
            } \
    }
#endif

PANEL_PRODUCT(panel_f32, float, 16, )
PANEL_PRODUCT(panel_f64, double, 16, )

#if defined(FUSED)
PANEL_PRODUCT(panel_f32_fma, float, 32, FUSED("avx2,fma"))
PANEL_PRODUCT(panel_f64_fma, double, 32, FUSED("avx2,fma"))
PANEL_PRODUCT(panel_f32_avx512, float, 64, FUSED("avx512f"))
PANEL_PRODUCT(panel_f64_avx512, double, 64, FUSED("avx512f"))
static PanelProduct *const panel_products[3][2] = {
    {panel_f32, panel_f64}, {panel_f32_fma, panel_f64_fma}, {panel_f32_avx512, panel_f64_avx512}};
#else
static PanelProduct *const panel_products[1][2] = {{panel_f32, panel_f64}};
#endif

/* Copy columns of a matrix to a panel of n rows, padded with zeros. */
#define FILL_PANEL(name, type, turn_4x4) \
    AUTOGRAD_CY_CLONED static void name(const char *b, npy_intp b_row, npy_intp b_column, char *panel, npy_intp n, \
                                        npy_intp columns) { \
        const npy_intp width = PANEL_BYTES / sizeof(type); \
        type *out = (type *) panel; \
        npy_intp k = 0; \
        if (b_column == sizeof(type) && columns == width) { \
            for (; k < n; k++, b += b_row, out += width) memcpy(out, b, PANEL_BYTES); \
            return; \
        } \
        if (columns < width) memset(panel, 0, n * PANEL_BYTES); \
        if (b_row == sizeof(type) && columns % 4 == 0) \
            for (; k + 4 <= n; k += 4, b += 4 * b_row, out += 4 * width) \
                for (npy_intp j = 0; j < columns; j += 4) turn_4x4(b + j * b_column, b_column, out + j, width); \
        for (; k + 4 <= n; k += 4, b += 4 * b_row, out += 4 * width) \
            for (npy_intp j = 0; j < columns; j++) \
                for (int i = 0; i < 4; i++) out[i * width + j] = *(const type *) (b + j * b_column + i * b_row); \
        for (; k < n; k++, b += b_row, out += width) \
            for (npy_intp j = 0; j < columns; j++) out[j] = *(const type *) (b + j * b_column); \
    }
FILL_PANEL(fill_panel_f32, float, turn_4x4_f32)
FILL_PANEL(fill_panel_f64, double, turn_4x4_f64)

#endif
