"""A row of the table of elementwise operations: Row(name, arguments, y=formula, da=formula, ...)."""

import re

import numpy as np

INTEGERS, COMPLEX = ("BOOL", "FLOAT16"), ("COMPLEX64", "NCODES")
# functions of `let` with two arguments
OF_TWO = ("pow", "pow_number", "fmod", "floor_quotient", "hypot", "ldexp", "logaddexp", "logaddexp2", "nextafter",
          "over_square", "erfcx_slope", "sigmoid_rest", "gelu_gate_rise", "i1_quotient", "i1e_quotient", "log_of_sum",
          "divergence", "divergence_slope", "divergence_curvature")

# constants of formulas with the digits of a long double, by their digits as a double
DIGITS = {
    "1.1283791670955126": "1.1283791670955125738961589031215451717",
    "0.017453292519943295": "0.017453292519943295769236907684886127134",
    "57.29577951308232": "57.295779513082320876798154814105170332",
    "0.6931471805599453": "0.69314718055994530941723212145817656808",
    "1.4426950408889634": "1.4426950408889634073599246810018921374",
    "0.4342944819032518": "0.43429448190325182765112891891660508229",
    "3.141592653589793": "3.1415926535897932384626433832795028842",
    "0.3183098861837907": "0.31830988618379067153776752674502872407",
}


class Row:
    """One elementwise operation.

    arguments    parameters of the public function; by default "input" or "input, other"
    y            NumPy's loop of that name, "tanh(a)", or SciPy's, "scipy.psi(a)"; otherwise a formula
    da, db, dc   formulas of g (the incoming gradient), the inputs a, b, c and the output y. They are linear in g, so forward
                 mode evaluates them with the tangent for g. The operands they read are saved. A pair has one formula for
                 real types and one for complex types
    let          values that formulas share, "name = function(arguments)": a function of elementary.h, arithmetic.h or
                 special.h, inlined into the loop (for real types), or a function of NumPy, whose loop is called block by block
    node, saved  PyTorch's names of the node (unless it is like TanhBackward0 for tanh) and of its saved tensors: the inputs
                 a, b, and c or the output
    constants    PyTorch's names for the scalars of the call (`with_constants`), which the node shows; None for a scalar that
                 it does not show. The scalars of a public row are its parameters
    shows        further attributes of PyTorch's node: {name: an expression of the saved inputs a, b, c and of `constants`},
                 evaluated when a user asks for it
    for_rules    a function that formulas on Tensors and composite operations call by the row's name, but users do not
    recorded     False: another operation records the row's result, with a node that uses the row's derivatives
    kinds        types with derivative kernels: r(eal), c(omplex); other types use the formula on Tensors
    forward_kinds  the types of a formula y: r, c, i(ntegers), b(ool, by the kernel of uint8)
    real         a formula that replaces `y` for float and double, if the compiler makes a faster loop of it
    without      types with a loop in NumPy that the operation refuses: (first code, end)
    in_place     whether a public operation has a variant that writes into its first operand: exp_()
    numbers      how many of the last inputs are always scalars: they have no edge, and users see them as scalars. Those of a
                 public row are parameters, perhaps with a default, and take no part in promotion
    inplace      whether the function, one of nn.functional, has the parameter inplace
    loss         whether its node may also be the sum or mean of all elements
    length       whether its gradient at a result of 0 has a derivative by NOTE [Norms of 0]: it saves a, b and y
    same_as      the row whose forward this one shares
    opmath       float16 and bfloat16 beside a scalar are computed in float32, without rounding the scalar first
    inexact      integers are converted to the default float type
    wide         derivatives of float16 and bfloat16 are computed in float32
    holomorphic  the gradient is conj(F(conj(g))); False: F(g) itself
    result       SAME_TYPE, TRUTH (bool) or REAL_PART
    doc          of a public row: a sentence for the docstring, and an example with its result

    Vocabulary of formulas: + - * /, where(condition, x, y), conj, sgn, real, in a forward isnan, and the functions of `let`.
    """

    def __init__(self, name, args=None, *, y=None, real=None, let="", da=None, db=None, dc=None, node=None,
                 saved=("self", "other", "result"), kinds="rc", forward_kinds=None, inexact=False, holomorphic=True,
                 result="SAME_TYPE", methods=None, public=True, namespace="", without=None, in_place=True, numbers=0,
                 same_as=None, opmath=False, wide=False, inplace=False, loss=False, constants=None, shows=None,
                 recorded=True, for_rules=False, length=False, doc=None):
        if public and doc is None:
            raise ValueError(f"the public row {name} lacks its doc: a sentence, an example and its result")
        derivatives = {x: d for x, d in (("a", da), ("b", db), ("c", dc)) if d is not None}
        if args is None:
            args = "input, other" if "b" in derivatives or re.search(r"\bb\b", f"{y} {let}") or same_as else "input"
        self.name, self.args, self.same_as, self.real_forward = name, args, same_as, real
        self.parameters = [re.split(r"\W", a)[0] for a in args.split(", ")]
        self.inputs = ["a", "b", "c"][: len(self.parameters)]
        self.lets = dict(self._let(text) for text in let.split(";") if text.strip())
        borrowed = re.fullmatch(r"scipy\.(\w+)\([ab, ]+\)", y or "")
        self.scipy = borrowed and borrowed[1]
        self.forward = self._forward(y)
        self.derivatives = {x: d if isinstance(d, tuple) else (d, d) for x, d in derivatives.items()}
        self.node = node or ("".join(map(str.capitalize, name.split("_"))) + "Backward0" if derivatives and recorded else None)
        self.saved, self.kinds, self.forward_kinds = saved, kinds, kinds if forward_kinds is None else forward_kinds
        self.inexact, self.holomorphic, self.result, self.wide, self.opmath = inexact, holomorphic, result, wide, opmath
        self.methods = methods if methods is not None else () if namespace else (name,)
        self.public, self.namespace, self.without, self.numbers = public, namespace, without, numbers
        self.for_rules, self.length, self.doc = for_rules, length, doc
        self.in_place, self.inplace, self.loss = in_place and public and not namespace, inplace, loss
        if constants is None:
            constants = self.parameters[-numbers:] if numbers and public else ("reduction",) if loss else ()
        self.constants, self.shows = tuple(constants), shows or {}

    def _forward(self, y):
        """The name of NumPy's loop, if `y` calls it with the unchanged inputs; otherwise the formula."""
        call = re.fullmatch(r"(\w+)\(([abc, ]+)\)", y or "")
        if call and call[2] == ", ".join(self.inputs) and isinstance(getattr(np, call[1], None), np.ufunc):
            return call[1]
        return y

    @staticmethod
    def _let(text):
        variable, _, call = text.strip().partition(" = ")
        function, _, arguments = call.removesuffix(")").partition("(")
        return variable, (function, [a.strip() for a in arguments.split(",")] if function in OF_TWO else [arguments])
