"""Renders the rows of pointwise_table.py into Cython (read at build time only)."""

import re

FLOATS = [("f32", "float", "r", "FLOAT32"), ("f64", "double", "r", "FLOAT64"),
          ("c64", "float complex", "c", "COMPLEX64"), ("c128", "double complex", "c", "COMPLEX128")]
INTEGERS = [("u8", "unsigned char", "i", "UINT8"), ("i8", "signed char", "i", "INT8"), ("i16", "short", "i", "INT16"),
            ("i32", "int", "i", "INT32"), ("i64", "long long", "i", "INT64")]
CLONED = []     # the names in C of what is to be compiled for several machines, as it is rendered
BORROWED = {"exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tanh": "tanh", "pow": "power",
            "pow_number": "power",
            "fmod": "fmod", "floor_quotient": "floor_divide", "trunc": "trunc"}
DOUBLES = ["sin", "cos"]        # of these, the loops for double are those of sines.pyx
# functions of elementary.h, for real numbers: they become part of the loop
INLINE = ["exp", "erf", "sigmoid", "sqrt", "root", "inverse_root", "normal_cdf", "normal_pdf"]


def names_in(formula, names):
    return [n for n in names if re.search(rf"\b{n}\b", formula)]


def reads(formula, lets, names="abcy"):
    """The operands that a formula reads, itself and through its lets, in the order of `names`."""
    texts = [formula] + [t for v in names_in(formula, lets) for t in lets[v][1]]
    return [n for n in names if any(names_in(t, [n]) for t in texts)]


def typed(formula, suffix, ctype):
    """A formula in C: literals of the operands' type (else float32 is computed in double) and typed functions."""
    formula = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])", rf"(<{ctype.removesuffix(' complex')}> \1)", formula)
    return re.sub(r"\b(where|conj|sgn|threshold|zeros|isnan)\(", rf"\1_{suffix}(", formula)


def is_inline(v, lets, ctype):
    return lets[v][0] in INLINE and not ctype.endswith("complex")


def blockwise(formula, lets, ctype):
    """The lets of a formula that a loop over a block computes before the formula's own."""
    return [v for v in names_in(formula, lets) if not is_inline(v, lets, ctype)]


def buffers_of(v, lets):
    """The blocks of a let: its argument, which the result is written over; of two arguments, they and the result.

    NumPy's complex power reads its arguments after it has begun to write.
    """
    return [f"{v}_0"] if len(lets[v][1]) == 1 else [f"{v}_0", f"{v}_1", f"{v}_2"]


def place(k, x, ctype, flat):
    """Where element i of the k-th operand stands: contiguous ones are walked through in blocks."""
    return f"p{x}[start + i]" if flat else f"(<{ctype} *> (args[{k}] + i * strides[{k}]))[0]"


def loads(formula, operands, ctype, flat):
    return [f"{x} = {place(k, x, ctype, flat)}" for k, x in enumerate(operands) if names_in(formula, [x])]


def element_loop(formula, target, operands, lets, suffix, ctype, flat, conjugate):
    """The loop over one block that computes `target` from operands and lets."""
    used = names_in(formula, lets)
    inline = [v for v in used if is_inline(v, lets, ctype)]
    body = loads(" ".join([formula, *(lets[v][1][0] for v in inline)]), operands, ctype, flat)
    body += [f"{v} = {lets[v][0]}_{suffix}({typed(lets[v][1][0], suffix, ctype)})" for v in inline]
    body += [f"{v} = {buffers_of(v, lets)[-1]}[i]" for v in used if v not in inline]
    if conjugate:
        body.append(f"g = conj_{suffix}(g)")
    value = typed(formula, suffix, ctype)
    body.append(f"{target} = {f'conj_{suffix}({value})' if conjugate else value}")
    return ["for i in range(size):"] + ["    " + line for line in body]


def blocks(formula, operands, lets, suffix, ctype, code, flat, conjugate):
    """All passes over one block: the lets' loops, then the formula."""
    lines = []
    for v in blockwise(formula, lets, ctype):
        function, arguments = lets[v]
        for k, argument in enumerate(arguments):
            lines += element_loop(argument, f"{v}_{k}[i]", operands, {}, suffix, ctype, flat, False)
        lines.append(f"call_{len(arguments)}(&LOOP_{function}[{code}], "
                     + ", ".join(buffers_of(v, lets)) + f", size, sizeof({ctype}))")
    target = place(len(operands), "out", ctype, flat)
    return lines + element_loop(formula, target, operands, lets, suffix, ctype, flat, conjugate)


