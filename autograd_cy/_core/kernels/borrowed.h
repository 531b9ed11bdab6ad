/* Typed memoryviews of memory that the caller holds. Their object is Py_None, because Cython needs one; no reference is
   counted. After inlining, only the pointer and the sizes are left. */
#ifndef AUTOGRAD_CY_BORROWED_H
#define AUTOGRAD_CY_BORROWED_H

#define AUTOGRAD_CY_NO_OBJECT (struct __pyx_memoryview_obj *) Py_None

/* n elements, `step` bytes apart */
#define AUTOGRAD_CY_SPACED(pointer, n, step) \
    ((__Pyx_memviewslice) {AUTOGRAD_CY_NO_OBJECT, (char *) (pointer), {(n)}, {(step)}, {-1}})

/* n contiguous elements */
#define AUTOGRAD_CY_RUN(pointer, n) AUTOGRAD_CY_SPACED(pointer, n, (Py_ssize_t) sizeof(*(pointer)))

#endif
