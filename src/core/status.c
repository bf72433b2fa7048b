/* SPDX-License-Identifier: BSD-3-Clause */
/* Status texts and the version. */
#include <tsanom/base.h>

typedef struct {
  tsanom_status status;
  const char *name;
  const char *text;
} status_entry;

#define ENTRY(status, text) \
  { status, #status, text }

static const status_entry entries[] = {
    ENTRY(TSANOM_OK, "done"),
    ENTRY(TSANOM_STOPPED, "stopped because the poll function asked for it"),
    ENTRY(TSANOM_PARTIAL, "a limit was reached; what was found is valid but not all"),
    ENTRY(TSANOM_INFEASIBLE, "nothing satisfies the constraints given"),
    ENTRY(TSANOM_CUTOFF, "abandoned because the result lies above the cut-off"),
    ENTRY(TSANOM_RANK_DEFICIENT,
          "the data determine only a smaller model, which is given"),
    ENTRY(TSANOM_E_NULL, "a required pointer is NULL"),
    ENTRY(TSANOM_E_COUNT, "a count is zero or too small for the method"),
    ENTRY(TSANOM_E_OPTION, "an option or parameter is out of its range"),
    ENTRY(TSANOM_E_OVERFLOW, "the sizes are too large for the address space"),
    ENTRY(TSANOM_E_NONFINITE, "a NaN or an infinity is among the samples"),
    ENTRY(TSANOM_E_WORKSPACE, "the workspace is smaller than the size query asks for"),
    ENTRY(TSANOM_E_MEMORY, "the allocator gave no memory"),
    ENTRY(TSANOM_E_VERSION,
          "a struct has a size or a field that this version does not know"),
    ENTRY(TSANOM_E_EXEC,
          "the thread count is negative, the allocator is half set, or the "
          "instruction-set level is not available on this machine"),
    ENTRY(TSANOM_E_STATE, "the object is not in a state that allows this call"),
    ENTRY(TSANOM_E_IO, "the operating system refused a file operation"),
    ENTRY(TSANOM_E_FORMAT, "a file or a model is damaged or of another kind"),
    ENTRY(TSANOM_E_ORDER, "samples that must increase do not"),
    ENTRY(TSANOM_E_VALUE, "a sample is outside the range of the method"),
};

static const status_entry *find_entry(tsanom_status status) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (entries[i].status == status) return &entries[i];
  }
  return NULL;
}

const char *tsanom_status_text(tsanom_status status) {
  const status_entry *entry = find_entry(status);
  return entry ? entry->text : "a status that this version does not know";
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