def c_name(name, suffix):
    """The name in C of a kernel of floats or complex numbers: declared to be compiled for several machines (clones.h)."""
    if suffix not in ("f32", "f64", "c64", "c128"):
        return ""
    CLONED.append(f"autograd_cy_{name}_{suffix}")
    return f' "{CLONED[-1]}"'


def kernel(name, formula, operands, lets, suffix, ctype, code, conjugate=False):
    """A kernel with the signature of a ufunc's loop, in two functions: for contiguous operands, and for any.

    Long runs of strided operands, or of numbers, are made contiguous block by block: the first is several times faster. So
    the second computes short runs, and only the first is compiled for several machines. Where that copy would take as long
    as the loop (`is_simple`), there is a third, for a second operand that is a number: a column that is broadcast, 2.0 * x.
    """
    conjugate = conjugate and ctype.endswith("complex")
    pieces = (formula, operands, lets, suffix, ctype, code)
    own, count = f"{name}_{suffix}", len(operands) + 1
    contiguous = " and ".join(f"strides[{k}] == sizeof({ctype})" for k in range(count))
    signature = "(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:"
    out = [f"cdef void {own}_flat{c_name(name, suffix)}{signature}", "    cdef npy_intp n = dims[0], start = 0, i, size"]
    out += [f"    cdef {ctype} *p{x} = <{ctype} *> args[{k}]" for k, x in enumerate([*operands, "out"])]
    out += variables(formula, operands, lets, ctype, "BLOCK") + ["    while start < n:"]
    out += [f"        size = {'min(n - start, <npy_intp> BLOCK)' if blockwise(formula, lets, ctype) else 'n'}"]
    out += ["        " + line for line in blocks(*pieces, True, conjugate)]
    out += ["        start += size", "", ""]
    if is_simple(formula, operands, ctype):
        out += number_kernel(name, formula, operands, suffix, ctype, signature)
    out += [f"cdef void {own}{signature}", "    cdef npy_intp size = dims[0], i"]
    out += variables(formula, operands, lets, ctype, "LONG") + [f"    if {contiguous}:"]
    out += [f"        {own}_flat(args, dims, strides, data)"]
    if is_simple(formula, operands, ctype):
        out += [f"    elif strides[0] == sizeof({ctype}) and strides[1] == 0 and strides[2] == sizeof({ctype}):",
                f"        {own}_number(args, dims, strides, data)"]
    out += ["    elif size >= thresholds.strided_run:",
            f"        call_flattened({own}_flat, args, size, strides, {count}, sizeof({ctype}))", "    else:"]
    out += ["        " + line for line in blocks(*pieces, False, conjugate)]
    return "\n".join([*out, "", "", ""])


def is_simple(formula, operands, ctype):
    """Whether a formula is one operation on two real operands."""
    pair = re.fullmatch(r"(\w) [-+*/] (\w)", formula)
    return pair and sorted(pair.groups()) == sorted(operands) and not ctype.endswith("complex")


def number_kernel(name, formula, operands, suffix, ctype, signature):
    """A kernel for a contiguous operand and a number."""
    first, number = operands
    return [f"cdef void {name}_{suffix}_number{c_name(name + '_number', suffix)}{signature}",
            f"    cdef {ctype} *p{first} = <{ctype} *> args[0]", f"    cdef {ctype} *pout = <{ctype} *> args[2]",
            f"    cdef {ctype} {first}, {number} = (<{ctype} *> args[1])[0]", "    cdef npy_intp i",
            "    for i in range(dims[0]):", f"        {first} = p{first}[i]",
            f"        pout[i] = {typed(formula, suffix, ctype)}", "", ""]


def variables(formula, operands, lets, ctype, size):
    """The declarations of a kernel: for one element of each operand and let, and the lets' blocks."""
    names = [*operands, *names_in(formula, lets)]
    lines = [f"    cdef {ctype} {', '.join(names)}"] if names else []
    return lines + [f"    cdef {ctype}[{size}] {buffer}" for v in blockwise(formula, lets, ctype)
                    for buffer in buffers_of(v, lets)]


