/* SPDX-License-Identifier: BSD-3-Clause */
/* Status texts and the version. A list to search rather than an array by value: positive
 * and negative statuses each grow at their end, and texts are rarely needed. */
#include <tsanom/base.h>

typedef struct {
  tsanom_status status;
  const char *name;
  const char *text;
} status_entry;

#define ENTRY(status, text) \
  { status, #status, text }

static const status_entry entries[] = {
    ENTRY(TSANOM_OK, "success"),
    ENTRY(TSANOM_STOPPED, "stopped by the poll function"),
    ENTRY(TSANOM_PARTIAL, "a limit was reached; the result so far is valid"),
    ENTRY(TSANOM_INFEASIBLE, "nothing satisfies the constraints"),
    ENTRY(TSANOM_CUTOFF, "abandoned because the result exceeds the cut-off"),
    ENTRY(TSANOM_RANK_DEFICIENT, "the data determine only the smaller model returned"),
    ENTRY(TSANOM_E_NULL, "a required pointer is NULL"),
    ENTRY(TSANOM_E_COUNT, "a count is zero or too small for the method"),
    ENTRY(TSANOM_E_OPTION, "an option or parameter is out of its range"),
    ENTRY(TSANOM_E_OVERFLOW, "a size does not fit the address space"),
    ENTRY(TSANOM_E_NONFINITE, "a sample is NaN or infinite"),
    ENTRY(TSANOM_E_WORKSPACE, "the workspace is smaller than the size query returns"),
    ENTRY(TSANOM_E_MEMORY, "the allocator returned NULL"),
    ENTRY(TSANOM_E_VERSION,
          "a struct has a size or a field that this version does not support"),
    ENTRY(TSANOM_E_EXEC,
          "the number of threads is negative, only one of alloc and dealloc is set, or "
          "the instruction-set level is not available on this machine"),
    ENTRY(TSANOM_E_STATE, "the object does not allow this call in its present state"),
    ENTRY(TSANOM_E_IO, "a file operation failed"),
    ENTRY(TSANOM_E_FORMAT, "a file or a model is damaged or of another format"),
    ENTRY(TSANOM_E_ORDER, "samples that must increase do not"),
    ENTRY(TSANOM_E_VALUE, "a sample is outside the range of the method"),
    ENTRY(TSANOM_E_INDEX, "an index is out of range"),
};

static const status_entry *find_entry(tsanom_status status) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (entries[i].status == status) return &entries[i];
  }
  return NULL;
}

const char *tsanom_status_text(tsanom_status status) {
  const status_entry *entry = find_entry(status);
  return entry ? entry->text : "unknown status";
}

const char *tsanom_status_name(tsanom_status status) {
  const status_entry *entry = find_entry(status);
  return entry ? entry->name : "?";
}

#define TEXT(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *tsanom_version(void) {
  return VERSION_TEXT(TSANOM_VERSION_MAJOR, TSANOM_VERSION_MINOR, TSANOM_VERSION_PATCH);
}
