# SPDX-License-Identifier: BSD-3-Clause
"""Results that are created without the constructor of their class."""

import dataclasses
import pickle
from types import SimpleNamespace

import pytest
import tsanom
from tsanom._results import maker, reader


def test_results_are_those_of_the_constructor():
    count = len(dataclasses.fields(tsanom.Period))
    values = (16, 16, 100, 0.5, 9.0, 0.01, 7.0, 0.5, 0.25, 0.125)[:count]
    usual = tsanom.Period(*values)
    names = [field.name for field in dataclasses.fields(tsanom.Period)]
    struct = SimpleNamespace(**dict(zip(names, values)))
    for result in (maker(tsanom.Period)(*values), reader(tsanom.Period)(struct)):
        assert type(result) is tsanom.Period and result == usual and hash(result) == hash(usual)
        assert repr(result) == repr(usual) and int(result) == 16
        assert pickle.loads(pickle.dumps(result)) == usual
        assert dataclasses.replace(result, period=8).period == 8
        with pytest.raises(dataclasses.FrozenInstanceError):
            result.period = 8


def test_a_missing_value_is_an_error():
    with pytest.raises(TypeError):
        maker(tsanom.Split)(1, 2)
