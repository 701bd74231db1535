"""Values against hints."""

import types
import typing

import numpy as np
from numpy.typing import NDArray

from clustruct.core.storage import state


class Alias:
    """As ``type Name[T] = value`` of Python 3.12 makes one."""

    def __init__(self, value):
        self.__value__ = value

    def __getitem__(self, inner):
        return types.GenericAlias(self, inner)


def test_an_alias_is_what_it_stands_for():
    T = typing.TypeVar("T", bound=np.generic)
    array = Alias(np.ndarray[typing.Any, np.dtype[T]])
    assert state.fits(np.ones(2), array[np.float64])
    assert not state.fits(np.ones(2, int), array[np.float64])
    assert not state.fits(np.array([np.nan]), array[np.float64])
    assert state.fits(3, Alias(int))
    assert not state.fits("3", Alias(int))
    assert state.fits(np.ones(2), NDArray[np.float64])
