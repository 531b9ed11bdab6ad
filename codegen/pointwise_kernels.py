"""Renders the rows of pointwise_table.py into Cython (read at build time only)."""

import re
from collections import namedtuple
from decimal import Decimal
from pathlib import Path

from Cython.Tempita import Template

from codegen.rows import DIGITS

LITERAL = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])")
Type = namedtuple("Type", "suffix ctype kind code")
FLOATS = [Type("f32", "float", "r", "FLOAT32"), Type("f64", "double", "r", "FLOAT64"),
          Type("c64", "float complex", "c", "COMPLEX64"), Type("c128", "double complex", "c", "COMPLEX128")]
EXTENDED = Type("g", "long double", "r", "LONGDOUBLE")     # has no clones; computed if extended.h has the formula's functions
INTEGERS = [Type("u8", "unsigned char", "i", "UINT8"), Type("i8", "signed char", "i", "INT8"),
            Type("i16", "short", "i", "INT16"), Type("i32", "int", "i", "INT32"), Type("i64", "long long", "i", "INT64")]
BORROWED = {"exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tanh": "tanh", "pow": "power",
            "pow_number": "power",
            "sinh": "sinh", "cosh": "cosh", "exp2": "exp2", "log1p": "log1p", "fmod": "fmod", "floor_quotient": "floor_divide"}
# the loops of these for double, some also for float, are in sines.pyx, remainders.pyx, powers_of_two.pyx and
# truth_loops.pyx; those for complex numbers in complex_logarithms.pyx
OWN = {"sin": [FLOATS[1]], "cos": [FLOATS[1]], "fmod": FLOATS[:2], "floor_quotient": FLOATS[:2],
       "ldexp": FLOATS[:2], "log1p": FLOATS[2:]}
OWN |= {f"logical_{name}": FLOATS[:2] for name in ("and", "or", "xor", "not")}
# functions of elementary.h for real numbers, inlined into the loop
ELEMENTARY = ["exp", "erf", "erfc", "sigmoid", "sigmoid_slope", "sqrt", "root", "inverse_root", "normal_cdf", "normal_pdf",
              "mish_gate", "mish_gate_slope", "gelu_gate", "gelu_gate_slope", "atan_slope",
              "below_quarter", "inverse_above_quarter"]
LIBM = ["ceil", "floor", "trunc", "rint", "lgamma"]     # functions of the C library; rounding ones become instructions
# functions of special.h with one argument and with two
SPECIAL = ["digamma", "trigamma", "erfinv", "erfinv_slope", "erfcx", "erfcx_derivative", "erfcx_curvature", "log_ndtr",
           "log_ndtr_slope", "log_ndtr_excess", "entr", "i0", "i1", "i0e", "i1e", "tanh_rest", "tanh_square"]
SPECIAL_OF_TWO = ["sigmoid_rest", "gelu_gate_rise", "i1_quotient", "i1e_quotient", "hypot", "logaddexp", "logaddexp2",
                  "nextafter", "over_square", "erfcx_slope", "log_of_sum", "divergence", "divergence_slope",
                  "divergence_curvature"]
OWN_WORDS = ["expm1", "log1pexp", "log_of", "log_of_rest"]         # functions of kernels.pyx.in
# the functions that extended.h has for long double: only forwards have kernels of that type, derivatives use their rules
IN_EXTENDED = [*LIBM, *OWN_WORDS, "exp", "erf", "erfc", "sigmoid", "sigmoid_slope", "sqrt", "inverse_root", "normal_cdf",
               "mish_gate", "gelu_gate", "tanh_rest", "tanh_square", "entr", "hypot", "logaddexp", "logaddexp2", "nextafter",
               "over_square", "log_of_sum", "divergence", "divergence_slope", "divergence_curvature", "ldexp"]
POLYNOMIALS = ["chebyshev", "hermite", "laguerre", "legendre"]
# functions with another name on Tensors
ON_TENSORS = {"sigmoid": "logistic", "normal_cdf": "ndtr"}
INLINE = ELEMENTARY + LIBM + SPECIAL + SPECIAL_OF_TWO + OWN_WORDS


