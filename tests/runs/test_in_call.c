/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the thread that began a run is in a call of MPI: beside the latest event that
 * was written, of runs that are not refreshed. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>

#include "core/checksum.h"
#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

enum { REGION, CALL, MISSING, EVENTS = 10000, FIRST = 16, ROWS = 3 };

TestSuite(in_call, .init = make_directory, .fini = remove_directory);

static tsanom_runs *create(grown_run *run) {
  grown_create_regions(
      run, directory,
      "tsanom places 3\n0\trf\t10\t-\t/a\n1\tmc\t61\t-\t/a\tMPI_Recv\t1\n");
  return open_run(directory);
}

static uint32_t tag(uint32_t kind, uint32_t place) {
  return kind | place << TSN_REGIONS_KIND_BITS;
}

static int32_t in_call(const tsanom_runs *run) {
  int32_t inside = 7;
  CHECK_STATUS(tsanom_runs_in_call(run, NULL, &inside), TSANOM_OK);
  return inside;
}

Test(in_call, is_that_of_the_latest_event) {
  grown_run run;
  uint64_t seed = 1;
  tsanom_runs *opened = create(&run);
  cr_assert(in_call(opened) == -1);
  for (int i = 0; i < EVENTS; i++) {
    uint32_t kind = (uint32_t)random_between(&seed, 0, TSN_REGIONS_FUNCTION);
    uint32_t place = (uint32_t)random_between(&seed, REGION, MISSING);
    grown_append(&run, 0, 1, tag(kind, place));
    bool begins = kind == TSN_REGIONS_BEGIN;
    int32_t expected = begins && place == MISSING ? -1 : begins && place == CALL;
    cr_assert(in_call(opened) == expected, "%d: %d", i, in_call(opened));
  }
  tsanom_runs_destroy(opened);
}

/* The thread did something that is not in the file. */
Test(in_call, is_not_known_where_events_were_dropped) {
  grown_run run;
  tsanom_runs *opened = create(&run);
  run.stream[0].dropped = 1; /* written when the file grows */
  for (int i = 0; i <= FIRST; i++) {
    grown_append(&run, 0, 1, tag(TSN_REGIONS_BEGIN, CALL));
    cr_assert(in_call(opened) == (i < FIRST ? 1 : -1), "%d", i);
  }
  tsanom_runs_destroy(opened);
}

Test(in_call, is_not_known_by_a_damaged_event) {
  grown_run run;
  size_t bytes = 0;
  tsanom_runs *opened = create(&run);
  grown_append(&run, 0, 1, tag(TSN_REGIONS_BEGIN, CALL));
  const char *path = in_directory("regions/" TSN_STREAM_FILE, 0U);
  unsigned char *stream = file_read(path, &bytes);
  stream[TSN_STREAM_HEADER]++;
  file_write(path, stream, bytes);
  free(stream);
  cr_assert(in_call(opened) == -1);
  tsanom_runs_destroy(opened);
}

/* Behind the events; that of the thread that began the run, 1, and not of another one. */
Test(in_call, is_that_of_the_totals) {
  grown_run run;
  tsn_regions_row rows[1 + ROWS];
  tsn_regions_profile head = {
      .magic = TSN_REGIONS_PROFILE_MAGIC, .version = 1, .row_bytes = sizeof *rows};
  tsanom_runs *opened = create(&run);
  const char *path = in_directory("regions/" TSN_REGIONS_PROFILE);
  memcpy(rows, &head, sizeof head);
  for (uint32_t inside = 0; inside < 2; inside++) {
    for (uint32_t i = 0; i < ROWS; i++) {
      rows[1 + i] = (tsn_regions_row){.kind = TSN_REGIONS_ROW_THREAD,
                                      .thread = i,
                                      .place = i == 1,
                                      .cpu = i == 1 ? inside : 1 - inside};
      rows[1 + i].check = tsn_checksum(&rows[1 + i], offsetof(tsn_regions_row, visits));
    }
    file_write(path, rows, sizeof rows);
    grown_append(&run, 0, 1, tag(TSN_REGIONS_BEGIN, inside ? REGION : CALL));
    cr_assert(in_call(opened) == (int32_t)inside);
  }
  tsanom_runs_destroy(opened);
}

Test(in_call, is_not_known_of_a_run_without_events) {
  grown_run run;
  int32_t inside = 7;
  grown_create(&run, directory);
  tsanom_runs *opened = open_run(directory);
  cr_assert(in_call(opened) == -1);
  cr_assert(mkdir(in_directory("regions"), 0777) == 0);
  CHECK_STATUS(tsanom_runs_in_call(opened, NULL, &inside), TSANOM_E_IO);
  cr_assert(inside == 7);
  tsanom_runs_destroy(opened);
}
