"""A document that differs in one place, and what is told of it."""

import copy
from functools import reduce

from bot.gates import schemas


def replace_value(document, path, value):
    """The document with another value at this place, `a.b` or its steps; `...` takes the place out."""
    result = copy.deepcopy(document)
    *way, last = path.split(".") if isinstance(path, str) else path
    parent = reduce(lambda node, part: node[part], way, result)
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return result


def violations_of(name, document):
    return [str(violation) for violation in schemas.find_violations(name, document)]
