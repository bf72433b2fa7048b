/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading heartbeat.vital. The program appends samples while it is read, or overwrites
 * them in a file of limited length; a sample that looks damaged may have been half
 * written, so that the look is repeated. Samples that are known stay known when they are
 * overwritten. */
#include "runs/vital.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/size.h"
#include "record/format.h"
#include "record/identity.h"
#include "record/vital_proc.h"
#include "runs/checked_json.h"
#include "runs/memory.h"
#include "runs/run.h"

static tsanom_status check_header(const tsn_source *source,
                                  const tsn_vital_header *header) {
  tsanom_status status =
      tsn_check_header(source, header, TSN_VITAL_MAGIC, "a file of vital signs",
                       sizeof *header, offsetof(tsn_vital_header, checksum));
  if (status < 0) return status;
  bool complete = header->state == TSN_FINISHED;
  if ((!complete && (header->state != TSN_RUNNING || header->count != 0)) ||
      header->sampler < TSN_VITAL_BY_THREAD || header->sampler > TSN_VITAL_BY_ENDS ||
      header->unordered > 1) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_vital_header, state),
                            "the header contains a value that vital signs cannot have");
  }
  uint64_t samples = (source->size - sizeof *header) / TSN_VITAL_RECORD;
  if (complete && (header->count != samples || source->size % TSN_VITAL_RECORD != 0)) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file must contain %" PRIu64 " samples", header->count);
  }
  return TSANOM_OK;
}

static uint64_t offset_of(size_t record) {
  return (1 + (uint64_t)record) * TSN_VITAL_RECORD;
}

static bool is_valid(const tsn_vital_record *record, uint64_t sequence) {
  bool of_process = record->stream == TSN_VITAL_PROCESS;
  return record->check == tsn_vital_check(record, sequence) && record->time != 0 &&
         (of_process ? record->thread == -1
                     : record->thread >= 0 && record->thread >> TSN_REGIONS_OPENER_SHIFT <
                                                  TSN_REGIONS_OPENERS);
}

/* TSANOM_NONE: its thread is not shown. */
static size_t series_of(const tsn_vital_record *record, const tsn_channel *channel) {
  if (record->stream == TSN_VITAL_PROCESS) return 0;
  int32_t own = tsn_number_in_team(record->thread, channel->header_seen.opener);
  if (own < 0 && record->stream < channel->streams_seen)
    own = tsn_channel_stream(channel, record->stream)->thread;
  return own < 0 ? TSANOM_NONE : (size_t)own + 1;
}

static tsanom_status report_damage(const tsn_source *source, size_t record) {
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset_of(record),
                          "sample %zu is damaged", record);
}

/* Sample n is in slot n. */
static tsanom_status take_ordered(tsn_vitals *vitals, const tsn_source *source,
                                  size_t end) {
  if (end < vitals->seen) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file became shorter: %zu samples were there before",
                            vitals->seen);
  }
  if (!tsn_array_reserve(&vitals->record, vitals->memory, vitals->seen, end,
                         sizeof(tsn_vital_record))) {
    return tsn_source_no_memory(source);
  }
  tsn_vital_record *record = vitals->record.data;
  tsanom_status status = TSANOM_OK;
  if (end > vitals->seen) {
    status = tsn_source_read(source, offset_of(vitals->seen), &record[vitals->seen],
                             (end - vitals->seen) * sizeof *record);
  }
  for (; status == TSANOM_OK && vitals->seen < end; vitals->seen++) {
    if (!is_valid(&record[vitals->seen], vitals->seen)) {
      status = report_damage(source, vitals->seen);
      break;
    }
    record[vitals->seen].sequence = vitals->seen; /* 0 in files of version 0.1 */
  }
  vitals->left_out = end - vitals->seen;
  return status;
}

