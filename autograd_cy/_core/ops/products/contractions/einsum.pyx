"""einsum: sums of products over named dimensions, computed by diagonals, sums, mul and bmm.

A dimension is named by its letter, or, under an ellipsis, by its distance from the ellipsis's last dimension: so ellipses
of different lengths are broadcast like shapes.
"""

from functools import lru_cache
from itertools import combinations

from autograd_cy._core.graph.record cimport shape_of
from autograd_cy._core.graph.tensor cimport Tensor

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op

ELLIPSIS = "..."
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


# the equation

cdef list scanned(str equation, int start, int end, str where):
    """The letters, and at most one ellipsis, in a part of the equation."""
    cdef list found = []
    cdef int k = start
    while k < end:
        if equation[k] == ".":
            if ELLIPSIS in found:
                raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if equation[k:min(k + 3, end)] != ELLIPSIS:
                raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            found.append(ELLIPSIS)
            k += 2
        elif equation[k] in LETTERS:
            found.append(equation[k])
        elif equation[k] != " ":
            raise RuntimeError(f"einsum(): invalid subscript given at index {k} in the equation string, subscripts must be "
                               "in [a-zA-Z]")
        k += 1
    return found


@lru_cache(maxsize=256)
def parsed(str equation):
    """The subscripts of the operands, and of the result or None. The lists are cached: don't modify them."""
    cdef list terms = []
    cdef int arrow = equation.find("->"), start = 0, end
    cdef int stop = arrow if arrow >= 0 else len(equation)
    while True:
        end = equation.find(",", start, stop)
        terms.append(scanned(equation, start, end if end >= 0 else stop, f"operand {len(terms)}"))
        if end < 0:
            break
        start = end + 1
    return terms, scanned(equation, arrow + 2, len(equation), "the output") if arrow >= 0 else None


cdef list from_numbers(object numbers):
    """A list of subscripts from numbers below 52 and Ellipsis."""
    try:
        return [ELLIPSIS if k is Ellipsis else LETTERS[k] for k in numbers]
    except IndexError:
        raise RuntimeError(f"einsum(): expected subscripts to be within range [0, 52), but got {list(numbers)}") from None


cdef tuple arguments_of(object equation, tuple operands):
    """The operands, their subscripts and the result's subscripts, from either form of the call."""
    cdef tuple given = (equation, *operands)
    if isinstance(equation, str):
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        terms, result = parsed(equation)
    else:
        operands, terms = given[:len(given) // 2 * 2:2], [from_numbers(numbers) for numbers in given[1::2]]
        result = from_numbers(given[len(given) - 1]) if len(given) % 2 else None
    if not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and "
                         "its subscripts list")
    for position, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(f"einsum(): expected Tensor as element {position} in argument 1, but got "
                            f"{type(operand).__name__}")
    if len(terms) != len(operands):
        raise RuntimeError(f"einsum(): {'fewer' if len(operands) < len(terms) else 'more'} operands were provided than "
                           "specified in the equation")
    return list(operands), terms, result


cdef list names_of(list term, int ndim, int position):
    """A name for each dimension of an operand."""
    cdef int letters = len(term) - term.count(ELLIPSIS)
    if letters > ndim or (letters < ndim and ELLIPSIS not in term):
        relation, end = ("does not match", " and no ellipsis was given") if ELLIPSIS not in term else ("is more than", "")
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({letters}) {relation} the number of "
                           f"dimensions ({ndim}) for operand {position}{end}")
    return spread_out(term, ndim - letters)


cdef list spread_out(list term, int hidden):
    """The term with its ellipsis replaced by `hidden` numbered dimensions."""
    cdef list names = []
    for name in term:
        if name == ELLIPSIS:
            names += range(hidden - 1, -1, -1)
        else:
            names.append(name)
    return names


cdef list result_names(object term, list names, int hidden):
    """The names of the result's dimensions. By default the ellipsis, then the letters that appear once, sorted."""
    cdef list every = [name for own in names for name in own], found
    if term is None:
        letters = sorted([name for name in set(every) if isinstance(name, str) and every.count(name) == 1])
        return spread_out([ELLIPSIS, *letters], hidden)
    found = spread_out(term, hidden)
    for name in found:
        if isinstance(name, str) and name not in every:
            raise RuntimeError(f"einsum(): output subscript {name} does not appear in the equation for any input operand")
        if found.count(name) > 1:
            raise RuntimeError(f"einsum(): output subscript {name} appears more than once in the output")
    return found


# the operands: a tensor and the names of its dimensions

cdef object without_repeats(object x, list names, int position):
    """The operand's diagonal along each name that appears twice; `names` loses the repeats."""
    cdef int first, second
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            if x.shape[first] != x.shape[second]:
                raise RuntimeError(f"einsum(): subscript {name} is repeated for operand {position} but the sizes don't "
                                   f"match, {x.shape[second]} != {x.shape[first]}")
            x = x.diagonal(0, first, second)
            del names[second]
            del names[first]
            names.append(name)
    return x


cdef int note_sizes(dict sizes, object x, list names, int position) except -1:
    """Record the size of each name, other than 1; all operands must agree."""
    for name, size in zip(names, shape_of(x)):
        if sizes.setdefault(name, size) == 1:
            sizes[name] = size
        elif size != 1 and size != sizes[name]:
            label = name if isinstance(name, str) else ELLIPSIS
            raise RuntimeError(f"einsum(): subscript {label} has size {size} for operand {position} which does not "
                               f"broadcast with previously seen size {sizes[name]}")
    return 0


