"""One function as text: `def name(parameter: type, ...) -> type`, with the first sentence of its docstring."""

import inspect
import json
import re
import textwrap
from typing import NamedTuple

from autograd_cy._core.ops import return_types
from tools.stubs.parameters import PARAMETERS
from tools.stubs.results import METHOD_RESULTS, OVERLOADS, RESULTS

# "call(arguments) -> result: what it does"
CALL = re.compile(r"(?P<call>\w+[(\[].*?[)\]])(?: -> (?P<result>[^:]*))?(?:: (?P<text>.*))?")

# Types whose names an operation or a method may also have: a marked name means the type. A name before a colon is a
# parameter.
SHADOWED = re.compile(r"(?<![.\w])(bool|complex|device|dtype|float|int|layout|object|str|type)\b(?!:)")
MARK = "§"


class Doc(NamedTuple):
    """A docstring's parts: the call, the result, the description."""

    call: str
    result: str | None
    text: str


def doc_of(function):
    """The parts of a function's docstring; without a call at the start, all of it is `text`."""
    first, *others = [" ".join(part.split()) for part in prose(function).split("\n\n")]
    found = CALL.fullmatch(first)
    if found is None:
        return Doc("", None, " ".join([first, *others]))
    return Doc(found["call"], found["result"], " ".join([found["text"] or "", *others]).strip())


def prose(function):
    """The docstring without its examples."""
    return (inspect.getdoc(function) or "").partition(">>>")[0].strip()


def sentence(function):
    """The first sentence of the description."""
    text = doc_of(function).text.partition(". ")[0].rstrip(".")
    return f"{text}." if text else ""


def parameter_type(owner, name, parameter):
    """The type of a parameter: its annotation, or its entry in the tables. `owner` is the class of a method."""
    if isinstance(parameter.annotation, str):
        return parameter.annotation
    keys = (f"{owner}.{name}.{parameter.name}", f"{name}.{parameter.name}", parameter.name)
    found = next((PARAMETERS[key] for key in keys if key in PARAMETERS), None)
    if found is None:
        raise LookupError(f"what is the type of {parameter.name!r} of {name}()? Enter it in tools/stubs/parameters.py")
    if parameter.default is None and found != "Any" and "None" not in found.split(" | "):
        return f"{found} | None"
    return found


def default_text(value):
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value) if value is None or isinstance(value, (bool, int, float)) else "..."


def parameters_text(owner, name, parameters, first=()):
    """The parameters with their types, after `first` ("self" or nothing)."""
    texts = list(first)
    for i, p in enumerate(parameters):
        before = parameters[i - 1].kind if i else p.POSITIONAL_OR_KEYWORD
        if before is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            texts.append("/")
        if p.kind is p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            texts.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f" = {default_text(p.default)}"
        texts.append(f"{stars}{p.name}: {parameter_type(owner, name, p)}{default}")
    if parameters and parameters[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        texts.append("/")
    return ", ".join(texts)


def result_type(owner, name, function):
    """The type of the result, from the docstring's arrow or the table; None if the docstring names no result."""
    known = METHOD_RESULTS.get(f"{owner}.{name}")
    if known is not None:
        return known
    doc = doc_of(function)
    if doc.result and hasattr(return_types, doc.result):
        return f"return_types.{doc.result}"
    if not doc.call or doc.result not in RESULTS:
        raise LookupError(f"what does {name}() return? Its docstring says: {doc.result or doc.text!r}")
    return RESULTS[doc.result]


def signatures(name, function, method=False, owner="", result=None, into=False):
    """The signatures of a function, several if it is overloaded: "(parameters) -> result".

    With `into`, a function that returns a Tensor has `out=`.
    """
    parameters = list(inspect.signature(function).parameters.values())
    overloads = OVERLOADS.get(f"{owner}.{name}") or OVERLOADS.get(name)
    if overloads:
        start = "self" if method else parameters_text(owner, name, parameters[:1])
        return [f"({start}, {text[1:]}".replace(", )", ")") for text in overloads]
    result = result or result_type(owner, name, function)
    first = ["self"] if method else []
    own = parameters[1:] if method else parameters
    if into and result == "Tensor" and "out" not in inspect.signature(function).parameters:
        own = [*own, inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)]
    texts = [parameters_text(owner, name, own, first)]
    for i, p in enumerate(own):
        if p.kind is p.VAR_POSITIONAL and PARAMETERS[p.name] == "int":  # or all of them in a sequence
            one = [*own[:i], p.replace(kind=p.POSITIONAL_ONLY), *own[i + 1 :]]
            text = parameters_text(owner, name, one, first)
            texts.insert(0, text.replace(f"{p.name}: int", f"{p.name}: Sequence[int]"))
    return [f"({text}) -> {result}" for text in texts]


def definition(name, texts, doc=""):
    """The `def` with each of the signatures; the first one carries the docstring."""
    lines = []
    for i, text in enumerate(texts):
        code, _, comment = text.partition("  # ")
        comment = f"  # {comment}" if comment else ""
        head = broken(f"def {name}{marked(code)}:")
        lines += ["@overload"] * (len(texts) > 1)
        if doc and i == 0:
            lines += [head + comment, *docstring(doc)]
        else:
            lines.append(f"{head} ...{comment}")
    return "\n".join(lines).split("\n")


def broken(head):
    """A `def`, wrapped."""
    if len(head) <= 104:
        return head
    start, rest = head.split("(", 1)
    parameters, result = rest.rsplit(") -> ", 1)
    unbroken = re.sub("(?<!,) ", "\xa0", parameters)
    lines = textwrap.fill(unbroken, 108, initial_indent="    ", subsequent_indent="    ").replace("\xa0", " ")
    return f"{start}(\n{lines}\n) -> {result}"


def marked(types):
    """A signature or a type, with names marked that the scope redefines."""
    return SHADOWED.sub(rf"{MARK}\1", types)


def docstring(text):
    wrapped = textwrap.wrap(text, 100)
    if len(wrapped) == 1:
        return [f'    """{text}"""']
    return [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:]), '    """']
