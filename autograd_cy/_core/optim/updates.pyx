"""update: one step of an optimizer for the parameters of a group, each in one pass of its rule's loop.

NOTE [Updates]
  1. A parameter's state is as in PyTorch: Tensors of its shape and type, and 0-d Tensors (a rule's scalars, the step among
     them). Missing entries are created first.
  2. All parameters of the group are checked before one is written. A refused step has changed no number.
  3. A loop needs arrays that are dense in the same order. Others are copied into C order, and results are copied back; a
     gradient that overlaps part of its parameter is copied, too. float16 is computed in float32, complex numbers as pairs of
     real ones.
     If a gradient is zero outside of known rows (NOTE [Rows]), only these are read, provided that the rule leaves the other
     rows unchanged to the last bit.
  4. Parameters are updated one after the other, because they may share memory; threads share large ones.
  5. Each write counts in the version of its tensor, like an operation's write. No step is recorded.
"""

cimport cython
from cpython.dict cimport PyDict_Check
from cpython.object cimport PyObject
from libc.string cimport memcmp, memcpy

from autograd_cy._core.arrays.buffers cimport Rows, flat, is_dense, known_rows, overlaps_in_part, spans_meet
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX128, FLOAT32, FLOAT64, check_has_kernel, code_of, is_differentiable, is_half, long_word)
from autograd_cy._core.graph.memory cimport count, is_sparse, part_of, prepare_write
from autograd_cy._core.graph.record cimport has_tangent
from autograd_cy._core.graph.tensor cimport Tensor, has_extras
from autograd_cy._core.kernels.update_loops cimport KEPT, NUMBERS, OPTIONS, RULES, SCALARS, Loop32, Loop64, Rule
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, check_write, current_mode, here

cnp.import_array()

cdef enum:
    ARRAYS = KEPT + 2           # the parameter, its gradient, its state

cdef struct Run:                # a loop over a parameter's elements, shared by threads
    Loop32 loop32
    Loop64 loop64
    char *starts[ARRAYS]
    const double *numbers
    const Rows *rows            # if not NULL, the loop is over the numbers of these rows


class SparseGradient(RuntimeError):
    """A parameter, its gradient or its state is sparse, which no loop accepts."""


cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object, object) except? NULL


@cython.final
cdef class Members:
    """The parameters to update, and all data for their loops, in flat lists.

    Separate lists for each parameter would cost more than the step of a small one.
    """
    cdef Py_ssize_t width       # tensors of a parameter
    cdef list tensors           # the parameter, its gradient, its state (or None)
    cdef list arrays            # their arrays or copies, held while other threads run
    cdef list scalars           # 0-d Tensors
    cdef list fresh             # whether some of the state was just created


def update(str name, str operation, list params, states, tuple scalars, tuple kept, make_state, tuple options):
    """update(name, operation, params, states, scalars, kept, make_state, options): one step for parameters with gradients.

    `name` is a key of RULES, `options` are the numbers for its `prepare`. `states[param]` is a dict with a 0-d Tensor for each
    name in `scalars`, and a Tensor like the parameter for each name in `kept` (None: the rule keeps none);
    `make_state(param)` returns missing entries. RuntimeError, before anything is written, if something does not fit.
    """
    cdef Members members = Members.__new__(Members)
    cdef double[OPTIONS] values
    cdef object code
    cdef int instruction = 0, k
    cdef Rule rule = RULES[name]
    if len(options) > OPTIONS or len(scalars) > SCALARS or len(kept) > KEPT:
        raise ValueError(f"{operation}(): no rule takes so much")
    for k in range(len(options)):
        values[k] = options[k]
    members.width = len(kept) + 2
    members.tensors, members.arrays, members.scalars, members.fresh = [], [], [], []
    for param in params:
        if (<Tensor?> param).gradient is not None:
            add_member(members, <Tensor> param, states, scalars, kept, make_state, operation)
    code = here(&instruction)
    run_all(rule, members, &values[0], operation, code, instruction)


def rows_to_update(Tensor param):
    """rows_to_update(param) -> int | None: the number of rows outside of which its gradient is known to be zero."""
    cdef const Rows *rows = NULL
    if param.gradient is not None:
        rows = known_rows(param.gradient.array)
    return None if rows == NULL else rows.n


