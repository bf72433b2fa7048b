/* SPDX-License-Identifier: BSD-3-Clause */
/* Region events: the beats of the inner run, and what their tags stand for. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "regions/places.h"

struct tsanom_regions {
  tsanom_exec exec;
  tsanom_heartbeat_run *run;
  size_t place_count;
  char folder[PATH_MAX];
  tsanom_regions_place place[];
};

static const tsanom_heartbeat_fault no_fault = {.struct_size = sizeof no_fault};

static void report(const tsanom_heartbeat_fault *own, tsanom_heartbeat_fault *caller,
                   tsanom_status status) {
  if (!caller || (status != TSANOM_E_IO && status != TSANOM_E_FORMAT)) return;
  tsn_versioned type = {.size = sizeof *own, .first_size = sizeof *own, .defaults = own};
  (void)tsn_versioned_init(&type, caller, caller->struct_size);
}

/* The places first, so that every event that is read names one of them, unless it was
 * written in between. */
static tsanom_status open_places(const char *inner, const tsanom_exec *exec,
                                 tsanom_heartbeat_fault *fault,
                                 tsanom_regions **regions) {
  size_t count = 0;
  tsanom_status status = tsn_places_read(inner, NULL, &count, fault);
  if (status < 0) return status;
  tsanom_regions *made =
      exec->alloc(exec->alloc_user, sizeof *made + count * sizeof *made->place);
  if (!made) return TSANOM_E_MEMORY;
  made->exec = *exec;
  made->run = NULL;
  made->place_count = count;
  (void)snprintf(made->folder, sizeof made->folder, "%s", inner);
  status = tsn_places_read(inner, made->place, &count, fault);
  if (status < 0) {
    exec->dealloc(exec->alloc_user, made);
    return status;
  }
  *regions = made;
  return TSANOM_OK;
}

tsanom_status tsanom_regions_open(const char *folder, const tsanom_exec *exec,
                                  tsanom_heartbeat_fault *fault,
                                  tsanom_regions **regions) {
  tsanom_exec own;
  tsanom_heartbeat_fault found = no_fault;
  char inner[PATH_MAX];
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!folder || !regions) return TSANOM_E_NULL;
  if (fault && fault->struct_size < sizeof *fault) return TSANOM_E_VERSION;
  int length = snprintf(inner, sizeof inner, "%s/regions", folder);
  tsanom_regions *made = NULL;
  if (length < 0 || (size_t)length >= sizeof inner) {
    status = tsn_places_fault(&found, TSANOM_E_IO, "regions", 0,
                              "the path of the run is too long");
  } else {
    status = open_places(inner, &own, &found, &made);
  }
  if (status == TSANOM_OK) {
    status = tsanom_heartbeat_run_open(inner, &own, &found, &made->run);
    if (status == TSANOM_OK) {
      *regions = made;
    } else {
      tsanom_regions_close(made);
    }
  }
  report(&found, fault, status);
  return status;
}

void tsanom_regions_close(tsanom_regions *regions) {
  if (!regions) return;
  tsanom_exec exec = regions->exec;
  tsanom_heartbeat_run_close(regions->run);
  exec.dealloc(exec.alloc_user, regions);
}

const tsanom_heartbeat_run *tsanom_regions_run(const tsanom_regions *regions) {
  return regions ? regions->run : NULL;
}

size_t tsanom_regions_places(const tsanom_regions *regions) {
  return regions ? regions->place_count : 0;
}

tsanom_status tsanom_regions_place_at(const tsanom_regions *regions, size_t place,
                                      tsanom_regions_place *answer, size_t struct_size) {
  if (!regions || !answer) return TSANOM_E_NULL;
  if (place >= regions->place_count) return TSANOM_E_OPTION;
  tsn_versioned type = {.size = sizeof *answer,
                        .first_size = sizeof *answer,
                        .defaults = &regions->place[place]};
  return tsn_versioned_init(&type, answer, struct_size);
}

static bool decode(uint32_t tag, double time, tsanom_regions_event *event) {
  const uint32_t place_bits = TSANOM_REGIONS_PLACES_MAX - 1;
  uint32_t rest = tag >> TSANOM_REGIONS_KIND_BITS;
  *event = (tsanom_regions_event){
      .time = time, .kind = (int32_t)(tag & ((1u << TSANOM_REGIONS_KIND_BITS) - 1))};
  if (event->kind > TSANOM_REGIONS_CPU) return false;
  if (event->kind == TSANOM_REGIONS_CPU) {
    event->place = -1;
    event->cpu_s = ldexp((double)(tag >> 8), (int)(rest & 31)) * 1e-9;
  } else {
    event->place = (int32_t)(rest & place_bits);
    event->threads = (int32_t)(tag >> 16);
  }
  return true;
}

tsanom_status tsanom_regions_read(const tsanom_regions *regions, uint32_t stream,
                                  uint64_t first, size_t count,
                                  tsanom_regions_event *events,
                                  tsanom_heartbeat_fault *fault) {
  enum { PIECE = 512 };
  double times[PIECE];
  uint32_t tags[PIECE];
  tsanom_heartbeat_stream_info about;
  if (!regions || (!events && count)) return TSANOM_E_NULL;
  if (fault && fault->struct_size < sizeof *fault) return TSANOM_E_VERSION;
  tsanom_status status =
      tsanom_heartbeat_run_stream(regions->run, stream, &about, sizeof about);
  if (status < 0) return status;
  if (first > about.beats || count > about.beats - first) return TSANOM_E_COUNT;
  for (size_t done = 0; done < count;) {
    size_t piece = count - done < PIECE ? count - done : PIECE;
    status = tsanom_heartbeat_run_read(regions->run, stream, first + done, piece, times,
                                       tags, fault);
    if (status < 0) return status;
    for (size_t i = 0; i < piece; i++) {
      if (decode(tags[i], times[i], &events[done + i])) continue;
      tsanom_heartbeat_fault found = no_fault;
      status = tsn_places_fault(&found, TSANOM_E_FORMAT, regions->folder, 0,
                                "event %" PRIu64
                                " of stream %u is of an unknown kind: this is "
                                "not a stream of regions",
                                first + done + i, stream);
      report(&found, fault, status);
      return status;
    }
    done += piece;
  }
  return TSANOM_OK;
}
