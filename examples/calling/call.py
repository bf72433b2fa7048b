# SPDX-License-Identifier: BSD-3-Clause
"""Call the library from Python, with nothing but ctypes.

    call.py [LIBRARY]      the shared library; default: where the system finds it
"""
import ctypes
import ctypes.util
import sys

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else
                  ctypes.util.find_library("tsanom") or "libtsanom.so.0.3")
lib.tsanom_status_text.restype = ctypes.c_char_p


class DtwOptions(ctypes.Structure):
    """tsanom_dtw_options, field by field."""
    _fields_ = ([("struct_size", ctypes.c_size_t), ("radius", ctypes.c_size_t),
                 ("cutoff", ctypes.c_double), ("tails", ctypes.c_void_p),
                 ("penalty", ctypes.c_double)] +
                [(name, ctypes.c_size_t) for name in
                 ("open_begin_x", "open_begin_y", "open_end_x", "open_end_y",
                  "dimensions", "stride")] +
                [(name, ctypes.c_int32) for name in
                 ("cost", "window", "path_memory", "reserved0")])


def check(status):
    if status != 0:
        raise ValueError(lib.tsanom_status_text(status).decode())


def dtw_distance(x, y, radius):
    options, distance = DtwOptions(), ctypes.c_double()
    check(lib.tsanom_dtw_options_init(ctypes.byref(options),
                                      ctypes.c_size_t(ctypes.sizeof(options))))
    options.radius = radius
    check(lib.tsanom_dtw_distance((ctypes.c_double * len(x))(*x), ctypes.c_size_t(len(x)),
                                  (ctypes.c_double * len(y))(*y), ctypes.c_size_t(len(y)),
                                  ctypes.byref(options), None, ctypes.byref(distance)))
    return distance.value


print(f"distance {dtw_distance([10, 10, 11, 12, 12, 12, 11, 10], [10, 10, 10, 10, 11, 12, 12, 11], 3):g}")