def kernels_of(row):
    """All kernels of a row: of its forward where that is a formula, and of each derivative."""
    text = ""
    if row.same_as:
        pass
    elif not row.forward.isidentifier() or row.forward in row.lets:
        for suffix, ctype, kind, code in INTEGERS + FLOATS:
            if kind in row.forward_kinds:
                formula = row.real_forward if kind == "r" and row.real_forward else row.forward
                text += kernel(f"{row.name}_forward", formula, row.inputs, row.lets, suffix, ctype, code)
    elif row.real_forward:
        for suffix, ctype, _, code in FLOATS[:2]:
            text += kernel(f"{row.name}_forward", row.real_forward, row.inputs, row.lets, suffix, ctype, code)
    for x, pair in row.derivatives.items():
        for suffix, ctype, kind, code in FLOATS:
            formula = pair[kind == "c"]
            if kind in row.kinds and formula != "g":
                operands = ["g", *reads(" ".join(pair), row.lets)]
                text += kernel(f"{row.name}_{x}", formula, operands, row.lets, suffix, ctype, code, row.holomorphic)
    return text


def rules_of(row):
    """The derivatives as functions of Tensors."""
    text = ""
    for x, (formula, complex_formula) in row.derivatives.items():
        text += rule(f"{row.name}_{x}_rule", formula, row.lets)
        if complex_formula != formula:
            text += rule(f"{row.name}_{x}_complex_rule", complex_formula, row.lets)
    return text


def rule(name, formula, lets):
    text = f"cdef object {name}(object g, object a, object b, object c, object y):\n"
    for v in names_in(formula, lets):
        function, arguments = lets[v]
        text += f"    cdef object {v} = {function}({', '.join(arguments)})\n"
    return text + f"    return {formula}\n\n\n"


def entry_of(row):
    """The statements that fill the row's entry of the table."""
    out = [f'OP_{row.name}.name = b"{row.name}"', f"OP_{row.name}.arity = {len(row.inputs)}",
           f"OP_{row.name}.result = {row.result}", f"OP_{row.name}.inexact = {row.inexact}",
           f"OP_{row.name}.holomorphic = {row.holomorphic}", f"OP_{row.name}.wide = {row.wide}",
            f"OP_{row.name}.opmath = {row.opmath}",
           f"OP_{row.name}.edges = {len(row.inputs) - row.numbers}"]
    if row.same_as:
        out.append(f"OP_{row.name}.forward = OP_{row.same_as}.forward")
    elif row.forward.isidentifier() and row.forward not in row.lets:
        out.append(f"borrow(OP_{row.name}.forward, np.{row.forward}, result_{row.result.lower()})")
        if row.forward in DOUBLES:
            out.append(f"OP_{row.name}.forward[FLOAT64] = LOOP_{row.forward}[FLOAT64]")
        if row.real_forward:
            out += [f"OP_{row.name}.forward[{code}] = Kernel({row.name}_forward_{suffix}, NULL)"
                    for suffix, _, _, code in FLOATS[:2]]
        if row.without:
            out.append(f"forget(OP_{row.name}.forward, {row.without[0]}, {row.without[1]})")
    else:
        out += [f"OP_{row.name}.forward[{code}] = Kernel({row.name}_forward_{suffix}, NULL)"
                for suffix, _, kind, code in INTEGERS + FLOATS if kind in row.forward_kinds]
    if row.opmath:
        out += [f"OP_{row.name}.half = OP_{row.name}.forward[FLOAT16]", f"OP_{row.name}.forward[FLOAT16].loop = NULL"]
    if row.node:
        out += [f"OP_{row.name}.node_type = <PyTypeObject *> {row.node}",
                f"OP_{row.name}.methods = method_table({row.node}.__new__({row.node}))"]
    for x, (formula, complex_formula) in row.derivatives.items():
        d = f"OP_{row.name}.derivative[{'abc'.index(x)}]"
        out += [f"{d}.operands = {' | '.join(o.upper() for o in reads(f'{formula} {complex_formula}', row.lets)) or 0}",
                f"{d}.identity = {formula == 'g'}", f"{d}.rule = {row.name}_{x}_rule",
                f"{d}.complex_rule = {row.name}_{x}_{'complex_' if complex_formula != formula else ''}rule"]
        if formula != "g":
            out += [f"{d}.kernels[{k}] = Kernel({row.name}_{x}_{suffix}, NULL)"
                    for k, (suffix, _, kind, _) in enumerate(FLOATS) if kind in row.kinds]
    return "\n    ".join(out)


def saved_by(node, table):
    """The names of the saved slots of a node class, None for a slot that is never used."""
    names = [None, None, None]
    for row in table:
        if row.node == node:
            for pair in row.derivatives.values():
                for x in reads(" ".join(pair), row.lets):
                    slot = "abc".index(x) if x in "abc" else 2
                    names[slot] = row.saved[slot]
            if row.name in ("squared", "cubed", "power_to_number"):
                names[1] = "exponent"
    return tuple(names)
