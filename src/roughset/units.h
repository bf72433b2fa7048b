/* SPDX-License-Identifier: BSD-3-Clause */
/* A table reduced to what its elements depend on: one unit for each class of rows that
 * count as equal, with a label such that two units must be discerned only if their labels
 * differ. Units are sorted by label, so that the units to discern from unit i and not
 * paired before are the consecutive ones from next[i] on:
 *
 *     unit     0  1  2 | 3  4 | 5  6  7
 *     label    0  0  0 | 1  1 | 2  2  2
 *     next     3  3  3 | 5  5 | 8  8  8      pairs of unit 1: (1,3) (1,4) ... (1,7)
 *
 * See units.c for the labels of each reading. */
#ifndef TSN_ROUGHSET_UNITS_H
#define TSN_ROUGHSET_UNITS_H

#include "roughset/elements_kernel.h"
#include "roughset/table.h"

/* The units of one table. The arrays belong to tsn_rs_unit_buffers. */
typedef struct {
  size_t units;
  uint32_t *row;   /* a row of the unit */
  uint32_t *label; /* the label */
  uint32_t *next;  /* the first unit of the next label */
  size_t labels;
  /* Packed codes; the sets of a kernel hold the varying attributes only: bit e of such a
   * set is attribute[e] of the table. Constant attributes discern nothing. */
  tsn_rs_packed packed;
  size_t effective;    /* attributes that vary */
  uint32_t *attribute; /* the attribute of each of them */
  /* Wildcards only: which pairs of different labels must be discerned. Indiscernibility
   * is not transitive then, so that labels alone cannot express it. */
  size_t decision_words;
  uint64_t *delta;     /* generalized: delta of each unit; else NULL */
  uint8_t *consistent; /* positive region: whether |delta| = 1; else NULL */
} tsn_rs_units;

/* Buffers to form units, for a number of rows and attributes; `units` is the result. */
typedef struct {
  tsn_rs_index index;
  uint32_t *group, *decision;               /* of each row */
  uint32_t *unit_label, *unit_row, *starts; /* units in order of appearance */
  uint64_t *key, *key_scratch;              /* group and decision of a row */
  int32_t *pairs;                           /* the same, as a table of two columns */
  uint64_t *set;
  uint32_t *word, *shift;
  int32_t *least;    /* per attribute that varies: its least value, */
  uint32_t *largest; /* and its largest code */
  tsn_rs_units units;
} tsn_rs_unit_buffers;

/* Buffers for the units of one table, and for their packed codes if `pack`: O(rows *
 * attributes) memory with codes, O(rows) without. With wildcards, the generalized reading
 * takes rows^2 bits more. */
void tsn_rs_units_layout(tsn_arena *arena, const tsn_rs_input *input, bool pack,
                         tsn_rs_unit_buffers *buffers);

/* Form the units of a table. With wildcards a unit is a class of identical rows
 * of one decision, and `pack` is needed for the readings but the ordinary one.
 * Returns TSANOM_OK, or TSANOM_STOPPED if the poll stopped the call. */
tsanom_status tsn_rs_units_form(const tsn_rs_input *input, bool pack,
                                tsn_rs_unit_buffers *buffers);

/* Whether two units with different labels must be discerned. Always, unless there are
 * wildcards: then the definition of the reading is applied to the pair (docs/roughset.md,
 * "Readings"). */
static inline bool tsn_rs_required(const tsn_rs_units *units, size_t i, size_t j) {
  if (units->consistent) return units->consistent[i] || units->consistent[j];
  if (units->delta) {
    const uint64_t *a = units->delta + i * units->decision_words;
    const uint64_t *b = units->delta + j * units->decision_words;
    return !tsn_rs_has(a, units->label[j]) || !tsn_rs_has(b, units->label[i]);
  }
  return true;
}

#endif