static int by_sequence(const void *a, const void *b) {
  const tsn_vital_record *x = a, *y = b;
  return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The intact samples behind those that are known, in order. Damaged ones are left out
 * of the slots before the status says so. */
static tsanom_status take_unordered(tsn_vitals *vitals, const tsn_source *source,
                                    size_t slots) {
  if (!tsn_array_reserve(&vitals->slot, vitals->memory, 0, slots,
                         sizeof(tsn_vital_record)) ||
      !tsn_array_reserve(&vitals->record, vitals->memory, vitals->seen,
                         vitals->seen + slots, sizeof(tsn_vital_record))) {
    return tsn_source_no_memory(source);
  }
  tsn_vital_record *slot = vitals->slot.data, *record = vitals->record.data;
  size_t intact = 0, damaged = TSANOM_NONE;
  tsanom_status status =
      slots ? tsn_source_read(source, offset_of(0), slot, slots * sizeof *slot)
            : TSANOM_OK;
  if (status < 0) return status;
  for (size_t i = 0; i < slots; i++) {
    if (is_valid(&slot[i], slot[i].sequence)) {
      slot[intact++] = slot[i];
    } else if (damaged == TSANOM_NONE) {
      damaged = i;
    }
  }
  vitals->left_out = slots - intact;
  if (intact) qsort(slot, intact, sizeof *slot, by_sequence);
  for (size_t i = 0; i < intact; i++) {
    if (!vitals->seen || slot[i].sequence > record[vitals->seen - 1].sequence) {
      record[vitals->seen++] = slot[i];
    }
  }
  return damaged == TSANOM_NONE ? TSANOM_OK : report_damage(source, damaged);
}

/* The end of an unfinished file may be a part of a sample: the disk was full. A hole is
 * damage: no recorder leaves one, and a file of a few bytes could have terabytes of them. */
static tsanom_status read_open_file(tsn_vitals *vitals, const tsn_source *source) {
  tsn_vital_header header;
  vitals->left_out = 0;
  tsanom_status status = tsn_source_read(source, 0, &header, sizeof header);
  if (status == TSANOM_OK) status = check_header(source, &header);
  if (status < 0) {
    vitals->present_seen = !vitals->damage;
    return status;
  }
  vitals->header_seen = header;
  uint64_t data = tsn_source_data_end(source);
  if (data < sizeof header) data = sizeof header; /* as small files within the inode */
  uint64_t end = (data - sizeof header) / TSN_VITAL_RECORD;
  status = header.unordered ? take_unordered(vitals, source, (size_t)end)
                            : take_ordered(vitals, source, (size_t)end);
  return status == TSANOM_OK && data < source->size ? report_damage(source, (size_t)end)
                                                    : status;
}

tsanom_status tsn_vitals_read(tsn_vitals *vitals, const char *directory,
                              const tsanom_exec *exec) {
  enum { ATTEMPTS = 3 };
  tsn_source source = tsn_source_named(exec, directory, TSN_VITAL_FILE);
  vitals->present_seen = vitals->present || access(source.path, F_OK) == 0;
  if (!vitals->present_seen) return TSANOM_OK;
  tsanom_status status = TSANOM_OK;
  for (int i = 0; i < ATTEMPTS; i++) {
    status = tsn_source_open(&source);
    if (status < 0) return status;
    vitals->seen = vitals->count;
    status = read_open_file(vitals, &source);
    tsn_source_close(&source);
    if (status != TSANOM_E_FORMAT || vitals->header_seen.state == TSN_FINISHED) break;
  }
  return tsn_salvages(exec, status, vitals->damage) ? TSANOM_OK : status;
}

static bool reserve_samples(tsn_vitals *vitals, const tsn_channel *channel, bool again) {
  const tsn_vital_record *record = vitals->record.data;
  size_t needed = vitals->series_seen, first = again ? 0 : vitals->count;
  for (size_t i = first; i < vitals->seen; i++) {
    size_t at = series_of(&record[i], channel);
    if (at != TSANOM_NONE) needed = tsn_larger(needed, at + 1);
  }
  if (!tsn_array_reserve(&vitals->series, vitals->memory, vitals->series_seen, needed,
                         sizeof(tsn_vital_series))) {
    return false;
  }
  while (vitals->series_seen < needed) {
    *tsn_vitals_series(vitals, vitals->series_seen++) = (tsn_vital_series){.count = 0};
  }
  for (size_t t = 0; t < needed; t++) tsn_vitals_series(vitals, t)->more = 0;
  for (size_t i = first; i < vitals->seen; i++) {
    size_t at = series_of(&record[i], channel);
    if (at != TSANOM_NONE) tsn_vitals_series(vitals, at)->more++;
  }
  for (size_t t = 0; t < needed; t++) {
    tsn_vital_series *s = tsn_vitals_series(vitals, t);
    if (!tsn_array_reserve(&s->sample, vitals->memory, s->count, s->count + s->more,
                           sizeof(tsanom_hsa_vital))) {
      return false;
    }
  }
  return true;
}

tsanom_status tsn_vitals_prepare(tsn_vitals *vitals, const tsn_channel *channel,
                                 bool again, const tsanom_exec *exec) {
  tsn_source source = tsn_source_named(exec, channel->directory, TSN_VITAL_FILE);
  if (!vitals->present_seen) return TSANOM_OK;
  if (vitals->header_seen.run_id != channel->header_seen.run_id) {
    return tsn_source_fault(&source, TSANOM_E_FORMAT, offsetof(tsn_vital_header, run_id),
                            "these vital signs belong to another run");
  }
  return reserve_samples(vitals, channel, again) ? TSANOM_OK
                                                 : tsn_source_no_memory(&source);
}

static double number(uint64_t value) {
  return value == TSN_UNAVAILABLE ? NAN : (double)value;
}

static double seconds(uint64_t nanoseconds) {
  return number(nanoseconds) * 1e-9;
}

/* Threads that give themselves no name have that of the program. Control characters can be
 * commands to a terminal. The kernel may have cut within a character, which is left out. */
void tsn_vitals_name(const tsn_vital_record *r, const char *program,
                     char name[TSN_TASK_NAME]) {
  enum { LENGTH = TSN_TASK_NAME - 1, CHARACTER = 4 };
  if (r->name[LENGTH] || strncmp(r->name, program, LENGTH) == 0) return;
  memcpy(name, r->name, TSN_TASK_NAME);
  size_t length = strlen(name), whole = length;
  while (length == LENGTH && length - whole < CHARACTER && !tsn_json_is_text(name)) {
    name[--whole] = '\0';
  }
  bool is_text = tsn_json_is_text(name);
  if (!is_text) memcpy(name, r->name, TSN_TASK_NAME);
  for (char *c = name; *c; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte < ' ' || byte == 0x7F || (byte > 0x7F && !is_text)) *c = '?';
  }
}

