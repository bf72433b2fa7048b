/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder is in abi_record.c. */
#include <stddef.h>
#include <tsanom/spmd.h>

_Static_assert(TSANOM_SPMD_FOREST == 0, "constant");
_Static_assert(TSANOM_SPMD_PROGRAM == 1, "constant");
_Static_assert(TSANOM_SPMD_LARGEST_NORM == 0, "constant");
_Static_assert(TSANOM_SPMD_MEAN_NORM == 1, "constant");
_Static_assert(TSANOM_SPMD_CUT_TOLERANCE == 0, "constant");
_Static_assert(TSANOM_SPMD_CUT_AUTOMATIC == 1, "constant");
_Static_assert(TSANOM_SPMD_CUT_NOISE == 2, "constant");
_Static_assert(TSANOM_SPMD_SIMILAR == 0, "constant");
_Static_assert(TSANOM_SPMD_DESCENT == 1, "constant");
_Static_assert(TSANOM_SPMD_COMBINED == 2, "constant");
_Static_assert(TSANOM_SPMD_DISJOINT == 3, "constant");
_Static_assert(TSANOM_SPMD_NOT_FOUND == 4, "constant");
_Static_assert(TSANOM_SPMD_UNFINISHED == 5, "constant");

#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(tsanom_spmd_data) == 88, "data");
_Static_assert(offsetof(tsanom_spmd_data, struct_size) == 0, "data");
_Static_assert(offsetof(tsanom_spmd_data, processes) == 8, "data");
_Static_assert(offsetof(tsanom_spmd_data, regions) == 16, "data");
_Static_assert(offsetof(tsanom_spmd_data, metrics) == 24, "data");
_Static_assert(offsetof(tsanom_spmd_data, parent) == 32, "data");
_Static_assert(offsetof(tsanom_spmd_data, time) == 40, "data");
_Static_assert(offsetof(tsanom_spmd_data, time_ld) == 48, "data");
_Static_assert(offsetof(tsanom_spmd_data, metric) == 56, "data");
_Static_assert(offsetof(tsanom_spmd_data, metric_ld) == 64, "data");
_Static_assert(offsetof(tsanom_spmd_data, elapsed) == 72, "data");
_Static_assert(offsetof(tsanom_spmd_data, error) == 80, "data");

_Static_assert(sizeof(tsanom_spmd_options) == 56, "options");
_Static_assert(offsetof(tsanom_spmd_options, struct_size) == 0, "options");
_Static_assert(offsetof(tsanom_spmd_options, tolerance) == 8, "options");
_Static_assert(offsetof(tsanom_spmd_options, metric_tolerance) == 16, "options");
_Static_assert(offsetof(tsanom_spmd_options, tree) == 24, "options");
_Static_assert(offsetof(tsanom_spmd_options, norm) == 28, "options");
_Static_assert(offsetof(tsanom_spmd_options, combination_size) == 32, "options");
_Static_assert(offsetof(tsanom_spmd_options, combination_limit) == 40, "options");
_Static_assert(offsetof(tsanom_spmd_options, cut) == 48, "options");
_Static_assert(offsetof(tsanom_spmd_options, deep) == 52, "options");

_Static_assert(sizeof(tsanom_spmd_region) == 96, "region");
_Static_assert(offsetof(tsanom_spmd_region, min) == 0, "region");
_Static_assert(offsetof(tsanom_spmd_region, mean) == 8, "region");
_Static_assert(offsetof(tsanom_spmd_region, max) == 16, "region");
_Static_assert(offsetof(tsanom_spmd_region, imbalance) == 24, "region");
_Static_assert(offsetof(tsanom_spmd_region, min_process) == 32, "region");
_Static_assert(offsetof(tsanom_spmd_region, max_process) == 40, "region");
_Static_assert(offsetof(tsanom_spmd_region, level) == 48, "region");
_Static_assert(offsetof(tsanom_spmd_region, ccr) == 52, "region");
_Static_assert(offsetof(tsanom_spmd_region, cccr) == 56, "region");
_Static_assert(offsetof(tsanom_spmd_region, reserved0) == 60, "region");
_Static_assert(offsetof(tsanom_spmd_region, reserved) == 64, "region");

