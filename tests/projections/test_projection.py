"""Digests: equal states have equal ones, whatever the order in which they came about."""

import numpy as np

from projections.projection import digest_of


def test_a_digest_depends_on_values_and_on_no_order_of_dictionaries_and_sets() -> None:
    one = {"b": {"y": {2, 1}, "x": 0}, "a": {}}
    other = {"a": {}, "b": {"x": 0, "y": {1, 2}}}
    assert digest_of(one, {"p", "q"}) == digest_of(other, {"q", "p"})
    assert digest_of(one) != digest_of(one | {"b": {"y": {2}, "x": 0}})
    assert digest_of([1, 2]) != digest_of([2, 1])
    assert digest_of(b"ab", b"c") != digest_of(b"a", b"bc")
    assert digest_of(np.array([1, 2])) != digest_of(np.array([2, 1]))