static tsanom_hsa_vital convert(const tsn_vital_record *r, const tsn_channel *channel) {
  bool of_process = r->stream == TSN_VITAL_PROCESS;
  bool has_memory =
      of_process && r->resident; /* one that ends has none, whatever it had */
  tsanom_hsa_vital sample = {
      .time = tsn_vitals_time(r, channel),
      .cpu_s = seconds(r->cpu),
      .wait_s = of_process ? NAN : seconds(r->wait),
      .voluntary = number(r->voluntary),
      .involuntary = number(r->involuntary),
      .minor_faults = number(r->minor),
      .major_faults = number(r->major),
      .resident = has_memory ? number(r->resident) : NAN,
      .spun_s = of_process ? NAN : seconds(r->spun),
      .anonymous = has_memory ? number(r->anonymous) : NAN,
      .threads = of_process ? number(r->threads) : NAN,
      .thread = r->thread,
      .task = r->task,
      .state = r->state == TSN_UNAVAILABLE_STATE ? 0 : (int32_t)r->state,
      .stream = of_process ? -1 : (int32_t)r->stream,
      .waits = of_process ? TSANOM_HSA_WAITS_UNKNOWN : r->waits,
  };
  if (!of_process) tsn_vitals_name(r, channel->header_seen.program, sample.name);
  return sample;
}