def names_in(formula, names):
    return [n for n in names if re.search(rf"\b{n}\b", formula)]


def has_words(formula, lets, of_type):
    """Whether a formula can be computed in a type: long double needs all of its functions."""
    used = [lets[v][0] for v in names_in(formula, lets)] + names_in(formula, POLYNOMIALS)
    return of_type is not EXTENDED or all(word in IN_EXTENDED or word in BORROWED for word in used)


def extended_numbers(kernels):
    """The constants in long double kernels that a double cannot represent: (name, digits)."""
    kernels = [k for k in kernels if k.suffix == EXTENDED.suffix]
    texts = " ".join([t for k in kernels for t in (k.formula, *(a for _, args in k.lets.values() for a in args))])
    return [(name_of_number(n), digits_of(n)) for n in sorted(set(LITERAL.findall(texts))) if not is_exact(n)]


def is_exact(literal):
    """Whether a double represents the number exactly."""
    return Decimal(literal) == Decimal(float(literal))


def digits_of(literal):
    """A number of the table with all digits of a long double."""
    return DIGITS.get(literal, literal)


def name_of_number(literal):
    return "number_" + literal.replace(".", "_")


def reads(formula, lets, names="abcy"):
    """The operands that a formula reads, directly or through its lets, in the order of `names`."""
    texts = [formula] + [t for v in names_in(formula, lets) for t in lets[v][1]]
    return [n for n in names if any(names_in(t, [n]) for t in texts)]


class Kernel:
    """A formula for operands of one type, from which the template makes the functions."""

    def __init__(self, name, formula, operands, lets, of_type, conjugate=False):
        self.suffix, self.ctype, self.kind, self.code = of_type
        self.name, self.formula, self.operands, self.lets = f"{name}_{self.suffix}", formula, operands, lets
        self.conjugate = conjugate and self.kind == "c"
        self.cloned = "COMPLEX_" if self.kind == "c" else "EXTENDED_" if self.suffix == EXTENDED.suffix else ""   # of a macro
        used = names_in(formula, lets)
        inline = IN_EXTENDED if self.suffix == EXTENDED.suffix else INLINE
        self.inline = [v for v in used if lets[v][0] in inline and self.kind == "r"]
        self.blocks = [v for v in used if v not in self.inline]     # computed block by block
        # One operation on two real operands is as fast as copying one of them into contiguous memory.
        pair = re.fullmatch(r"(\w) [-+*/] (\w)", formula)
        self.is_simple = pair and sorted(pair.groups()) == sorted(operands) and self.kind != "c"
        # for contiguous operands, for any, and for a scalar as the second: the function, and the operands it sees as views
        self.forms = [("run", "[::1]", operands), ("spaced", "[:]", operands)]
        self.forms += [("number", "[::1]", operands[:1])] if self.is_simple else []

    def parameters(self, space, views):
        """The parameters of a function: memoryviews of operands and result, scalars."""
        operands = [f"const {self.ctype}{space} {x}" if x in views else f"{self.ctype} {x}" for x in self.operands]
        return ", ".join([*operands, f"{self.ctype}{space} out"])

    def body(self, views, contiguous):
        """First the lets that NumPy's loops compute, one by one, then the loop over the formula."""
        views = [*views, *self.blocks]
        lines = ["cdef Py_ssize_t i"]
        for v in self.blocks:
            function, arguments = self.lets[v]
            # The result may overwrite a single argument, not one of two: NumPy's complex power reads while it writes.
            pair = len(arguments) > 1
            in_place = [pair and contiguous and a in views for a in arguments]
            passed = [f"<void *> &{a}[0]" if there else f"{v}_{k}" if pair else v
                      for k, (a, there) in enumerate(zip(arguments, in_place, strict=True))]
            copied = {b: a for b, a, there in zip(passed, arguments, in_place, strict=True) if not there}
            lines.append(f"cdef {self.ctype}[BLOCK] {', '.join(dict.fromkeys([*copied, v]))}")
            if copied:
                lines.append("for i in range(out.shape[0]):")
            lines += [f"    {b}[i] = {self.typed(a, views)}" for b, a in copied.items()]
            lines += [f"call_{len(arguments)}(&LOOP_{function}[{self.code}], {', '.join(passed + [v] * pair)}, out.shape[0], "
                      f"sizeof({self.ctype}))"]
        if self.inline:
            lines.append(f"cdef {self.ctype} {', '.join(self.inline)}")
        lines.append("for i in range(out.shape[0]):")
        lines += [f"    {v} = {self.lets[v][0]}_{self.suffix}({', '.join(self.typed(a, views) for a in self.lets[v][1])})"
                  for v in self.inline]
        formula = "conj(" + re.sub(r"\bg\b", "conj(g)", self.formula) + ")" if self.conjugate else self.formula
        return "\n    ".join([*lines, f"    out[i] = {self.typed(formula, views)}"])

    def typed(self, formula, views):
        """A formula in C: elements of views, literals of their type (else float32 is computed in double), typed functions."""
        part = self.ctype.removesuffix(" complex")
        formula = LITERAL.sub(lambda x: name_of_number(x[1]) if self.suffix == EXTENDED.suffix and not is_exact(x[1])
                              else f"(<{part}> {x[1]})", formula)
        formula = re.sub(rf"\b({'|'.join(views)})\b", r"\1[i]", formula)
        return re.sub(r"\b(where|conj|sgn|passed|zeros|isnan)\(", rf"\1_{self.suffix}(", formula)

    def runs(self, start="", n="dims[0]"):
        """Operands and result as views of n contiguous elements."""
        return [f"run_{self.suffix}(<{self.ctype} *> args[{k}]{start}, {n})" for k in range(len(self.operands) + 1)]

    def spaced(self):
        """Operands and result as views of strided elements."""
        return [f"spaced_{self.suffix}(args[{k}], dims[0], strides[{k}])" for k in range(len(self.operands) + 1)]


