/* Typed memoryviews of memory that somebody else holds. No object stands behind them (Py_None, for Cython wants one), nothing
   is counted, and after inlining nothing is left of them but the pointer and the sizes. */
#ifndef AUTOGRAD_CY_BORROWED_H
#define AUTOGRAD_CY_BORROWED_H

#define AUTOGRAD_CY_NO_OBJECT (struct __pyx_memoryview_obj *) Py_None

/* n elements, `step` bytes apart */
#define AUTOGRAD_CY_SPACED(pointer, n, step) \
    ((__Pyx_memviewslice) {AUTOGRAD_CY_NO_OBJECT, (char *) (pointer), {(n)}, {(step)}, {-1}})

/* n contiguous elements */
#define AUTOGRAD_CY_RUN(pointer, n) AUTOGRAD_CY_SPACED(pointer, n, (Py_ssize_t) sizeof(*(pointer)))

/* rows of n elements, all of them any number of bytes apart; and rows of contiguous elements */
#define AUTOGRAD_CY_PLANE(pointer, rows, stride, n, step) \
    ((__Pyx_memviewslice) {AUTOGRAD_CY_NO_OBJECT, (char *) (pointer), {(rows), (n)}, {(stride), (step)}, {-1, -1}})
#define AUTOGRAD_CY_ROWS(pointer, rows, stride, n) \
    AUTOGRAD_CY_PLANE(pointer, rows, stride, n, (Py_ssize_t) sizeof(*(pointer)))

/* a dense array seen as (outer, n, inner) */
#define AUTOGRAD_CY_CUBE(pointer, outer, n, inner) \
    ((__Pyx_memviewslice) {AUTOGRAD_CY_NO_OBJECT, (char *) (pointer), {(outer), (n), (inner)}, \
                           {(n) * (inner) * (Py_ssize_t) sizeof(*(pointer)), (inner) * (Py_ssize_t) sizeof(*(pointer)), \
                            (Py_ssize_t) sizeof(*(pointer))}, {-1, -1, -1}})

#endif
