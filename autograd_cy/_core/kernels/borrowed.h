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

#endif
