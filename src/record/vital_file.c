/* SPDX-License-Identifier: BSD-3-Clause */
/* The samples in heartbeat.vital. Without a limit, sample n is in slot n. With one, the
 * file has a fixed number of slots, and what is overwritten is chosen as a clock's hand
 * passes them:
 *
 *   slots   0 1 2 3 4 5 6 7
 *   full    0 8 2 9 4 . 6 7      s = 2: samples 1 and 3 were overwritten, 5 is the next
 *                 hand ^
 *
 * A sample stays if it is one of the latest, a quarter of the slots, or if its number
 * among those of its thread is a multiple of the stride s. When the hand has found less
 * than a quarter of the slots in a turn, s doubles. So the samples that stay cover the
 * whole run, and the intervals between them double as it gets longer.
 *
 * Of each stream the first sample always stays. Therefore the slots are four for each
 * stream at least, and the hand finds half of them when s is large.
 *
 * No sample moves, and one is written by one pwrite() within a page, which SIGKILL does
 * not cut in two. The header says that there is no order before the first sample is
 * overwritten. */
#include <unistd.h>

#include "record/vital.h"

static uint64_t capacity(const tsn_vital_board *board) {
  enum { OF_A_STREAM = 4 };
  uint64_t least = OF_A_STREAM * ((uint64_t)board->streams + 1);
  if (!board->most) return UINT64_MAX;
  return board->most > least ? board->most : least;
}

static off_t offset_of(uint64_t slot) {
  return (off_t)((1 + slot) * TSN_VITAL_RECORD);
}

/* A file that something else has written to makes neither an endless loop nor s = 0. */
static bool stays(const tsn_vital_board *board, int file, uint64_t slot) {
  tsn_vital_record record;
  if (pread(file, &record, sizeof record, offset_of(slot)) != sizeof record) return false;
  return board->stride >> 62 == 0 && record.sequence < board->count &&
         (board->count - record.sequence < board->slots / 4 ||
          record.number % board->stride == 0);
}

/* Of a file whose slots are all in use: the next one that may be overwritten. */
static uint64_t advance_hand(tsn_vital_board *board, int file) {
  for (;;) {
    if (board->hand == board->slots) {
      if (board->found < board->slots / 4) board->stride *= 2;
      board->hand = board->found = 0;
    }
    uint64_t slot = board->hand++;
    if (!stays(board, file, slot)) {
      board->found++;
      return slot;
    }
  }
}

/* Note in the header that the samples have no order. */
static bool give_up_order(tsn_vital_board *board, int file) {
  tsn_vital_header header;
  const tsn_file own = {.descriptor = file};
  if (board->stride > 1) return true;
  if (pread(file, &header, sizeof header, 0) != sizeof header) return false;
  header.unordered = 1;
  header.checksum = tsn_checksum(&header, offsetof(tsn_vital_header, checksum));
  if (tsn_file_write(&own, &header, sizeof header, 0) != 0) return false;
  board->stride = 2;
  board->hand = board->found = 0;
  return true;
}

static bool write_at(tsn_vital_board *board, int file, tsn_vital_record *record,
                     size_t count, uint64_t slot) {
  const tsn_file own = {.descriptor = file};
  for (size_t i = 0; i < count; i++) {
    record[i].sequence = board->count + i;
    record[i].check = tsn_vital_check(&record[i], record[i].sequence);
  }
  return tsn_file_fits(offset_of(slot + count)) &&
         tsn_file_write(&own, record, count * sizeof *record, offset_of(slot)) == 0;
}

/* A reader takes the samples of a piece that could not be written whole, unless they are
 * removed. */
static bool append(tsn_vital_board *board, int file, tsn_vital_record *record,
                   size_t count) {
  uint64_t slot = board->slots;
  if (!write_at(board, file, record, count, slot)) {
    (void)!ftruncate(file, offset_of(slot));
    return false;
  }
  board->slots += count;
  return true;
}

void tsn_vital_write(tsn_vital_board *board, int file, tsn_vital_record *record,
                     size_t count) {
  for (size_t piece; count; record += piece, count -= piece) {
    uint64_t free = capacity(board) - board->slots;
    piece = free ? (free < count ? (size_t)free : count) : 1;
    bool written =
        free ? append(board, file, record, piece)
             : give_up_order(board, file) &&
                   write_at(board, file, record, piece, advance_hand(board, file));
    if (written) {
      board->count += piece;
    } else {
      board->lost += piece;
    }
  }
}