def drop_gradients(list params):
    """drop_gradients(params): set each parameter's .grad to None."""
    for param in params:
        (<Tensor?> param).gradient = None


# what belongs to a parameter

cdef int add_member(Members members, Tensor param, states, tuple scalars, tuple kept, make_state, str operation) except -1:
    """Check a parameter and add it: case 2 of NOTE [Updates]."""
    cdef Py_ssize_t start = len(members.tensors)
    cdef object state = None
    cdef bint fresh = False
    check_target(param, operation)
    check_like(param, param.gradient, "gradient", operation)
    members.tensors.append(param)
    members.tensors.append(param.gradient)
    if scalars or kept:
        state = states[param]
        fresh = complete(state, param, scalars, kept, make_state, operation)
    for name in kept:
        tensor = None if name is None else <object> PyDict_GetItemWithError(state, name)
        if name is not None:
            check_like(param, tensor, name, operation)
            check_memory(<Tensor> tensor, operation)
        members.tensors.append(tensor)
    for name in scalars:
        tensor = <object> PyDict_GetItemWithError(state, name)
        check_scalar(tensor, name, operation)
        members.scalars.append(tensor)
    members.fresh.append(fresh)
    return add_arrays(members, start)


cdef bint complete(state, Tensor param, tuple scalars, tuple kept, make_state, str operation) except -1:
    """Create missing entries of a parameter's state, case 1 of NOTE [Updates]; returns whether there were any."""
    if not PyDict_Check(state):
        raise TypeError(f"{operation}(): expected a dict as the state of a parameter, got {type(state).__name__}")
    if not lacks(state, scalars) and not lacks(state, kept):
        return False
    for name, value in make_state(param).items():
        if state.get(name) is None:
            state[name] = value
    return True


cdef bint lacks(state, tuple names) except -1:
    cdef PyObject *value
    for name in names:
        if name is not None:
            value = PyDict_GetItemWithError(state, name)
            if value == NULL or <object> value is None:
                return True
    return False


cdef int check_target(Tensor param, str operation) except -1:
    """Refuse a parameter that can't be updated."""
    if not is_differentiable(code_of(param.array)):
        raise RuntimeError(f"{operation}(): expected a parameter of floating point or complex numbers, got "
                           f"{long_word(code_of(param.array))}")
    if current_mode() & FORWARD_AD and has_tangent(param):
        raise RuntimeError(f"{operation}(): expected a parameter without a tangent: steps have no forward mode")
    return check_memory(param, operation)


cdef int check_memory(Tensor tensor, str operation) except -1:
    if tensor.batched:
        raise RuntimeError(f"{operation}(): expected a tensor that is not batched: steps can't be taken inside vmap")
    check_write(tensor.inference, operation)
    return prepare_write(tensor.array, operation)


cdef int check_like(Tensor param, tensor, str name, str operation) except -1:
    """Check that a gradient or state has the parameter's shape and type."""
    cdef Tensor other
    if not isinstance(tensor, Tensor):
        raise RuntimeError(f"{operation}(): expected a Tensor as {name}, got {type(tensor).__name__}")
    other = tensor
    if is_sparse(other) or is_sparse(param):
        raise SparseGradient(f"{operation}(): expected a dense parameter and {name}, but one of them is sparse")
    if other.batched or code_of(other.array) != code_of(param.array) or not cnp.PyArray_SAMESHAPE(other.array, param.array):
        raise RuntimeError(f"{operation}(): expected a {name} of type {long_word(code_of(param.array))} and shape "
                           f"{list(param.shape)}, as the parameter has, got {long_word(code_of(other.array))}, "
                           f"{list(other.shape)}")
    return 0


cdef int check_scalar(tensor, str name, str operation) except -1:
    if not isinstance(tensor, Tensor) or cnp.PyArray_SIZE((<Tensor> tensor).array) != 1:
        raise RuntimeError(f"{operation}(): expected a Tensor of one number as {name}, got {type(tensor).__name__}")
    return check_memory(<Tensor> tensor, operation)


# arrays of the loops