_Static_assert(sizeof(tsanom_spmd_decision) == 56, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, step) == 0, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, level) == 4, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, changed) == 8, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, critical) == 12, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, classes) == 16, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, first) == 24, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, count) == 32, "decision");
_Static_assert(offsetof(tsanom_spmd_decision, reserved) == 40, "decision");

_Static_assert(sizeof(tsanom_spmd_report) == 296, "report");
_Static_assert(offsetof(tsanom_spmd_report, struct_size) == 0, "report");
_Static_assert(offsetof(tsanom_spmd_report, class_of) == 8, "report");
_Static_assert(offsetof(tsanom_spmd_report, region) == 16, "report");
_Static_assert(offsetof(tsanom_spmd_report, decision) == 24, "report");
_Static_assert(offsetof(tsanom_spmd_report, decision_capacity) == 32, "report");
_Static_assert(offsetof(tsanom_spmd_report, member) == 40, "report");
_Static_assert(offsetof(tsanom_spmd_report, member_capacity) == 48, "report");
_Static_assert(offsetof(tsanom_spmd_report, code) == 56, "report");
_Static_assert(offsetof(tsanom_spmd_report, core) == 64, "report");
_Static_assert(offsetof(tsanom_spmd_report, reduct) == 72, "report");
_Static_assert(offsetof(tsanom_spmd_report, reduct_capacity) == 80, "report");
_Static_assert(offsetof(tsanom_spmd_report, order) == 88, "report");
_Static_assert(offsetof(tsanom_spmd_report, reachability) == 96, "report");
_Static_assert(offsetof(tsanom_spmd_report, eps) == 104, "report");
_Static_assert(offsetof(tsanom_spmd_report, classes) == 112, "report");
_Static_assert(offsetof(tsanom_spmd_report, severity) == 120, "report");
_Static_assert(offsetof(tsanom_spmd_report, largest_distance) == 128, "report");
_Static_assert(offsetof(tsanom_spmd_report, largest_norm) == 136, "report");
_Static_assert(offsetof(tsanom_spmd_report, mean_norm) == 144, "report");
_Static_assert(offsetof(tsanom_spmd_report, ccrs) == 152, "report");
_Static_assert(offsetof(tsanom_spmd_report, cccrs) == 160, "report");
_Static_assert(offsetof(tsanom_spmd_report, decisions) == 168, "report");
_Static_assert(offsetof(tsanom_spmd_report, members) == 176, "report");
_Static_assert(offsetof(tsanom_spmd_report, combination) == 184, "report");
_Static_assert(offsetof(tsanom_spmd_report, search) == 192, "report");
_Static_assert(offsetof(tsanom_spmd_report, limited) == 196, "report");
_Static_assert(offsetof(tsanom_spmd_report, dependency) == 200, "report");
_Static_assert(offsetof(tsanom_spmd_report, reducts) == 208, "report");
_Static_assert(offsetof(tsanom_spmd_report, mean_total) == 216, "report");
_Static_assert(offsetof(tsanom_spmd_report, max_total) == 224, "report");
_Static_assert(offsetof(tsanom_spmd_report, region_total) == 232, "report");
_Static_assert(offsetof(tsanom_spmd_report, load_balance) == 240, "report");
_Static_assert(offsetof(tsanom_spmd_report, serialization) == 248, "report");
_Static_assert(offsetof(tsanom_spmd_report, scheduling) == 256, "report");
_Static_assert(offsetof(tsanom_spmd_report, efficiency) == 264, "report");
_Static_assert(offsetof(tsanom_spmd_report, has_elapsed) == 272, "report");
_Static_assert(offsetof(tsanom_spmd_report, verdict_class) == 276, "report");
_Static_assert(offsetof(tsanom_spmd_report, verdict_region) == 280, "report");
_Static_assert(offsetof(tsanom_spmd_report, verdict_metric) == 284, "report");
_Static_assert(offsetof(tsanom_spmd_report, verdict_saving) == 288, "report");

#endif