/* Beats of a series at or before a time. */
static uint64_t beats_before(const tsanom_hsa_series *series, double time) {
  size_t low = 0, high = series->beats;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (series->time[middle] <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint64_t beats_until(const tsanom_hsa_run *run, size_t thread, double time) {
  return thread < run->thread_count ? beats_before(&run->threads[thread], time) : 0;
}

static const tsanom_hsa_vital *latest_of(const tsn_vitals *vitals, size_t thread) {
  if (!vitals->present || thread + 1 >= vitals->series_count) return NULL;
  const tsn_vital_series *s = tsn_vitals_series(vitals, thread + 1);
  return s->count ? (const tsanom_hsa_vital *)s->sample.data + s->count - 1 : NULL;
}

void tsn_vitals_update(tsn_vitals *vitals, const tsn_channel *channel,
                       const tsanom_hsa_run *beats, bool again) {
  const tsn_vital_record *record = vitals->record.data;
  if (again) {
    for (size_t t = 0; t < vitals->series_seen; t++) {
      tsn_vitals_series(vitals, t)->count = 0;
    }
    vitals->count = 0;
    vitals->peak = 0;
  }
  for (; vitals->count < vitals->seen; vitals->count++) {
    const tsn_vital_record *r = &record[vitals->count];
    size_t at = series_of(r, channel);
    if (at == TSANOM_NONE) continue;
    tsn_vital_series *series = tsn_vitals_series(vitals, at);
    tsanom_hsa_vital *sample = (tsanom_hsa_vital *)series->sample.data + series->count++;
    *sample = convert(r, channel);
    if (r->stream == TSN_VITAL_PROCESS && r->peak != TSN_UNAVAILABLE)
      vitals->peak = fmax(vitals->peak, (double)r->peak);
    sample->thread = (int32_t)at - 1;
    sample->beats = beats_until(beats, at - 1, sample->time);
  }
  vitals->series_count = vitals->series_seen;
  vitals->header = vitals->header_seen;
  vitals->present = vitals->present_seen;
}

void tsn_vitals_discard(tsn_vitals *vitals) {
  while (vitals->series_seen > vitals->series_count) {
    tsn_vital_series *s = tsn_vitals_series(vitals, --vitals->series_seen);
    tsn_array_free(&s->sample, vitals->memory);
  }
  vitals->seen = vitals->count;
  vitals->present_seen = vitals->present;
}

void tsn_vitals_free(tsn_vitals *vitals) {
  vitals->series_count = 0;
  tsn_vitals_discard(vitals);
  tsn_array_free(&vitals->series, vitals->memory);
  tsn_array_free(&vitals->record, vitals->memory);
  tsn_array_free(&vitals->slot, vitals->memory);
}

/* What the kernel knows now of the thread that was sampled last under a number; false: it is
 * gone, or on another machine. `run`: as it was shown. */
static bool sample_now(const tsn_vitals *vitals, const tsn_channel *channel,
                       const tsanom_hsa_run *run, size_t thread,
                       tsanom_hsa_vital *sample) {
  const tsanom_hsa_vital *latest = latest_of(vitals, thread);
  if (!latest || !(run->end > 0) ||
      !tsn_is_same_process_space(&channel->header, tsn_run_here())) {
    return false;
  }
  int directory = tsn_proc_open(channel->header.pid);
  tsn_vital_record record =
      tsn_proc_record((uint32_t)latest->stream, latest->thread, latest->task);
  if (directory >= 0) tsn_proc_read_thread(directory, NULL, false, &record);
  tsn_proc_close(directory);
  if (record.cpu == TSN_UNAVAILABLE) return false;
  *sample = convert(&record, channel);
  sample->time = run->end;
  sample->beats = beats_until(run, thread, run->end);
  return true;
}

tsanom_status tsanom_runs_vitals(const tsanom_runs *run, int32_t thread,
                                 const tsanom_exec *exec,
                                 const tsanom_hsa_vital **samples, size_t *count) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, samples, "samples", &own);
  if (status < 0) return status;
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  const tsn_vitals *vitals = &run->parts.vitals;
  if (!vitals->present) {
    return tsn_run_reject(&own, run, "the run has no vital signs");
  }
  status = tsn_require_int(&own, TSANOM_E_INDEX, "thread", thread, TSANOM_RUNS_PROCESS,
                           TSN_THREADS_MOST - 1);
  if (status < 0) return status;
  size_t index = (size_t)thread + 1; /* -1 wraps around to 0 */
  bool sampled = index < vitals->series_count;
  *samples = sampled ? tsn_vitals_series(vitals, index)->sample.data : NULL;
  *count = sampled ? tsn_vitals_series(vitals, index)->count : 0;
  return TSANOM_OK;
}

tsanom_status tsanom_runs_sample(const tsanom_runs *run, int32_t thread,
                                 const tsanom_exec *exec, tsanom_hsa_vital *sample) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, sample, "sample", &own);
  if (status < 0) return status;
  status =
      tsn_require_int(&own, TSANOM_E_INDEX, "thread", thread, 0, TSN_THREADS_MOST - 1);
  if (status < 0) return status;
  const tsn_parts *parts = &run->parts;
  bool known = sample_now(&parts->vitals, &parts->beats.channel, &parts->beats.beats.run,
                          (size_t)thread, sample);
  return known ? TSANOM_OK : TSANOM_INFEASIBLE;
}