cdef int add_arrays(Members members, Py_ssize_t start) except -1:
    """The arrays of the last parameter, or copies of them: case 3 of NOTE [Updates]."""
    cdef cnp.ndarray array, first = (<Tensor> members.tensors[start]).array
    cdef list arrays = members.arrays
    cdef int number_code = code_of(first)
    cdef bint direct = not is_half(number_code) and is_dense(first)
    cdef Py_ssize_t k
    check_has_kernel(number_code, "optimizer step")
    for k in range(start, start + members.width):
        array = None if members.tensors[k] is None else (<Tensor> members.tensors[k]).array
        direct = direct and (array is None or in_order_of(array, first))
        arrays.append(array)
    if not direct:
        number_code = FLOAT32 if is_half(number_code) else number_code
        for k in range(start, start + members.width):
            arrays[k] = None if arrays[k] is None else flat(arrays[k], number_code)
    if spans_meet(arrays[start + 1], arrays[start]) and overlaps_in_part(arrays[start + 1], arrays[start]):
        arrays[start + 1] = arrays[start + 1].copy("K")
    return 0


cdef inline bint in_order_of(cnp.ndarray array, cnp.ndarray first) noexcept:
    """Whether an array of the same shape is dense in the same order."""
    cdef int axis
    if not cnp.PyArray_ISALIGNED(array):
        return False
    if cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_IS_C_CONTIGUOUS(first):
        return True
    for axis in range(cnp.PyArray_NDIM(first)):
        if cnp.PyArray_DIM(first, axis) > 1 and cnp.PyArray_STRIDE(array, axis) != cnp.PyArray_STRIDE(first, axis):
            return False
    return True


# the step

cdef int run_all(Rule rule, Members members, const double *options, str operation, object code,
                 int instruction) except -1:
    """Run the loops. Consecutive parameters with the same scalars share the numbers of the step."""
    cdef double[SCALARS] before, now, after
    cdef double[NUMBERS] numbers
    cdef Py_ssize_t j, k, size = len(members.fresh), n = len(members.scalars) // size if size else 0
    cdef int fresh, latest = -1                     # whether the numbers are for a fresh parameter; -1: there are none
    cdef Tensor scalar
    for j in range(size):
        fresh = members.fresh[j]
        for k in range(n):
            now[k] = scalar_of((<Tensor> members.scalars[j * n + k]).array)
        if latest != fresh or memcmp(&now[0], &before[0], n * sizeof(double)) != 0:
            memcpy(&before[0], &now[0], n * sizeof(double))
            memcpy(&after[0], &now[0], n * sizeof(double))
            rule.prepare(options, &after[0], &numbers[0], fresh)
            latest = fresh
        for k in range(n):
            scalar = members.scalars[j * n + k]
            put_scalar(scalar.array, after[k])
            count_update(scalar, operation, code, instruction)
        if leaves_zeros_alone(rule, members, j * members.width, &numbers[0]):
            run_rows(rule, members, j * members.width, &numbers[0])
        else:
            run_loop(rule, members, j * members.width, &numbers[0])
        finish(members, j * members.width, operation, code, instruction)
    return 0


cdef double scalar_of(cnp.ndarray array) except? -1:
    cdef int dtype_code = code_of(array) if cnp.PyArray_ISALIGNED(array) else -1
    if dtype_code == FLOAT32:
        return (<float *> cnp.PyArray_DATA(array))[0]
    if dtype_code == FLOAT64:
        return (<double *> cnp.PyArray_DATA(array))[0]
    return array.item()


cdef int put_scalar(cnp.ndarray array, double value) except -1:
    cdef int dtype_code = code_of(array) if cnp.PyArray_ISALIGNED(array) else -1
    if dtype_code == FLOAT32:
        (<float *> cnp.PyArray_DATA(array))[0] = <float> value
    elif dtype_code == FLOAT64:
        (<double *> cnp.PyArray_DATA(array))[0] = value
    else:
        array.fill(value)
    return 0


cdef int run_loop(Rule rule, Members members, Py_ssize_t start, const double *numbers) except -1:
    cdef Run run
    cdef cnp.ndarray array = members.arrays[start]
    cdef int dtype_code = code_of(array), k
    cdef bint wide = dtype_code == FLOAT64 or dtype_code == COMPLEX128
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(array) * (2 if cnp.PyArray_ISCOMPLEX(array) else 1), touched = 0
    run.loop32, run.loop64, run.numbers = rule.loop32, rule.loop64, numbers
    for k in range(ARRAYS):
        array = members.arrays[start + k] if k < members.width else None
        run.starts[k] = NULL if array is None else cnp.PyArray_BYTES(array)
        touched += array is not None
    parallel_for(run_f64 if wide else run_f32, &run, n, touched * (2 if wide else 1), 64)
    return 0