def is_borrowed(row):
    """Whether forward is NumPy's loop, except for types that have a formula."""
    return not row.same_as and row.forward.isidentifier() and row.forward not in row.lets and row.forward not in row.inputs


def forward_formula(row, of_type):
    """The formula of forward for a type, or None."""
    if row.real_forward and of_type.kind == "r" and has_words(row.real_forward, row.lets, of_type):
        return row.real_forward
    if row.same_as or row.scipy or is_borrowed(row) or of_type.kind not in row.forward_kinds:
        return None
    return row.forward if has_words(row.forward, row.lets, of_type) else None


def kernels_of(table):
    """All kernels: of each row forward, if it is a formula, and the derivatives."""
    for row in table:
        for of_type in [*INTEGERS, *FLOATS, EXTENDED]:
            if formula := forward_formula(row, of_type):
                yield Kernel(f"{row.name}_forward", formula, row.inputs, row.lets, of_type)
        for x, pair in row.derivatives.items():
            for of_type in FLOATS:
                formula = pair[of_type.kind == "c"]
                if of_type.kind in row.kinds and formula != "g":
                    operands = ["g", *reads(" ".join(pair), row.lets)]
                    yield Kernel(f"{row.name}_{x}", formula, operands, row.lets, of_type, row.holomorphic)


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
        text += f"    cdef object {v} = {ON_TENSORS.get(function, function)}({', '.join(map(on_tensors, arguments))})\n"
    return text + f"    return {on_tensors(formula)}\n\n\n"


def on_tensors(formula):
    """A formula whose constants have all digits if g is longdouble."""
    return LITERAL.sub(lambda x: x[0] if is_exact(x[1]) else f"digits(g, {float(x[1])!r}, '{digits_of(x[1])}')", formula)


