/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run of heartbeats knows besides its beats: vital signs, state, name and end.
 *
 * A run that is not finished is one that still runs if its process does. A process number
 * is used again: the process must have begun before the run did.
 *
 * The kernel is asked only where the number means the same process: on the same boot of
 * the machine and in the same namespace of processes, which the header of the run names.
 * Elsewhere (outside of a container, on another host) the program runs if it has written
 * lately: its sampler writes several samples a second, and clocks of hosts differ by
 * little. For the same reason the age of a record is by CLOCK_MONOTONIC only where that is
 * the clock of the run, and otherwise by the time of day. */
#include "runs/life.h"

#include <math.h>
#include <time.h>

#include "record/identity.h"
#include "record/vital_proc.h"

static double now_on(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_alive(const tsn_run_header *header) {
  enum { SLACK_S = 2 };
  int directory = tsn_proc_open(header->pid);
  double age = now_on(CLOCK_BOOTTIME) - tsn_proc_read_begin(directory);
  tsn_proc_close(directory);
  return now_on(CLOCK_REALTIME) - age <= (double)header->start * 1e-9 + SLACK_S;
}

/* Seconds since the run began, as its own machine counts them or the time of day. */
static double seconds_since_begin(const tsn_run_header *header) {
  tsn_run_header here;
  tsn_identify(&here);
  if (tsn_is_same_clock(header, &here)) {
    return now_on(CLOCK_MONOTONIC) - (double)header->first.nanoseconds * 1e-9;
  }
  return now_on(CLOCK_REALTIME) - (double)header->start * 1e-9;
}

/* Whether the program has written lately. One that nothing samples, as process 1 of a
 * container, may be silent for longer: for a hundred times its mean time between records. */
static bool wrote_lately(const tsn_vitals *vitals, const tsn_channel *channel,
                         const tsn_run_header *header) {
  const double lately = 5, times = 100;
  const tsn_vital_record *record = vitals->record.data;
  double latest = tsn_channel_last(channel), most = 1;
  for (size_t i = 0; i < channel->stream_count; i++) {
    most = fmax(most, (double)tsn_channel_stream(channel, i)->count);
  }
  if (vitals->seen) {
    latest = fmax(latest, tsn_channel_seconds(channel, record[vitals->seen - 1].time));
  }
  bool is_sampled = vitals->present && vitals->header_seen.sampler != TSN_VITAL_BY_ENDS;
  double limit = is_sampled ? lately : fmax(lately, times * latest / most);
  return seconds_since_begin(header) - latest < limit;
}

static int32_t state_by(const tsn_run_header *header, const tsn_vitals *vitals,
                        const tsn_channel *channel) {
  tsn_run_header here;
  if (header->state == TSN_FINISHED) return TSANOM_RUN_FINISHED;
  tsn_identify(&here);
  bool runs = tsn_is_same_process_space(header, &here)
                  ? is_alive(header)
                  : wrote_lately(vitals, channel, header);
  return runs ? TSANOM_RUN_RUNNING : TSANOM_RUN_KILLED;
}

int32_t tsn_life_state(const tsn_vitals *vitals, const tsn_channel *channel) {
  return channel->has_data ? state_by(&channel->header, vitals, channel)
                           : TSANOM_RUN_UNKNOWN;
}

static void show_samples(const tsn_vitals *vitals, tsn_beats *beats) {
  tsanom_hsa_series *series = beats->series.data;
  for (size_t i = 0; vitals->present && i < vitals->series_count; i++) {
    const tsn_vital_series *s = tsn_vitals_series(vitals, i);
    if (i == 0) {
      beats->run.vital = s->sample.data;
      beats->run.vital_count = s->count;
      beats->run.peak = vitals->peak;
    } else if (i <= beats->run.thread_count) {
      series[i - 1].vital = s->sample.data;
      series[i - 1].vital_count = s->count;
    }
  }
}

/* Of a program that has ended, the last sample of the process knows how. */
static int32_t exit_code_of(const tsn_vitals *vitals) {
  const tsn_vital_record *record = vitals->record.data;
  size_t i = vitals->present ? vitals->count : 0;
  while (i && record[i - 1].stream != TSN_VITAL_PROCESS) i--;
  return i ? record[i - 1].exit : 0;
}

bool tsn_life_is_over(const tsn_vitals *vitals, const tsn_channel *channel) {
  return state_by(&channel->header_seen, vitals, channel) != TSANOM_RUN_RUNNING;
}

void tsn_life_show(const tsn_vitals *vitals, const tsn_channel *channel,
                   tsn_beats *beats) {
  const tsn_run_header *header = &channel->header;
  if (!channel->has_data) return;
  show_samples(vitals, beats);
  beats->run.program = header->program;
  beats->run.machine = *header->machine ? header->machine : NULL;
  beats->run.state = tsn_life_state(vitals, channel);
  beats->run.exit_code = exit_code_of(vitals);
  beats->run.end = 0;
  if (beats->run.state == TSANOM_RUN_RUNNING && !channel->restarts) {
    beats->run.end = seconds_since_begin(header);
  }
}

bool tsn_life_sample(const tsn_vitals *vitals, const tsn_channel *channel,
                     const tsanom_hsa_run *run, size_t thread, tsanom_hsa_vital *sample) {
  tsn_run_header here;
  const tsanom_hsa_vital *latest = tsn_vitals_latest(vitals, thread);
  tsn_identify(&here);
  if (!latest || !(run->end > 0) || !tsn_is_same_process_space(&channel->header, &here)) {
    return false;
  }
  int directory = tsn_proc_open(channel->header.pid);
  tsn_vital_record record =
      tsn_proc_record((uint32_t)latest->stream, latest->thread, latest->task);
  if (directory >= 0) tsn_proc_read_thread(directory, NULL, false, &record);
  tsn_proc_close(directory);
  if (record.cpu == TSN_UNAVAILABLE) return false;
  *sample = tsn_vitals_convert(&record, channel);
  sample->time = run->end;
  sample->beats = tsn_vitals_beats(run, thread, run->end);
  return true;
}
