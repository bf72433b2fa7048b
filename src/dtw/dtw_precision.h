/* SPDX-License-Identifier: BSD-3-Clause */
/* The precision that a file is compiled for. CMake compiles most files of the module
 * twice: as they are, in double, and with -DTSN_F32, in float. The sources use plain
 * names and the types below; this header maps each symbol that exists in both
 * precisions to its name with the suffix _f32. Every header of the module that
 * declares such a symbol includes it first.
 *
 * One source instead of a template or a copy keeps the public functions visible to
 * ctags and debuggers under their names. A symbol that exists in one precision only
 * (barycenter, medoid, settings) is not in the list; a new one in
 * both must be added, or the linker reports it as defined twice. */
#ifndef TSN_DTW_PRECISION_H
#define TSN_DTW_PRECISION_H

#include <stdint.h>
#include <tsanom/dtw.h>

#include "core/check.h"
#include "core/series.h"

#ifdef TSN_F32

typedef float real;
typedef int32_t tick; /* a step of a sweep; compares in lanes as wide as real's */
typedef tsanom_series_f32 series_view;

/* core: functions of samples */
#define tsn_all_finite tsn_all_finite_f32
#define tsn_first_nonfinite tsn_first_nonfinite_f32
#define tsn_series_at tsn_series_at_f32
#define tsn_series_length tsn_series_length_f32
#define tsn_series_longest tsn_series_longest_f32
#define tsn_series_read tsn_series_read_f32
#define tsn_series_require tsn_series_require_f32

/* tsanom/dtw.h */
#define tsanom_dtw_condensed tsanom_dtw_condensed_f32
#define tsanom_dtw_cross tsanom_dtw_cross_f32
#define tsanom_dtw_distance tsanom_dtw_distance_f32
#define tsanom_dtw_one_to_many tsanom_dtw_one_to_many_f32
#define tsanom_dtw_path tsanom_dtw_path_f32

/* src/dtw */
#define tsn_dtw_all_cross tsn_dtw_all_cross_f32
#define tsn_dtw_batch_layout tsn_dtw_batch_layout_f32
#define tsn_dtw_batch_run tsn_dtw_batch_run_f32
#define tsn_dtw_boundary_layout tsn_dtw_boundary_layout_f32
#define tsn_dtw_first_live tsn_dtw_first_live_f32
#define tsn_dtw_kernels tsn_dtw_kernels_f32
#define tsn_dtw_kernels_at tsn_dtw_kernels_f32_at
#define tsn_dtw_operand_check tsn_dtw_operand_check_f32
#define tsn_dtw_operand_finite tsn_dtw_operand_finite_f32
#define tsn_dtw_pair_init tsn_dtw_pair_init_f32
#define tsn_dtw_pair_layout tsn_dtw_pair_layout_f32
#define tsn_dtw_pair_run tsn_dtw_pair_run_f32
#define tsn_dtw_pairwise_init tsn_dtw_pairwise_init_f32
#define tsn_dtw_pairwise_layout tsn_dtw_pairwise_layout_f32
#define tsn_dtw_pairwise_run tsn_dtw_pairwise_run_f32
#define tsn_dtw_path_init tsn_dtw_path_init_f32
#define tsn_dtw_path_layout tsn_dtw_path_layout_f32
#define tsn_dtw_path_run tsn_dtw_path_run_f32
#define tsn_dtw_set_finite tsn_dtw_set_finite_f32
#define tsn_dtw_set_read tsn_dtw_set_read_f32
#define tsn_dtw_strips_fill tsn_dtw_strips_fill_f32
#define tsn_dtw_strips_layout tsn_dtw_strips_layout_f32
#define tsn_dtw_sweep_finish tsn_dtw_sweep_finish_f32
#define tsn_dtw_sweep_prepare tsn_dtw_sweep_prepare_f32
#define tsn_dtw_sweep_run tsn_dtw_sweep_run_f32
#define tsn_dtw_sweep_start tsn_dtw_sweep_start_f32
#define tsn_dtw_sweep_trace tsn_dtw_sweep_trace_f32
#define tsn_dtw_sweeper_layout tsn_dtw_sweeper_layout_f32
#define tsn_dtw_tiny_run tsn_dtw_tiny_run_f32
#define tsn_dtw_tiny_suits tsn_dtw_tiny_suits_f32
#define tsn_dtw_tiny_whole tsn_dtw_tiny_whole_f32
#define tsn_dtw_top_edge tsn_dtw_top_edge_f32
#define tsn_dtw_wavefront_run tsn_dtw_wavefront_run_f32

#else

typedef double real;
typedef double tick; /* exact, and compares at every level, unlike int64_t */
typedef tsanom_series series_view;

#endif
#endif
