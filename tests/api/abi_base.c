/* SPDX-License-Identifier: BSD-3-Clause */
/* The ABI of base.h, pinned: a change here breaks every program in the field. */
#include <stddef.h>
#include <tsanom/base.h>

_Static_assert(sizeof(tsanom_status) == 4, "status");
_Static_assert(TSANOM_OK == 0, "status");
_Static_assert(TSANOM_STOPPED == 1, "status");
_Static_assert(TSANOM_PARTIAL == 2, "status");
_Static_assert(TSANOM_INFEASIBLE == 3, "status");
_Static_assert(TSANOM_CUTOFF == 4, "status");
_Static_assert(TSANOM_RANK_DEFICIENT == 5, "status");
_Static_assert(TSANOM_E_NULL == -1, "status");
_Static_assert(TSANOM_E_COUNT == -2, "status");
_Static_assert(TSANOM_E_OPTION == -3, "status");
_Static_assert(TSANOM_E_OVERFLOW == -4, "status");
_Static_assert(TSANOM_E_NONFINITE == -5, "status");
_Static_assert(TSANOM_E_WORKSPACE == -6, "status");
_Static_assert(TSANOM_E_MEMORY == -7, "status");
_Static_assert(TSANOM_E_VERSION == -8, "status");
_Static_assert(TSANOM_E_EXEC == -9, "status");
_Static_assert(TSANOM_E_STATE == -10, "status");
_Static_assert(TSANOM_E_IO == -11, "status");
_Static_assert(TSANOM_E_FORMAT == -12, "status");
_Static_assert(TSANOM_E_ORDER == -13, "status");
_Static_assert(TSANOM_E_VALUE == -14, "status");
_Static_assert(TSANOM_E_INDEX == -15, "status");

_Static_assert(TSANOM_NOISE == -1, "sentinel");
_Static_assert(TSANOM_EXIT_INSIDE == 256, "sentinel");
_Static_assert(TSANOM_COST_ABSOLUTE == 0, "cost");
_Static_assert(TSANOM_COST_SQUARED == 1, "cost");

_Static_assert(TSANOM_ISA_AUTO == 0, "isa");
_Static_assert(TSANOM_ISA_BASE == 1, "isa");
_Static_assert(TSANOM_ISA_V3 == 2, "isa");
_Static_assert(TSANOM_ISA_V4 == 3, "isa");

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(tsanom_exec, struct_size) == 0, "exec");
_Static_assert(offsetof(tsanom_exec, threads) == 8, "exec");
_Static_assert(offsetof(tsanom_exec, isa) == 12, "exec");
_Static_assert(offsetof(tsanom_exec, alloc) == 16, "exec");
_Static_assert(offsetof(tsanom_exec, dealloc) == 24, "exec");
_Static_assert(offsetof(tsanom_exec, alloc_user) == 32, "exec");
_Static_assert(offsetof(tsanom_exec, poll) == 40, "exec");
_Static_assert(offsetof(tsanom_exec, poll_user) == 48, "exec");
_Static_assert(offsetof(tsanom_exec, work) == 56, "exec");
_Static_assert(offsetof(tsanom_exec, work_bytes) == 64, "exec");
_Static_assert(offsetof(tsanom_exec, fault) == 72, "exec");
_Static_assert(offsetof(tsanom_exec, work_needed) == 80, "exec");
_Static_assert(sizeof(tsanom_exec) == 88, "exec");

_Static_assert(offsetof(tsanom_fault, struct_size) == 0, "fault");
_Static_assert(offsetof(tsanom_fault, status) == 8, "fault");
_Static_assert(offsetof(tsanom_fault, element) == 16, "fault");
_Static_assert(offsetof(tsanom_fault, second) == 24, "fault");
_Static_assert(offsetof(tsanom_fault, offset) == 32, "fault");
_Static_assert(offsetof(tsanom_fault, line) == 40, "fault");
_Static_assert(offsetof(tsanom_fault, column) == 48, "fault");
_Static_assert(offsetof(tsanom_fault, argument) == 56, "fault");
_Static_assert(offsetof(tsanom_fault, file) == 120, "fault");
_Static_assert(offsetof(tsanom_fault, text) == 632, "fault");
_Static_assert(sizeof(tsanom_fault) == 888, "fault");

#define SERIES(type)                                          \
  _Static_assert(offsetof(type, struct_size) == 0, "series"); \
  _Static_assert(offsetof(type, count) == 8, "series");       \
  _Static_assert(offsetof(type, data) == 16, "series");       \
  _Static_assert(offsetof(type, ld) == 24, "series");         \
  _Static_assert(offsetof(type, length) == 32, "series");     \
  _Static_assert(offsetof(type, pointers) == 40, "series");   \
  _Static_assert(offsetof(type, lengths) == 48, "series");    \
  _Static_assert(offsetof(type, dimensions) == 56, "series"); \
  _Static_assert(offsetof(type, stride) == 64, "series");     \
  _Static_assert(sizeof(type) == 72, "series")
SERIES(tsanom_series);
SERIES(tsanom_series_f32);
#endif
