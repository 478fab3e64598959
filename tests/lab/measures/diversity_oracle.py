"""Diversity by plain loops over records, written from the papers' definitions; None is a missing value."""

import math
from collections import Counter


def compatible(one, other, missing):
    if missing == "category":
        return one == other
    return all(a is None or b is None or a == b for a, b in zip(one, other))


def classes_of(keys, values, missing="wildcard"):
    """Counter of known values for each distinct key."""
    found = {}
    for key in keys:
        if key not in found:
            same = [value for other, value in zip(keys, values) if compatible(key, other, missing)]
            found[key] = Counter(value for value in same if value is not None or missing == "category")
    return found


def file_of(values, missing="wildcard"):
    return Counter(value for value in values if value is not None or missing == "category")


def share(counter, value):
    return counter[value] / sum(counter.values())


def distinct(counter):
    return len(counter)


def entropy(counter):
    return math.exp(-sum(share(counter, v) * math.log(share(counter, v)) for v in counter))


def recursive(counter, c):
    r = sorted(counter.values(), reverse=True)
    return max([i for i in range(1, len(r) + 1) if r[0] < c * sum(r[i - 1 :])], default=0)


def alpha(counter):
    return max(share(counter, v) for v in counter)


def equal(counter, file):
    return sum(abs(share(counter, v) - share(file, v)) for v in file) / 2


def ordered(counter, file, order):
    if len(order) == 1:
        return 0.0
    total = cumulated = 0.0
    for value in order:
        cumulated += share(counter, value) - share(file, value)
        total += abs(cumulated)
    return total / (len(order) - 1)


def hierarchical(counter, file, levels):
    """The paper's sum of costs over inner nodes. `levels[value]` holds its node at level 0, 1, ... up to the root."""
    height = len(next(iter(levels.values()))) - 1
    extra = [Counter() for _ in range(height + 1)]
    children = [{} for _ in range(height + 1)]
    for value, nodes in levels.items():
        for level, node in enumerate(nodes):
            extra[level][node] += share(counter, value) - share(file, value)
            if level:
                children[level].setdefault(node, set()).add(nodes[level - 1])
    cost = 0.0
    for level in range(1, height + 1):
        for below in children[level].values():
            surplus = sum(max(extra[level - 1][child], 0) for child in below)
            deficit = sum(max(-extra[level - 1][child], 0) for child in below)
            cost += level / height * min(surplus, deficit)
    return cost


def delta(counter, file):
    if any(not counter[v] for v in file):
        return math.inf
    return max(abs(math.log(share(counter, v) / share(file, v))) for v in file)


def beta(counter, file):
    gains = [(share(counter, v) - share(file, v)) / share(file, v) for v in file]
    return max([gain for gain in gains if gain > 0], default=0.0)


def enhanced_beta_holds(counter, file, bound):
    for v in file:
        p, q = share(counter, v), share(file, v)
        if p > q and (p - q) / q > min(bound, -math.log(q)):
            return False
    return True
