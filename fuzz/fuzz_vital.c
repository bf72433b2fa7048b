/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs of any length, in order or as a ring, of a run with one stream: which samples
 * are intact is known, so that those that are read with salvage can be counted. Byte 0: 1
 * a ring, 2 any header, 4 an open file, 8 a part of a sample behind the last, 16 a second
 * look after more samples came. Then, for each sample, 16 bytes. */
#include <math.h>
#include <tsanom/hsa.h>

#include "record/regions.h"
#include "recorded_run.h"

enum { SAMPLES = 40, EACH = 16, RING = 1, DAMAGED = 2, OPEN = 4, PART = 8, MORE = 16 };

static tsn_vital_header header;
static tsn_vital_record sample[SAMPLES];

static uint64_t word_of(const uint8_t *data, int bytes) {
  uint64_t word = 0;
  memcpy(&word, data, (size_t)bytes);
  return word;
}

static const int32_t unusual[] = {-1, 999, 65536, INT32_MIN};

/* Byte 0 of a sample: 1 of the process, 2 a bad check, 4 an unusual thread, 8 no number. */
static void take_sample(const uint8_t *data, uint64_t slot, uint64_t number,
                        const tsn_vital_record *like) {
  tsn_vital_record *s = &sample[slot];
  *s = *like;
  s->time = like->time + word_of(data + 1, 3);
  s->stream = data[0] & 1 ? TSN_VITAL_PROCESS : data[4];
  s->thread = data[0] & 1 ? -1 : data[5] & 127;
  if (data[0] & 4) s->thread = unusual[data[5] % 4];
  s->state = data[6];
  s->cpu = data[7] == 255 ? TSN_UNAVAILABLE : word_of(data + 7, 6);
  s->wait = s->voluntary = s->resident = word_of(data + 9, 5);
  s->sequence = data[0] & 8 ? 0 : number;
  s->check = tsn_vital_check(s, header.unordered ? s->sequence : slot) + (data[0] & 2);
}

/* Samples that a reader keeps: of a file in order those before the first damaged one; and which of
 * them it shows. Of the team of an opener but the first, that is the only stream. */
static size_t count_intact(size_t samples, size_t *shown) {
  size_t intact = 0;
  *shown = 0;
  for (size_t i = 0; i < samples; i++) {
    const tsn_vital_record *s = &sample[i];
    bool of_process = s->stream == TSN_VITAL_PROCESS;
    int32_t opener = s->thread >> TSN_REGIONS_OPENER_SHIFT;
    bool is_good =
        s->check == tsn_vital_check(s, header.unordered ? s->sequence : i) && s->time &&
        (of_process ? s->thread == -1 : s->thread >= 0 && opener < TSN_REGIONS_OPENERS);
    if (!is_good && !header.unordered) break;
    intact += is_good;
    *shown += is_good && (of_process || opener == 0 || s->stream == 0);
  }
  return intact;
}

static size_t count_samples(tsanom_runs *run) {
  const tsanom_hsa_vital *found;
  size_t all = 0, count = 0;
  for (int32_t thread = TSANOM_RUNS_PROCESS; thread <= 128; thread++) {
    int32_t wanted = thread < 128 ? thread : 999;
    if (tsanom_runs_vitals(run, wanted, NULL, &found, &count) != TSANOM_OK) continue;
    all += count;
    for (size_t i = 1; i < count; i++) {
      if (found[i].thread != found[0].thread) abort();
    }
  }
  return all;
}

static void write_samples(size_t samples, const uint8_t *data, size_t part) {
  static unsigned char file[(1 + SAMPLES + 1) * TSN_VITAL_RECORD];
  memcpy(file, &header, sizeof header);
  memcpy(file + sizeof header, sample, samples * sizeof *sample);
  if (part) memcpy(file + (1 + samples) * TSN_VITAL_RECORD, data, part);
  write_file(TSN_VITAL_FILE, file, (1 + samples) * TSN_VITAL_RECORD + part);
}

static void look(int32_t salvage, size_t samples, size_t whole) {
  tsanom_fault fault;
  tsanom_runs *run = open_run(folder, salvage, &fault);
  if (!run) return;
  size_t count = count_samples(run), shown, intact = count_intact(samples, &shown);
  if (count > samples || (!header.unordered && count && count != shown)) abort();
  if (!salvage && !header.unordered && (intact != samples || count != shown)) abort();
  if (whole > samples) write_samples(whole, NULL, 0);
  if (tsanom_runs_refresh(run, NULL, NULL) == TSANOM_OK && count_samples(run) > whole) {
    abort();
  }
  tsanom_runs_destroy(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 + EACH) return 0;
  if (!*folder) record_whole("");
  tsn_vital_record like;
  uint8_t how = data[0];
  size_t whole = (size - 1) / EACH < SAMPLES ? (size - 1) / EACH : SAMPLES;
  size_t samples = how & MORE ? whole / 2 : whole;
  memcpy(&header, whole_vital, sizeof header);
  memcpy(&like, whole_vital + TSN_VITAL_RECORD, sizeof like);
  header.unordered = how & RING;
  header.state = how & OPEN ? TSN_RUNNING : TSN_FINISHED;
  header.count = how & OPEN ? 0 : samples;
  if (how & DAMAGED) ((unsigned char *)&header)[8 + data[1] % 112] ^= data[2];
  header.checksum = tsn_checksum(&header, offsetof(tsn_vital_header, checksum));
  for (size_t i = 0, number = 0; i < whole; i++) {
    const uint8_t *from = data + 1 + i * EACH;
    number += header.unordered ? from[15] % 4 : 1;
    take_sample(from, i, number, &like);
  }
  for (int32_t salvage = 0; salvage < 2; salvage++) {
    write_samples(samples, data, how & PART ? data[3] % TSN_VITAL_RECORD % size : 0);
    look(salvage, samples, whole);
  }
  return 0;
}
