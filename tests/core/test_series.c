/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of series, given as rows or by pointers: where each series lies, what fields of 0
 * mean, and the name of each field that is invalid. Samples may be missing until they are
 * required. */
#include <string.h>

#include "core/series.h"
#include "support/check.h"

static const double samples[6] = {1, 2, 3, 4, 5, 6};

static tsanom_series rows(void) {
  tsanom_series series = {.struct_size = sizeof series};
  series.count = 2;
  series.data = samples;
  series.length = 3;
  return series;
}

static tsanom_status read_as(tsanom_series series, const char *argument) {
  tsanom_fault fault = {.struct_size = sizeof fault};
  tsanom_exec exec = {.fault = &fault};
  tsanom_series own;
  tsanom_status status = tsn_series_read(&own, &series, "xs", &exec);
  cr_assert_str_eq(fault.argument, argument);
  cr_assert(fault.status == status || status == TSANOM_OK);
  return status;
}

Test(series, rows_and_pointers_are_the_same_set) {
  tsanom_series own, series = rows();
  CHECK_STATUS(tsn_series_read(&own, &series, "xs", NULL), TSANOM_OK);
  cr_assert(tsn_series_at(&own, 1) == samples + 3 && tsn_series_length(&own, 1) == 3);
  cr_assert(tsn_series_longest(&own) == 3);

  const double *pointers[] = {samples, samples + 2};
  const size_t lengths[] = {2, 4};
  series.data = NULL;
  series.length = 0;
  series.pointers = pointers;
  series.lengths = lengths;
  CHECK_STATUS(tsn_series_read(&own, &series, "xs", NULL), TSANOM_OK);
  cr_assert(tsn_series_at(&own, 1) == samples + 2 && tsn_series_length(&own, 1) == 4);
  cr_assert(tsn_series_longest(&own) == 4);
}

Test(series, single_precision_has_the_same_fields) {
  static const float f32[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  tsanom_series_f32 own, series;
  series = (tsanom_series_f32){.struct_size = sizeof series};
  series.count = 2;
  series.data = f32;
  series.length = 2;
  series.dimensions = 2;
  CHECK_STATUS(tsn_series_read_f32(&own, &series, "xs", NULL), TSANOM_OK);
  cr_assert(own.stride == 2 && own.ld == 4);
  CHECK_STATUS(tsn_series_require_f32(&own, "xs", NULL), TSANOM_OK);
  cr_assert(tsn_series_at_f32(&own, 1) == f32 + 4);
  cr_assert(tsn_series_length_f32(&own, 1) == 2 && tsn_series_longest_f32(&own) == 2);
}

Test(series, overlapping_windows_are_rows_with_a_short_ld) {
  tsanom_series own, series = rows();
  series.ld = 1;
  series.count = 4;
  CHECK_STATUS(tsn_series_read(&own, &series, "xs", NULL), TSANOM_OK);
  cr_assert(tsn_series_at(&own, 3) == samples + 3);
}

/* A caller that asks for a workspace has counts, and no samples yet. */
Test(series, samples_may_come_later) {
  tsanom_series own, s = rows();
  tsanom_fault fault = {.struct_size = sizeof fault};
  tsanom_exec exec = {.fault = &fault};
  const double *pointers[] = {samples, NULL};
  const size_t lengths[] = {3, 2};
  CHECK_STATUS(tsn_series_read(&own, &s, "xs", &exec), TSANOM_OK);
  CHECK_STATUS(tsn_series_require(&own, "xs", &exec), TSANOM_OK);
  s.data = NULL;
  CHECK_STATUS(tsn_series_read(&own, &s, "xs", &exec), TSANOM_OK);
  cr_assert(own.ld == 3 && tsn_series_longest(&own) == 3);
  CHECK_STATUS(tsn_series_require(&own, "xs", &exec), TSANOM_E_NULL);
  cr_assert_str_eq(fault.text, "xs.data is NULL; it or pointers is expected");
  s.length = 0;
  s.lengths = lengths;
  CHECK_STATUS(tsn_series_read(&own, &s, "xs", &exec), TSANOM_OK);
  cr_assert(own.ld == 0 && tsn_series_longest(&own) == 3);
  CHECK_STATUS(tsn_series_require(&own, "xs", &exec), TSANOM_E_NULL);
  s.pointers = pointers;
  CHECK_STATUS(tsn_series_read(&own, &s, "xs", &exec), TSANOM_OK);
  CHECK_STATUS(tsn_series_require(&own, "xs", &exec), TSANOM_E_NULL);
  cr_assert_str_eq(fault.text, "xs.pointers[1] is NULL; 2 samples are expected");
  pointers[1] = samples;
  CHECK_STATUS(tsn_series_require(&own, "xs", &exec), TSANOM_OK);
}

Test(series, each_bad_field_is_named) {
  tsanom_series s = rows();
  CHECK_STATUS(read_as(s, ""), TSANOM_OK);
  s.count = 0;
  CHECK_STATUS(read_as(s, "xs.count"), TSANOM_E_COUNT);
  s = rows();
  s.length = 0;
  CHECK_STATUS(read_as(s, "xs.length"), TSANOM_E_COUNT);
  s = rows();
  s.dimensions = 2;
  s.stride = 1;
  CHECK_STATUS(read_as(s, "xs.stride"), TSANOM_E_OPTION);
  s = rows();
  const double *pointers[] = {samples, NULL};
  s.pointers = pointers;
  CHECK_STATUS(read_as(s, "xs.pointers"), TSANOM_E_OPTION);
  s.data = NULL;
  const size_t lengths[] = {3, 0};
  s.lengths = lengths;
  CHECK_STATUS(read_as(s, "xs.lengths"), TSANOM_E_COUNT);
  s.ld = 3;
  CHECK_STATUS(read_as(s, "xs.ld"), TSANOM_E_OPTION);
  s = rows();
  s.lengths = lengths;
  CHECK_STATUS(read_as(s, "xs.lengths"), TSANOM_E_OPTION);
  s = rows();
  s.length = SIZE_MAX / 8;
  CHECK_STATUS(read_as(s, "xs.length"), TSANOM_E_OVERFLOW);
  s = rows();
  s.count = SIZE_MAX / 16;
  CHECK_STATUS(read_as(s, "xs.ld"), TSANOM_E_OVERFLOW);
  s = rows();
  s.struct_size = 8;
  CHECK_STATUS(read_as(s, "xs.struct_size"), TSANOM_E_VERSION);
  CHECK_STATUS(tsn_series_read(&s, NULL, "xs", NULL), TSANOM_E_NULL);
}