def kernel_text(kernels, debug):
    """The kernels and the functions of their formulas, as the text of a module."""
    template = Template.from_filename(str(Path(__file__).with_name("kernels.pyx.in")), encoding="utf-8")
    return template.substitute(kernels=list(kernels), debug=debug)


def entry_of(row):
    """The statements that fill the row's table entry, except for its own kernels."""
    out = [f'OP_{row.name}.name = b"{row.name}"', f"OP_{row.name}.arity = {len(row.inputs)}",
           f"OP_{row.name}.result = {row.result}", f"OP_{row.name}.inexact = {row.inexact}",
           f"OP_{row.name}.holomorphic = {row.holomorphic}", f"OP_{row.name}.wide = {row.wide}",
           f"OP_{row.name}.opmath = {row.opmath}",
           f"OP_{row.name}.edges = {len(row.inputs) - row.numbers}"]
    if row.scipy:
        out.append(f'later["{row.name}"] = "{row.scipy}"')
    elif is_borrowed(row):
        out.append(f"borrow(OP_{row.name}.forward, np.{row.forward}, result_{row.result.lower()})")
        if row.without:
            out.append(f"forget(OP_{row.name}.forward, {row.without[0]}, {row.without[1]})")
    if row.node:
        out += [f"OP_{row.name}.node_type = <PyTypeObject *> {row.node}",
                f"OP_{row.name}.methods = method_table({row.node}.__new__({row.node}))"]
    for x, (formula, complex_formula) in row.derivatives.items():
        d = f"OP_{row.name}.derivative[{'abc'.index(x)}]"
        out += [f"{d}.operands = {' | '.join(o.upper() for o in reads(f'{formula} {complex_formula}', row.lets)) or 0}",
                f"{d}.identity = {formula == 'g'}", f"{d}.rule = {row.name}_{x}_rule",
                f"{d}.complex_rule = {row.name}_{x}_{'complex_' if complex_formula != formula else ''}rule"]
    return "\n    ".join(out)


def kernel_entries(row, entry):
    """The statements that enter a row's kernels in the table, after the kernels of the row that it is `same_as`."""
    out = []
    if row.same_as:
        out.append(f'{entry}.forward = row_of("{row.same_as}").forward')
    for function in [f for f in OWN if is_borrowed(row) and row.forward == BORROWED.get(f, f)]:
        out += [f"{entry}.forward[{code}] = Kernel({function}_{suffix}, NULL)" for suffix, _, _, code in OWN[function]]
    out += [f"{entry}.forward[{code}] = Kernel({row.name}_forward_{suffix}, NULL)"
            for of_type in [*INTEGERS, *FLOATS, EXTENDED] if forward_formula(row, of_type)
            for suffix, _, _, code in [of_type]]
    if "b" in row.forward_kinds:
        out.append(f"{entry}.forward[BOOL] = {entry}.forward[UINT8]")
    if row.opmath:
        out += [f"{entry}.half[{code} - FLOAT16] = {entry}.forward[{code}]" for code in ("FLOAT16", "BFLOAT16")]
        out += [f"{entry}.forward[{code}].loop = NULL" for code in ("FLOAT16", "BFLOAT16")]
    for x, (formula, _) in row.derivatives.items():
        if formula != "g":
            out += [f"{entry}.derivative[{'abc'.index(x)}].kernels[{code} - FLOAT32] = Kernel({row.name}_{x}_{suffix}, NULL)"
                    for of_type in FLOATS if of_type.kind in row.kinds
                    for suffix, _, _, code in [of_type]]
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


def constants_of(node, table):
    """The names under which a node class shows the scalars that its operation was called with."""
    return next((row.constants for row in table if row.node == node and row.constants), ())


def shown_by(node, table):
    """Further attributes of a node class: {name: expression}, in which saved inputs are unpacked."""
    shows = {name: text for row in table if row.node == node for name, text in row.shows.items()}
    return {name: re.sub(r"\b[abc]\b", lambda x: f"unpack(self, {'abc'.index(x[0])})", text).replace(
        "constants", "self.constants") for name, text in shows.items()}
