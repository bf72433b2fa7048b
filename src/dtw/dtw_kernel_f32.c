/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels in single precision. */
#define TSN_DTW_F32
#include "dtw/dtw_kernel.c"