cdef bint leaves_zeros_alone(Rule rule, Members members, Py_ssize_t start, const double *numbers) noexcept:
    """Whether the gradient is 0 outside of known rows, and the step leaves the parameter unchanged there."""
    cdef cnp.ndarray p, g
    if rule.leaves_zeros == NULL or members.width != 2:
        return False
    p, g = members.arrays[start], members.arrays[start + 1]
    return (known_rows(g) != NULL and g is (<Tensor> members.tensors[start + 1]).array and cnp.PyArray_IS_C_CONTIGUOUS(p)
            and rule.leaves_zeros(numbers, code_of(p) == FLOAT64 or code_of(p) == COMPLEX128))


cdef int run_rows(Rule rule, Members members, Py_ssize_t start, const double *numbers) except -1:
    """Run the loop on each known row."""
    cdef Run run
    cdef cnp.ndarray p = members.arrays[start], g = members.arrays[start + 1]
    cdef bint wide = code_of(p) == FLOAT64 or code_of(p) == COMPLEX128
    cdef const Rows *rows = known_rows(g)
    run.loop32, run.loop64, run.numbers, run.rows = rule.loop32, rule.loop64, numbers, rows
    run.starts[0], run.starts[1] = cnp.PyArray_BYTES(p), cnp.PyArray_BYTES(g)
    parallel_for(run_rows_f64 if wide else run_rows_f32, &run, rows.n, 2 * (rows.size // sizeof(float)) + 1)
    return 0


cdef void run_rows_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Run *run = <Run *> data
    cdef Py_ssize_t k, place
    for k in range(first, end):
        place = run.rows.numbers[k] * run.rows.size
        run.loop32(<float *> (run.starts[0] + place), <float *> (run.starts[1] + place), NULL, NULL, NULL, run.numbers,
                   run.rows.size // sizeof(float))


cdef void run_rows_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Run *run = <Run *> data
    cdef Py_ssize_t k, place
    for k in range(first, end):
        place = run.rows.numbers[k] * run.rows.size
        run.loop64(<double *> (run.starts[0] + place), <double *> (run.starts[1] + place), NULL, NULL, NULL, run.numbers,
                   run.rows.size // sizeof(double))


cdef void run_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Run *run = <Run *> data
    cdef float *x[ARRAYS]
    cdef int k
    for k in range(ARRAYS):
        x[k] = NULL if run.starts[k] == NULL else <float *> run.starts[k] + first
    run.loop32(x[0], x[1], x[2], x[3], x[4], run.numbers, end - first)


cdef void run_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Run *run = <Run *> data
    cdef double *x[ARRAYS]
    cdef int k
    for k in range(ARRAYS):
        x[k] = NULL if run.starts[k] == NULL else <double *> run.starts[k] + first
    run.loop64(x[0], x[1], x[2], x[3], x[4], run.numbers, end - first)


cdef int finish(Members members, Py_ssize_t start, str operation, object code, int instruction) except -1:
    """Count the writes, then copy results back from copies."""
    cdef Py_ssize_t k
    cdef cnp.ndarray array
    for k in range(start, start + members.width):
        if k != start + 1 and members.tensors[k] is not None:
            count_update(<Tensor> members.tensors[k], operation, code, instruction)
    for k in range(start, start + members.width):
        if k != start + 1 and members.tensors[k] is not None:
            array = (<Tensor> members.tensors[k]).array
            if members.arrays[k] is not array:
                cnp.PyArray_CopyInto(array, <cnp.ndarray> members.arrays[k])
    return 0


cdef int count_update(Tensor tensor, str operation, object code, int instruction) except -1:
    """Count a write to a tensor: case 5 of NOTE [Updates]."""
    if not tensor.inference:
        count(tensor.version_counter(),
              part_of(tensor.array) if has_extras(tensor) and tensor.extras.base is not None else None,
              operation, code, instruction)
    return 0
