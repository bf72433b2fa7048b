/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a run, which are there even if nothing was recorded. Those of a rank are
 * in the directory of the job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/fault.h"
#include "record/format.h"
#include "runs/memory.h"
#include "runs/source.h"
#include "runs/spmd.h"

static int by_number(const void *a, const void *b) {
  uint64_t x = ((const tsn_message *)a)->number, y = ((const tsn_message *)b)->number;
  return (x > y) - (x < y);
}

static tsanom_status read_page(const tsn_source *source, tsn_message_page *page) {
  tsanom_status status = tsn_source_read(source, 0, page, sizeof *page);
  if (status < 0) return status;
  if (memcmp(page->magic, TSN_MESSAGES_MAGIC, sizeof page->magic) != 0 ||
      page->version != TSN_FORMAT_VERSION || page->bytes != sizeof *page) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 0,
                            "not a page of messages of version %d", TSN_FORMAT_VERSION);
  }
  return TSANOM_OK;
}

/* The latest messages, those before them first. */
static size_t take_messages(tsn_message_page *page, tsanom_runs_message *message,
                            size_t capacity) {
  size_t found = 0;
  qsort(page->message, TSN_MESSAGES, sizeof *page->message, by_number);
  while (found < TSN_MESSAGES && page->message[TSN_MESSAGES - 1 - found].number) found++;
  size_t skipped = found > capacity ? found - capacity : 0;
  for (size_t i = skipped; i < found; i++) {
    const tsn_message *from = &page->message[TSN_MESSAGES - found + i];
    tsanom_runs_message *to = &message[i - skipped];
    *to = (tsanom_runs_message){.number = from->number,
                                .time = (double)from->time * 1e-9,
                                .process = from->process,
                                .error = from->error};
    for (size_t c = 0; c < sizeof to->text - 1 && from->text[c]; c++) {
      unsigned char byte = (unsigned char)from->text[c];
      to->text[c] = byte < ' ' || byte == 0x7F ? '?' : from->text[c];
    }
  }
  return found;
}

/* The page of a directory, or of the job whose rank it is. Not inlined: a frame has at most 8 KiB. */
__attribute__((noinline)) static tsanom_status open_source(const char *path,
                                                           const tsanom_exec *exec,
                                                           tsn_source *source) {
  static const char *const parent[] = {"", "/.."};
  for (size_t i = 0; i < sizeof parent / sizeof *parent; i++) {
    char folder[PATH_MAX - 256];
    int length = snprintf(folder, sizeof folder, "%s%s/" TSN_RANKS_FILE, path, parent[i]);
    if (length < 0 || (size_t)length >= sizeof folder) break;
    if (i && access(folder, F_OK) != 0) break;
    folder[(size_t)length - sizeof TSN_RANKS_FILE] = '\0';
    *source = tsn_source_named(exec, folder, TSN_MESSAGES_FILE);
    if (access(source->path, F_OK) == 0) return tsn_source_open(source);
  }
  return TSANOM_E_STATE;
}

tsanom_status tsanom_runs_messages(const char *path, const tsanom_exec *exec,
                                   tsanom_runs_message *messages, size_t capacity,
                                   size_t *count) {
  tsanom_exec own;
  tsn_source source;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  if (!messages && capacity) return tsn_reject_null(&own, "messages", capacity);
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  status = open_source(path, &own, &source);
  if (status == TSANOM_E_STATE) {
    *count = 0;
    return TSANOM_OK;
  }
  if (status < 0) return status;
  tsn_pool pool = {.exec = &own};
  tsn_message_page *page = tsn_pool_take(&pool, 1, sizeof *page);
  if (!page) {
    tsn_source_close(&source);
    return tsn_reject_memory(&own, sizeof *page);
  }
  status = read_page(&source, page);
  tsn_source_close(&source);
  if (status == TSANOM_OK) {
    *count = take_messages(page, messages, capacity);
    if (capacity && capacity < *count) status = TSANOM_PARTIAL;
  }
  tsn_pool_free(&pool);
  return status;
}
