/* SPDX-License-Identifier: BSD-3-Clause */
/* The run, the model and the folder of all cases. */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/record.h>
#include <tsanom/runs.h>

#include "misuse.h"
#include "support/directory.h"

char misuse_run[MISUSE_PATH], misuse_model_file[MISUSE_PATH];
tsanom_hsa_run misuse_runs[MISUSE_RUNS];
tsanom_hsa_model *misuse_model;

static char folder[DIRECTORY_CAPACITY];
static double beats[MISUSE_BEATS];
static tsanom_hsa_series series = {.time = beats, .beats = MISUSE_BEATS};

static void demand(bool holds) {
  if (!holds) abort();
}

void misuse_new_path(char path[MISUSE_PATH]) {
  static int number;
  (void)snprintf(path, MISUSE_PATH, "%s/%d", folder, number++);
}

static void write_records(void) {
  tsanom_record_options options;
  tsanom_record *record = NULL;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.channels = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS;
  demand(tsanom_record_create(misuse_run, 1, &options, NULL, &record) == TSANOM_OK);
  for (uint32_t i = 0; i < 12; i++) {
    (void)tsanom_record_beat(record, 0, i);
    (void)tsanom_record_region(record, 0, 0);
    (void)tsanom_record_region(record, 0, 1u | 1u << 16);
  }
  tsanom_record_destroy(record);
}

static void write_places(void) {
  char path[MISUSE_PATH + 32];
  (void)snprintf(path, sizeof path, "%s/regions/places.tsv", misuse_run);
  FILE *file = fopen(path, "we");
  demand(file && fputs("tsanom places 1\n0\trf\t11e9\t/program\n", file) >= 0);
  demand(fclose(file) == 0);
}

static void write_times(void) {
  static const char *const names[] = {"a", "b"};
  static char memory[4096];
  tsanom_spmd_recorder *recorder = NULL;
  tsanom_spmd_row row = {.struct_size = sizeof row};
  row.process = "0";
  row.region = names;
  demand(tsanom_spmd_recorder_init(memory, sizeof memory, 2, 1, NULL, NULL, &recorder) ==
         0);
  for (int32_t i = 0; i < 2; i++) {
    (void)tsanom_spmd_begin(recorder, i);
    (void)tsanom_spmd_end(recorder, i);
  }
  demand(tsanom_spmd_recorder_write(recorder, misuse_run, &row, NULL) == TSANOM_OK);
}

static void write_model(void) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                      "g", "h", "i", "j", "k", "l"};
  tsanom_hsa_model_data content;
  tsanom_runs_model_data data = {.model = &content, .run = names};
  content = (tsanom_hsa_model_data){.struct_size = sizeof content};
  demand(tsanom_hsa_model_read(misuse_model, &content) == TSANOM_OK);
  demand(tsanom_runs_model_save(misuse_model_file, &data, NULL) == TSANOM_OK);
}

void misuse_set_up(void) {
  demand(new_directory(folder) != NULL);
  (void)snprintf(misuse_run, MISUSE_PATH, "%s/run", folder);
  (void)snprintf(misuse_model_file, MISUSE_PATH, "%s/model.json", folder);
  for (int i = 0; i < MISUSE_BEATS; i++) beats[i] = i + 0.1 * (i % 7);
  for (int i = 0; i < MISUSE_RUNS; i++) {
    misuse_runs[i] = (tsanom_hsa_run){.threads = &series, .thread_count = 1};
  }
  demand(tsanom_hsa_learn(misuse_runs, MISUSE_RUNS, NULL, NULL, &misuse_model) ==
         TSANOM_OK);
  write_records();
  write_places();
  write_times();
  write_model();
}

void misuse_tear_down(void) {
  tsanom_hsa_model_destroy(misuse_model);
  directory_remove(folder);
}