cdef tuple summed(object x, list names, object kept):
    """The operand summed over the dimensions that are not in `kept`."""
    cdef list dims = [k for k, name in enumerate(names) if name not in kept]
    return (x.sum(dims), [name for name in names if name in kept]) if dims else (x, names)


cdef object arranged(object x, list names, list order):
    """The operand with its dimensions in the given order, and size 1 for missing ones."""
    cdef list missing = [name for name in order if name not in names]
    if missing:
        x = x.reshape(shape_of(x) + (1,) * len(missing))
        names = names + missing
    return x.permute([names.index(name) for name in order])


cdef tuple without_ones(object x, list names, dict sizes):
    """The operand without dimensions of size 1 that are broadcast."""
    cdef list dims = [k for k, size in enumerate(shape_of(x)) if size == 1 != sizes[names[k]]]
    return (x.squeeze(dims), [name for k, name in enumerate(names) if k not in dims]) if dims else (x, names)


cdef tuple contracted(object a, list a_names, object b, list b_names, list kept, dict sizes):
    """The product of two operands, summed over the dimensions that are not in `kept`."""
    a, a_names = without_ones(a, a_names, sizes)
    b, b_names = without_ones(b, b_names, sizes)
    cdef int before = len({*a_names, *b_names})
    a, a_names = summed(a, a_names, {*kept, *b_names})
    b, b_names = summed(b, b_names, {*kept, *a_names})
    cdef list both = [name for name in a_names if name in b_names and name in kept]
    cdef list inner = [name for name in a_names if name in b_names and name not in kept]
    cdef list left = [name for name in a_names if name not in b_names]
    cdef list right = [name for name in b_names if name not in a_names]
    cdef list order = [name for name in kept if name in a_names or name in b_names]
    if not inner:
        y = arranged(a, a_names, order) * arranged(b, b_names, order)
        return y.reshape(shape_of(y)) if len(order) < before else y, order
    if left and right and max(map(order.index, right)) < min(map(order.index, left)):      # the layout of PyTorch's result
        a, a_names, left, b, b_names, right = b, b_names, right, a, a_names, left
    a = as_batch(a, a_names, both, left, inner, sizes)
    b = as_batch(b, b_names, both, inner, right, sizes)
    return a.bmm(b).reshape([sizes[name] for name in both + left + right]), both + left + right


cdef object as_batch(object x, list names, list both, list rows, list columns, dict sizes):
    """The operand as a batch of matrices: each of the three lists of names becomes one dimension."""
    cdef list order = both + rows + columns
    if names != order:
        x = x.permute([names.index(name) for name in order])
    if len(both) == len(rows) == len(columns) == 1:
        return x
    return x.reshape(numel(both, sizes), numel(rows, sizes), numel(columns, sizes))


cdef object numel(list names, dict sizes):
    total = 1
    for name in names:
        total *= sizes[name]
    return total


cdef tuple cheapest_pair(list names, dict sizes, list result):
    """The two operands with the smallest product, compared with the operands that it replaces."""
    cdef list pairs = []
    for i, j in combinations(range(len(names)), 2):
        others = {*result, *[name for k, own in enumerate(names) if k != i and k != j for name in own]}
        made = [name for name in {*names[i], *names[j]} if name in others]
        pairs.append((numel(made, sizes) - numel(names[i], sizes) - numel(names[j], sizes), i, j))
    return min(pairs)[1:]


@op(batch=COMPOSITE)
def einsum(equation, *operands):
    """einsum(equation, *operands) -> Tensor: products of the operands summed over the dimensions not in the result.

    "ij,jk->ik" names the dimensions of two operands and of the result. Without "->" the result has the ellipsis and the
    letters that appear once, in alphabetical order. A letter repeated in an operand takes the diagonal; "..." covers
    any dimensions, which are broadcast. Or einsum(x, [0, 1], y, [1, 2], [0, 2]). With more than two operands, the
    pair with the smallest product is multiplied first.

    >>> import autograd_cy as ag
    >>> ag.einsum("ij,j->i", ag.ones(2, 3), ag.tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])
    """
    tensors, terms, term = arguments_of(equation, operands)
    cdef list names = [names_of(own, tensors[k].ndim, k) for k, own in enumerate(terms)]
    cdef int hidden = max([own.count(ELLIPSIS) and x.ndim - len(own) + 1 for x, own in zip(tensors, terms)])
    cdef list result = result_names(term, names, hidden)
    cdef dict sizes = {}
    for k, own in enumerate(names):
        tensors[k] = without_repeats(tensors[k], own, k)
        note_sizes(sizes, tensors[k], own, k)
    if len(tensors) == 1:
        order = [*result, *[name for name in names[0] if name not in result]]
        return summed(arranged(tensors[0], names[0], order), order, result)[0]
    while len(tensors) > 1:
        i, j = cheapest_pair(names, sizes, result) if len(tensors) > 2 else (0, 1)
        b, b_names, a, a_names = tensors.pop(j), names.pop(j), tensors.pop(i), names.pop(i)
        kept = [*result, *{name: None for own in names for name in own if name not in result}]
        y, own = contracted(a, a_names, b, b_names, kept, sizes)
        tensors.append(y)
        names.append(own)
    if own == result:
        return y
    return arranged(y, own, result).reshape([sizes[name] for name in result])      # PyTorch ends in a view, too
