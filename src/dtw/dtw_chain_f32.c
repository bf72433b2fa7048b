/* SPDX-License-Identifier: BSD-3-Clause */
#define TSN_DTW_F32
#include "dtw/dtw_chain.c"
