/* SPDX-License-Identifier: BSD-3-Clause */
/* Any JSON as a region file: refused with a message, or a run that the library
 * analyses. */
#include <region_file.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json) return 0;
  region_file f = {0};
  failure why = {""};
  if (region_file_from_json(json, "fuzz", TSANOM_SPMD_FOREST, &f, &why)) {
    if (!*why.text || f.region) abort();
  } else {
    tsanom_spmd_report report;
    tsanom_spmd_report_init(&report, sizeof report);
    if (tsanom_spmd_analyze(&f.data, NULL, NULL, &report) < 0) abort();
    region_file_free(&f);
  }
  json_decref(json);
  return 0;
}
