/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the thread that began a recording is in a call of MPI, by what the program has
 * written until now:
 *
 *   events    END | CPU | BEGIN | 0 | 0 ...     the latest one begins a call, or not
 *   totals    the row of the thread             `cpu`
 *
 * Behind the latest event the file contains zeros, so that bisection finds it. A thread
 * that adds up its events writes no more of them. */
#include "core/exec.h"
#include "runs/channel.h"
#include "runs/run.h"

enum { UNKNOWN = -1, OUTSIDE = 0, INSIDE = 1 };

/* The latest record of a stream; time 0: there is none, or it is damaged. */
static tsanom_status read_latest(const tsn_source *source, tsn_record *latest) {
  uint64_t low = 0, high = 0;
  if (source->size > TSN_STREAM_HEADER) {
    high = (source->size - TSN_STREAM_HEADER) / TSN_RECORD;
  }
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    tsn_record record;
    tsanom_status status = tsn_source_read(
        source, TSN_STREAM_HEADER + middle * TSN_RECORD, &record, sizeof record);
    if (status < 0) return status;
    if (record.time) {
      *latest = record;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low && !tsn_record_is_valid(latest, low - 1)) latest->time = 0;
  return TSANOM_OK;
}

/* Where events were dropped, the latest one is not what the thread did last. */
static tsanom_status read_stream(const tsn_source *source, tsn_record *latest) {
  tsn_stream_header header;
  tsanom_status status = tsn_source_read(source, 0, &header, sizeof header);
  return status < 0 || header.dropped ? status : read_latest(source, latest);
}

static tsanom_status read_place(const char *directory, int32_t place,
                                const tsanom_exec *exec, int32_t *inside) {
  tsanom_fault damage = {.status = TSANOM_OK};
  tsn_places places = {.pool = {.exec = exec}, .damage = &damage};
  tsanom_status status = tsn_places_read(&places, directory, exec);
  if (status == TSANOM_OK && (size_t)place < places.seen) {
    *inside = tsn_places_at(&places, (size_t)place)->about.call ? INSIDE : OUTSIDE;
  }
  tsn_places_free(&places);
  return status;
}

static tsanom_status look_at_events(const char *directory, const tsanom_exec *exec,
                                    int32_t *inside) {
  tsn_record latest = {.time = 0};
  tsn_source source = tsn_source_named(exec, directory, TSN_STREAM_FILE, 0U);
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  status = read_stream(&source, &latest);
  tsn_source_close(&source);
  if (status < 0 || !latest.time || !tsn_region_is_valid(latest.tag)) return status;
  tsn_region_event event = tsn_region_decode(latest.tag);
  *inside = OUTSIDE;
  if (event.kind != TSN_REGIONS_BEGIN) return TSANOM_OK;
  *inside = UNKNOWN;
  return read_place(directory, event.place, exec, inside);
}

static tsanom_status look_at_totals(const char *directory, const tsanom_exec *exec,
                                    int32_t *inside) {
  tsn_profile profile = {.pool = {.exec = exec}};
  tsanom_fault damage = {.status = TSANOM_OK};
  tsanom_status status = tsn_profile_read(directory, &damage, exec, &profile);
  for (size_t k = 1; status == TSANOM_OK && k < profile.count; k++) {
    const tsn_regions_row *row = &profile.row[k];
    if (row->kind == TSN_REGIONS_ROW_THREAD && row->place) *inside = row->cpu != 0;
  }
  tsn_pool_free(&profile.pool);
  return status;
}

tsanom_status tsanom_runs_in_call(const tsanom_runs *run, const tsanom_exec *exec,
                                  int32_t *inside) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, inside, "inside", &own);
  if (status < 0) return status;
  int32_t found = UNKNOWN;
  if (tsn_is_directory(run->place.regions)) {
    status = look_at_totals(run->place.regions, &own, &found);
    if (status == TSANOM_OK && found == UNKNOWN) {
      status = look_at_events(run->place.regions, &own, &found);
    }
  }
  if (status == TSANOM_OK) *inside = found;
  return status;
}
