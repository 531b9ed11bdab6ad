cdef tuple grid_table(object grid, tuple sizes, tuple options)
