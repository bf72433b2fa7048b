/* SPDX-License-Identifier: BSD-3-Clause */
/* Any JSON as an HSA model: rejected with a message, or a model that the library accepts
 * and that is written again. */
#include <model_file.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json) return 0;
  owned_model m;
  failure why = {""};
  if (model_from_json(json, "fuzz", &m, &why)) {
    if (!*why.text || m.model) abort();
  } else {
    static char name[] = "run";
    size_t runs = m.data.run_count;
    char **names = calloc(runs, sizeof *names);
    for (size_t i = 0; i < runs; i++) names[i] = name;
    json_decref(model_to_json(&m.data, names));
    free(names);
    model_free(&m);
  }
  json_decref(json);
  return 0;
}
