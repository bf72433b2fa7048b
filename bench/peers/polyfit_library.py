# SPDX-License-Identifier: BSD-3-Clause
"""The polyfit module through ctypes, for comparisons with peers in Python."""
import ctypes
from ctypes import POINTER, c_double, c_int32, c_size_t, c_uint64, c_void_p

TERMS = 64


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("degree", c_int32), ("selection", c_int32),
                ("r2", c_double), ("tolerance", c_double), ("refine", c_int32),
                ("reserved0", c_int32)]


class Model(ctypes.Structure):
    _fields_ = ([("struct_size", c_size_t), ("samples", c_uint64)] +
                [(name, c_int32) for name in ("degree", "highest", "rank", "method")] +
                [(name, c_double) for name in
                 ("unit", "center", "scale", "rss", "tss", "r2", "adjusted_r2",
                  "residual_sd", "condition", "aicc", "bic")] +
                [(name, c_double * TERMS) for name in
                 ("high", "low", "sd", "monomial", "monomial_sd", "degree_rss")])


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        doubles = POINTER(c_double)
        self.lib.tsanom_polyfit_fit.argtypes = [
            doubles, doubles, doubles, c_size_t, POINTER(Options), c_void_p,
            POINTER(Model)]

    def fit(self, x, y, degree, refine=True):
        """Fit lists of numbers; returns a Model."""
        array = c_double * len(x)
        options, model = Options(), Model()
        self.lib.tsanom_polyfit_options_init(ctypes.byref(options),
                                             c_size_t(ctypes.sizeof(options)))
        model.struct_size = ctypes.sizeof(model)
        options.degree = degree
        options.refine = int(refine)
        status = self.lib.tsanom_polyfit_fit(array(*x), array(*y), None, len(x),
                                             ctypes.byref(options), None,
                                             ctypes.byref(model))
        if status != 0:
            raise RuntimeError(f"tsanom_polyfit_fit gave {status}")
        return model
