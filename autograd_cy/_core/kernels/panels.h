/* Products by panels: see NOTE [Panels] in panels.pyx. */
#ifndef AUTOGRAD_CY_PANELS_H
#define AUTOGRAD_CY_PANELS_H

#include <string.h>
#include "tiles.h"

#define PANEL_BYTES 128

typedef void PanelProduct(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, char *out,
                          npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, int add);

#if defined(__GNUC__)
#define PANEL_PRODUCT(name, type, size, attributes) \
    TILES(name, type, size) \
    attributes static void name(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, \
                                char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, int add) { \
        for (; bytes > size; bytes -= 2 * size, panel += 2 * size, out += 2 * size) \
            name##_rows2(a, a_row, a_column, panel, panel_row, out, out_row, m, n, 0, \
                         bytes < 2 * size ? bytes : 2 * size, add); \
        if (bytes > 0) name##_rows1(a, a_row, a_column, panel, panel_row, out, out_row, m, n, 0, bytes, add); \
    }
#else
#define PANEL_PRODUCT(name, type, size, attributes) \
    static void name(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row, char *out, \
                     npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, int add) { \
        for (; m > 0; m--, a += a_row, out += out_row) { \
            type sums[PANEL_BYTES / sizeof(type)] = {0}; \
            for (npy_intp k = 0; k < n; k++) { \
                const type x = *(const type *) (a + k * a_column); \
                for (npy_intp j = 0; j < (npy_intp) (PANEL_BYTES / sizeof(type)); j++) \
                    sums[j] += x * ((const type *) (panel + k * panel_row))[j]; \
            } \
            for (npy_intp j = 0; j < (npy_intp) (bytes / sizeof(type)); j++) \
                ((type *) out)[j] = add ? ((type *) out)[j] + sums[j] : sums[j]; \
        } \
    }
#endif

PANEL_PRODUCT(panel_f32, float, 16, )
PANEL_PRODUCT(panel_f64, double, 16, )

/* What the machine can do: 0 for what any can, then with fused multiply-adds of 32 and of 64 bytes. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !AUTOGRAD_CY_DEBUG
#define FUSED(target_) __attribute__((target(target_), optimize("fp-contract=fast")))
PANEL_PRODUCT(panel_f32_fma, float, 32, FUSED("avx2,fma"))
PANEL_PRODUCT(panel_f64_fma, double, 32, FUSED("avx2,fma"))
PANEL_PRODUCT(panel_f32_avx512, float, 64, FUSED("avx512f"))
PANEL_PRODUCT(panel_f64_avx512, double, 64, FUSED("avx512f"))
static PanelProduct *const panel_products[3][2] = {
    {panel_f32, panel_f64}, {panel_f32_fma, panel_f64_fma}, {panel_f32_avx512, panel_f64_avx512}};

static int best_panels(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
}
#else
static PanelProduct *const panel_products[1][2] = {{panel_f32, panel_f64}};

static int best_panels(void) { return 0; }
#endif

/* Columns of a matrix as a panel of n rows, with zeros behind them. */
#define FILL_PANEL(name, type) \
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
        for (; k + 4 <= n; k += 4, b += 4 * b_row, out += 4 * width) \
            for (npy_intp j = 0; j < columns; j++) \
                for (int i = 0; i < 4; i++) out[i * width + j] = *(const type *) (b + j * b_column + i * b_row); \
        for (; k < n; k++, b += b_row, out += width) \
            for (npy_intp j = 0; j < columns; j++) out[j] = *(const type *) (b + j * b_column); \
    }
FILL_PANEL(fill_panel_f32, float)
FILL_PANEL(fill_panel_f64, double)

#endif
