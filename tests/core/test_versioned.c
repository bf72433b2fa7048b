/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of callers of older and newer releases, tried on a struct that got one field
 * more. What a caller does not know has its default, a field that the library does not
 * know must be 0, and nothing is written beyond the caller's struct. */
#include <string.h>

#include "core/versioned.h"
#include "support/check.h"

typedef struct {
  size_t struct_size;
  int64_t first;
  int64_t appended; /* in a later release */
} options;

static const options defaults = {sizeof(options), 7, 9};
static const tsn_versioned type = {sizeof(options), offsetof(options, appended),
                                   &defaults};

/* Not inline: gcc warns about the copy of a whole struct from a smaller one, which never
 * takes place. */
static __attribute__((noinline)) tsanom_status read_options(options *own,
                                                            const void *caller) {
  return tsn_versioned_read(&type, own, caller);
}

Test(versioned, null_means_the_defaults) {
  options own;
  CHECK_STATUS(read_options(&own, NULL), TSANOM_OK);
  cr_assert(own.first == 7 && own.appended == 9);
}

Test(versioned, an_older_caller_gets_the_default_of_what_it_does_not_know) {
  struct {
    size_t struct_size;
    int64_t first;
  } older;
  options own;
  CHECK_STATUS(tsn_versioned_init(&type, &older, sizeof older), TSANOM_OK);
  cr_assert(older.struct_size == sizeof older && older.first == 7);
  older.first = 8;
  CHECK_STATUS(read_options(&own, &older), TSANOM_OK);
  cr_assert(own.first == 8 && own.appended == 9);
}

Test(versioned, a_newer_caller_is_served_until_it_sets_an_unknown_field) {
  struct {
    options known;
    int64_t unknown;
  } newer;
  memset(&newer, 0xFF, sizeof newer);
  options own;
  CHECK_STATUS(tsn_versioned_init(&type, &newer, sizeof newer), TSANOM_OK);
  cr_assert(newer.unknown == 0);
  CHECK_STATUS(read_options(&own, &newer), TSANOM_OK);
  cr_assert(own.struct_size == sizeof own);
  for (int bit = 0; bit < 63; bit++) {
    newer.unknown = INT64_C(1) << bit;
    CHECK_STATUS(read_options(&own, &newer), TSANOM_E_VERSION);
  }
}

Test(versioned, a_struct_smaller_than_the_first_is_rejected) {
  options own, caller = defaults;
  caller.struct_size = 0;
  CHECK_STATUS(read_options(&own, &caller), TSANOM_E_VERSION);
  CHECK_STATUS(tsn_versioned_init(&type, &caller, sizeof(size_t)), TSANOM_E_VERSION);
  CHECK_STATUS(tsn_versioned_init(&type, NULL, sizeof caller), TSANOM_E_NULL);
}

Test(versioned, an_output_struct_is_filled_as_far_as_the_caller_knows) {
  options own = {sizeof own, 1, 2};
  struct {
    options known;
    int64_t unknown;
  } newer = {.known = {.struct_size = sizeof newer}, .unknown = 5};
  CHECK_STATUS(tsn_versioned_check(&type, &newer), TSANOM_OK);
  tsn_versioned_write(&type, &newer, &own);
  cr_assert(newer.known.struct_size == sizeof newer && newer.known.first == 1);
  cr_assert(newer.known.appended == 2 && newer.unknown == 0);

  options older = {offsetof(options, appended), 0, 77};
  CHECK_STATUS(tsn_versioned_check(&type, &older), TSANOM_OK);
  tsn_versioned_write(&type, &older, &own);
  cr_assert(older.struct_size == offsetof(options, appended) && older.first == 1);
  cr_assert(older.appended == 77, "beyond the caller's struct");

  older.struct_size = offsetof(options, appended) - 1;
  CHECK_STATUS(tsn_versioned_check(&type, &older), TSANOM_E_VERSION);
  CHECK_STATUS(tsn_versioned_check(&type, NULL), TSANOM_E_NULL);
}
