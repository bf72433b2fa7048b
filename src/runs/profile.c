/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows are read as they are in the file, which is written while the program runs:
 *
 *   row 0      the header
 *   row k      in a row before it, or of a thread; check of what the row is of
 *   row n      kind 0, check 0: not written yet, as are all behind it
 *
 * The sums in a row have no check: the program adds to them at any moment. */
#include "runs/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/exec.h"
#include "record/format.h"
#include "runs/source.h"

/* Rows in a row, a thread and 64 nested regions with a call of MPI in the innermost. */
enum { BYTES_MOST = 1 << 24, DEPTH_MOST = 66 };

static bool is_valid(const tsn_regions_row *row, size_t at) {
  bool is_outer = row->kind == TSN_REGIONS_ROW_THREAD;
  return row->kind >= TSN_REGIONS_ROW_THREAD && row->kind <= TSN_REGIONS_ROW_BEATS &&
         row->place < TSN_REGIONS_PLACES_MAX && (row->parent == 0) == is_outer &&
         row->parent < at &&
         row->check == tsn_checksum(row, offsetof(tsn_regions_row, visits));
}

/* Computations are directly in threads, where their regions find their call, and so are
 * beats, in which nothing is. Names and calls grow with the depth, which the recorder
 * limits, too. */
static bool fits(const tsn_regions_row *rows, size_t at) {
  uint32_t outer = rows[rows[at].parent].kind;
  int depth = 0;
  for (size_t row = at; row; row = rows[row].parent) {
    if (++depth > DEPTH_MOST) return false;
  }
  return rows[at].kind < TSN_REGIONS_ROW_COMPUTATION ? outer != TSN_REGIONS_ROW_BEATS
                                                     : outer == TSN_REGIONS_ROW_THREAD;
}

static tsanom_status check_rows(const tsn_source *source, const tsn_regions_row *rows,
                                size_t stored, size_t *count) {
  tsn_regions_profile head;
  memcpy(&head, rows, sizeof head);
  if (memcmp(head.magic, TSN_REGIONS_PROFILE_MAGIC, sizeof head.magic) != 0 ||
      head.version != 1 || head.row_bytes != sizeof *rows) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 0,
                            "not a file of totals of version 1");
  }
  for (*count = 1; *count < stored && rows[*count].check; ++*count) {
    if (is_valid(&rows[*count], *count) && fits(rows, *count)) continue;
    return tsn_source_fault(source, TSANOM_E_FORMAT, *count * sizeof *rows,
                            "row %zu is damaged", *count);
  }
  return TSANOM_OK;
}

tsanom_status tsn_profile_read(const char *directory, tsanom_fault *damage,
                               const tsanom_exec *exec, tsn_profile *profile) {
  tsn_source source = tsn_source_named(exec, directory, "%s", TSN_REGIONS_PROFILE);
  struct stat about;
  if (stat(source.path, &about) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return TSANOM_OK;
  }
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  tsn_regions_row *rows;
  size_t stored = source.size < BYTES_MOST ? (size_t)source.size / sizeof *rows : 0;
  rows = tsn_pool_take(&profile->pool, stored, sizeof *rows);
  status = rows ? tsn_source_read(&source, 0, rows, stored * sizeof *rows)
                : tsn_source_no_memory(&source);
  if (rows && status == TSANOM_OK) {
    status = check_rows(&source, rows, stored, &profile->count);
  }
  profile->row = rows;
  tsn_source_close(&source);
  return tsn_salvages(exec, status, damage) ? TSANOM_OK : status;
}

void tsn_profile_number(tsn_profile *profile, uint32_t opener) {
  for (size_t k = 1; k < profile->count && !profile->is_numbered; k++) {
    tsn_regions_row *row = &profile->row[k];
    row->thread = (uint32_t)tsn_number_in_team((int32_t)row->thread, opener);
  }
  profile->is_numbered = profile->count > 0;
}
