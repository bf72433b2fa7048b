/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Rough sets: which attributes of a decision table tell its decisions apart.
 *
 *  A decision table has rows x, condition attributes a and one decision D, all
 *  coded as int32. Two rows with different decisions are told apart by the
 *  attributes of their discernibility element { a : a(x) != a(y) }. A set of
 *  attributes that meets every element preserves all the table knows; a minimal
 *  one is a reduct; the attributes that are in all reducts, which are the
 *  elements of one attribute, are the core. Finding a smallest reduct is NP-hard
 *  (A. Skowron and C. Rauszer, 1992), so everything here is exact, and what can
 *  take long can be stopped and keeps what it had found.
 *
 *  Sets of attributes are bitsets of `words` = (attributes + 63) / 64 words:
 *  attribute a is bit a % 64 of word a / 64; the bits above are 0.
 *
 *  Source: Z. Pawlak, Rough Sets (1991), and section 4 of "A Novel Similarity
 *  Analysis and Rough Set Method" for SPMD programs, whose discernibility matrix
 *  and step 3 are tsanom_roughset_matrix() and tsanom_roughset_paper_choice().
 *  Calls with distinct workspaces may run at once. */
#ifndef TSANOM_ROUGHSET_H
#define TSANOM_ROUGHSET_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The code of a missing condition value. A decision is never missing. */
#define TSANOM_ROUGHSET_MISSING INT32_MIN

/** What must be preserved when equal rows carry different decisions. Let
 *  delta(x) be the decisions of the rows that no attribute tells from x. The
 *  readings agree on a consistent table. ABI: append, never renumber. */
enum {
  /** Every pair of rows with different decisions that some attribute tells
   *  apart; the others, the paper's -1 elements, are dropped (default). */
  TSANOM_ROUGHSET_ORDINARY = 0,
  /** The positive region: pairs with different decisions of which at least one
   *  row has |delta| = 1. */
  TSANOM_ROUGHSET_POSITIVE_REGION = 1,
  /** The generalised decision: pairs of rows with D(y) not in delta(x), or
   *  D(x) not in delta(y). */
  TSANOM_ROUGHSET_GENERALISED = 2
};

/** What a missing value equals. ABI: append, never renumber. */
enum {
  /** Only another missing value (default). */
  TSANOM_ROUGHSET_OWN_VALUE = 0,
  /** Every value: an attribute missing in x or y is not in their element. This
   *  likeness is not transitive, so that all pairs of rows must be looked at. */
  TSANOM_ROUGHSET_WILDCARD = 1
};

/** A view of a decision table: fill by tsanom_roughset_table_init(), then set
 *  the fields. The arrays are only read. */
typedef struct tsanom_roughset_table {
  size_t struct_size;      /**< set by _init: which fields this caller knows */
  size_t rows;             /**< 1 ... 2^31 - 1 */
  size_t attributes;       /**< condition attributes, 1 ... 2^31 - 1 */
  size_t stride;           /**< codes from one row to the next, >= attributes;
                                0: attributes */
  const int32_t *values;   /**< values[x * stride + a] = a(x), or
                                ::TSANOM_ROUGHSET_MISSING */
  const int32_t *decision; /**< decision[x] = D(x), any code but
                                ::TSANOM_ROUGHSET_MISSING */
} tsanom_roughset_table;

/** What to compute: fill by tsanom_roughset_options_init(), then change fields. */
typedef struct tsanom_roughset_options {
  size_t struct_size;   /**< set by _init: which fields this caller knows */
  int32_t reading;      /**< TSANOM_ROUGHSET_ORDINARY ...; ordinary (default) */
  int32_t missing;      /**< TSANOM_ROUGHSET_OWN_VALUE (default) or _WILDCARD */
  int32_t absorb;       /**< 1: only minimal elements (default); 0: all distinct
                             ones. Read by tsanom_roughset_elements() */
  int32_t reserved0;    /**< must be 0 */
  size_t element_limit; /**< elements held at once, and so the memory; never more
                             than there are pairs of rows; 2^20 (default) */
  size_t reduct_limit;  /**< visit so many reducts at most; SIZE_MAX (default) */
  size_t size_limit;    /**< visit only reducts of at most so many attributes;
                             SIZE_MAX (default) */
} tsanom_roughset_options;

/** Receives one set of attributes; called by the calling thread only.
 *  @param user    as handed to the function that visits
 *  @param reduct  the bitset; valid during the call
 *  @param size    how many attributes it has
 *  @return nonzero asks to stop */
typedef int32_t (*tsanom_roughset_visit)(void *user, const uint64_t *reduct, size_t size);

/** Write an empty view.
 *  @param[out] table        the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     table is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_roughset_table_init(tsanom_roughset_table *table,
                                                    size_t struct_size);

/** Write the defaults described at ::tsanom_roughset_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_roughset_options_init(tsanom_roughset_options *options,
                                                      size_t struct_size);

/** Bytes of workspace that tsanom_roughset_elements() needs: O(rows attributes +
 *  element_limit attributes / 8), and 2^attributes / 8 for each thread up to 26
 *  attributes. Monotone in rows and attributes.
 *  @param      rows        of the table, >= 1
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_elements_workspace(
    size_t rows, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The discernibility elements that the reading asks for, without the empty
 *  ones: deduplicated and, unless options->absorb is 0, only those that contain
 *  no other. Their minimal hitting sets are the reducts; no element means that
 *  the empty set is the one reduct. The n x n matrix is never held.
 *
 *  Equal rows count once, so that with c classes of rows this looks at up to
 *  c(c-1)/2 pairs, in parallel. Up to 26 attributes a bitmap of all subsets
 *  holds the elements, O(pairs + attributes 2^attributes / 64); beyond, and for
 *  few pairs, a hash set that is absorbed through a transposed index.
 *  @param      table     the decision table
 *  @param      options   NULL: the defaults; reading, missing, absorb and
 *                        element_limit are read
 *  @param      exec      NULL: one thread, no poll
 *  @param      work      scratch that overlaps nothing; NULL: one block is
 *                        borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_roughset_elements_workspace()'s answer
 *  @param[out] elements  capacity * words words: the first elements in order of
 *                        size, then of their words from the last to the first;
 *                        may be NULL if capacity is 0
 *  @param      capacity  elements that fit
 *  @param[out] count     how many elements there are, beyond capacity too
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @retval TSANOM_STOPPED  the poll asked to stop: the elements of the pairs
 *                          looked at so far were written, as for OK
 *  @retval TSANOM_E_NULL       a required pointer, an array of table too
 *  @retval TSANOM_E_COUNT      the table has no row or no attribute
 *  @retval TSANOM_E_OPTION     a field of options or of table out of its range
 *  @retval TSANOM_E_VALUE      a decision is missing
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small, or more elements than
 *                              options->element_limit are needed at once
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_roughset_elements(const tsanom_roughset_table *table,
                                                  const tsanom_roughset_options *options,
                                                  const tsanom_exec *exec, void *work,
                                                  size_t work_bytes, uint64_t *elements,
                                                  size_t capacity, size_t *count);

/** Bytes of workspace that tsanom_roughset_matrix() needs, O(rows), and O(rows^2 / 8) for
 * the generalised decision. Parameters and answers as for
 *  tsanom_roughset_elements_workspace().
 *  @param      rows        of the table, >= 1
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_matrix_workspace(
    size_t rows, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The upper triangle of the discernibility matrix, for those who want to see it:
 *  pair (i, j), i < j, is at p = i (2 rows - i - 1) / 2 + j - i - 1, row by row.
 *  O(rows^2 attributes) time.
 *  @param      table     the decision table
 *  @param      options   NULL: the defaults; reading and missing are read
 *  @param      exec      NULL: one thread, no poll
 *  @param      work      scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_matrix_workspace()'s answer
 *  @param[out] elements  rows (rows-1) / 2 * words words: the element of a pair
 *                        whose kind is 1, else the empty set; may be NULL
 *  @param[out] kind      rows (rows-1) / 2 values: 1 an element, 0 nothing to
 *                        tell apart, -1 an inconsistent pair (decisions differ
 *                        and no attribute tells them apart)
 *  @retval TSANOM_STOPPED  the poll asked to stop: the outputs hold only a part
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_matrix(const tsanom_roughset_table *table,
                                                const tsanom_roughset_options *options,
                                                const tsanom_exec *exec, void *work,
                                                size_t work_bytes, uint64_t *elements,
                                                int32_t *kind);

/** The inconsistent pairs: rows with different decisions that no attribute tells
 *  apart. O(rows attributes + pairs) time; with wildcards O(rows^2 attributes).
 *  @param      table       the decision table
 *  @param      options     NULL: the defaults; missing is read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_dependency_workspace()'s answer
 *  @param[out] pairs       2 * capacity row numbers i < j: the first pairs in
 *                          order of i, then j; may be NULL if capacity is 0
 *  @param      capacity    pairs that fit
 *  @param[out] count       how many pairs there are, beyond capacity too
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @retval TSANOM_STOPPED  the poll asked to stop: count pairs were found
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_inconsistent(
    const tsanom_roughset_table *table, const tsanom_roughset_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, size_t *pairs,
    size_t capacity, size_t *count);

/** Bytes of workspace that tsanom_roughset_core() needs, O(rows attributes).
 *  @param      rows        of the table, >= 1
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_core_workspace(
    size_t rows, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The core: the attributes that every reduct has, which are those whose removal
 *  leaves a pair that had to be told apart alike. Expected O(rows attributes)
 *  time by hashing rows without one attribute; with wildcards all pairs.
 *  @param      table       the decision table
 *  @param      options     NULL: the defaults; reading and missing are read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_core_workspace()'s answer
 *  @param[out] core        words words
 *  @retval TSANOM_STOPPED  the poll asked to stop: core is untouched
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_core(const tsanom_roughset_table *table,
                                              const tsanom_roughset_options *options,
                                              const tsanom_exec *exec, void *work,
                                              size_t work_bytes, uint64_t *core);

/** Bytes of workspace that tsanom_roughset_reducts() needs:
 *  O((threads + 1) attributes elements / 8), and 2^min(attributes, 24) / 4.
 *  Monotone in elements and attributes.
 *  @param      elements    how many there are
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_reducts_workspace(
    size_t elements, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** Visit every reduct: every minimal set that meets each of the elements, which
 *  need neither be distinct nor minimal. The order is the same for every thread
 *  count and instruction set, and otherwise unspecified.
 *
 *  The core is taken out, the rest split into connected components. A component
 *  of up to 24 attributes is solved in O(attributes 2^attributes / 64) whatever
 *  the number of its reducts, by bitmaps of the lattice of subsets; a larger one
 *  by the search of K. Murakami and T. Uno (MMCS, Discrete Appl. Math. 170,
 *  2014) on bitsets, in parallel.
 *  @param      elements    count * words words, as tsanom_roughset_elements()
 *                          writes them; only read; NULL if count is 0
 *  @param      count       elements; 0: the empty reduct is visited
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults; reduct_limit and size_limit are read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_reducts_workspace()'s answer
 *  @param      visit       called for each reduct; NULL: they are only counted
 *  @param      user        handed to visit
 *  @param[out] found       reducts visited; may be NULL
 *  @retval TSANOM_PARTIAL     reduct_limit were visited and there is one more
 *  @retval TSANOM_STOPPED     the poll or visit asked to stop; found is set
 *  @retval TSANOM_INFEASIBLE  an element is empty: no set meets it; found is 0
 *  @retval TSANOM_E_NULL      elements is NULL and count is not 0
 *  @retval TSANOM_E_COUNT     attributes is 0
 *  @retval TSANOM_E_VALUE     an element has a bit beyond attributes
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_reducts(
    const uint64_t *elements, size_t count, size_t attributes,
    const tsanom_roughset_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, tsanom_roughset_visit visit, void *user, size_t *found);

/** What is known of the size of the smallest reduct. */
typedef struct tsanom_roughset_bounds {
  size_t lower; /**< every reduct has at least so many attributes: proven */
  size_t upper; /**< so many attributes suffice: a set is known, a reduct unless
                     stopped before the greedy one was found */
} tsanom_roughset_bounds;

/** Bytes of workspace that tsanom_roughset_minimum() and
 *  tsanom_roughset_greedy() need: O(rows attributes + element_limit attributes),
 *  where no more than 2^16 elements are ever held unless wildcards are asked for.
 *  @param      rows        of the table, >= 1
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_minimum_workspace(
    size_t rows, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** A reduct with the fewest attributes, and the proof that there is no smaller.
 *
 *  The matrix is never built. Sizes k are excluded from below: a search for k
 *  attributes that meet all elements known so far asks the table, by hashing the
 *  rows projected on a candidate, for pairs the candidate does not tell apart,
 *  and learns their elements (an implicit hitting set). The upper bound starts
 *  at the greedy reduct. Stopped at any moment, both bounds hold. One thread.
 *  @param      table       the decision table
 *  @param      options     NULL: the defaults; reading, missing, element_limit
 *                          and, while visiting, reduct_limit are read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_minimum_workspace()'s answer
 *  @param      visit       called for each of the smallest reducts once their
 *                          size is proven; NULL: one is enough
 *  @param      user        handed to visit
 *  @param[out] bounds      equal unless stopped before the proof
 *  @param[out] reduct      words words: a set of bounds->upper attributes that suffices
 *  @param[out] found       reducts visited; may be NULL
 *  @retval TSANOM_STOPPED  the poll or visit asked to stop; the outputs hold
 *                          what is known
 *  @retval TSANOM_PARTIAL  reduct_limit were visited and there is one more, or
 *                          element_limit was reached; the outputs hold what is
 *                          known
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_minimum(
    const tsanom_roughset_table *table, const tsanom_roughset_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, tsanom_roughset_visit visit,
    void *user, tsanom_roughset_bounds *bounds, uint64_t *reduct, size_t *found);

/** A reduct found greedily, for tables too wide or too long for a proof: to the
 *  core add the attribute that tells apart most of the pairs of classes that are
 *  still alike (with wildcards: that meets most of the minimal elements left; the
 *  lowest one of equals), then drop, from the last to the first, what the rest
 *  makes superfluous. O(rows attributes reduct) time, O(rows attributes) memory; the
 *  matrix is never built (with wildcards, its elements are).
 *  @param      table       the decision table
 *  @param      options     NULL: the defaults; reading, missing and element_limit
 *                          are read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_minimum_workspace()'s answer
 *  @param[out] reduct      words words
 *  @param[out] size        how many attributes it has; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop: the outputs are untouched
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_greedy(const tsanom_roughset_table *table,
                                                const tsanom_roughset_options *options,
                                                const tsanom_exec *exec, void *work,
                                                size_t work_bytes, uint64_t *reduct,
                                                size_t *size);

/** Bytes of workspace that tsanom_roughset_paper_choice() needs: that of
 *  tsanom_roughset_reducts() and O(elements).
 *  @param      elements    how many there are
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_paper_choice_workspace(
    size_t elements, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The choice of the paper's steps 2 and 3, exact. Of the reducts with fewest
 *  attributes it visits those that "occur in the most times" when the clauses are
 *  multiplied out to a disjunctive form: reduct S occurs
 *  N(S) = prod over clauses c of |c intersected with S| times, where the clauses
 *  are the distinct elements, unabsorbed, that hold no attribute of the core. The
 *  products are compared as integers, never as floating-point numbers, and all
 *  that tie are visited. O(reducts elements words) beside finding the reducts.
 *  @param      elements    count * words words, from tsanom_roughset_elements()
 *                          with options->absorb = 0
 *  @param      count       elements; 0: the empty reduct is visited
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults; no limit in it is read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_paper_choice_workspace()'s
 *                          answer
 *  @param      visit       called for each reduct chosen; NULL: they are counted
 *  @param      user        handed to visit
 *  @param[out] found       reducts visited; may be NULL
 *  @retval TSANOM_STOPPED  the poll or visit asked to stop; found is set
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_reducts() */
TSANOM_API tsanom_status tsanom_roughset_paper_choice(
    const uint64_t *elements, size_t count, size_t attributes,
    const tsanom_roughset_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, tsanom_roughset_visit visit, void *user, size_t *found);

/** Bytes of workspace that tsanom_roughset_dependency(),
 *  tsanom_roughset_significance(), tsanom_roughset_inconsistent() and
 *  tsanom_roughset_rules() need, O(rows +
 *  attributes).
 *  @param      rows        of the table, >= 1
 *  @param      attributes  of the table, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_dependency_workspace(
    size_t rows, size_t attributes, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The positive region of a set B of attributes, POS_B = { x : every row that B
 *  does not tell from x has the decision of x }, and the dependency degree
 *  gamma_B = |POS_B| / rows. Expected O(rows |B|) time; with wildcards
 *  O(rows^2 |B|).
 *  @param      table       the decision table
 *  @param      subset      words words: B; NULL: all attributes
 *  @param      options     NULL: the defaults; missing is read
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_dependency_workspace()'s answer
 *  @param[out] positive    rows values, 1 for x in POS_B, else 0; may be NULL
 *  @param[out] size        |POS_B|; may be NULL
 *  @param[out] gamma       |POS_B| / rows; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_VALUE  subset has a bit beyond attributes
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_dependency(
    const tsanom_roughset_table *table, const uint64_t *subset,
    const tsanom_roughset_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, int32_t *positive, size_t *size, double *gamma);

/** The significance of each attribute a beside a set B: gamma_B less the gamma of
 *  B without a for a in B, the gamma of B with a less gamma_B for the others. Expected
 *  O(rows attributes |B|) time.
 *  @param      table         the decision table
 *  @param      subset        words words: B; NULL: all attributes
 *  @param      options       NULL: the defaults; missing is read
 *  @param      exec          NULL: one thread, no poll
 *  @param      work          scratch, or NULL as elsewhere
 *  @param      work_bytes    at least tsanom_roughset_dependency_workspace()'s
 *                            answer
 *  @param[out] significance  attributes values in [0, 1]
 *  @retval TSANOM_STOPPED  the poll asked to stop: significance holds only a part
 *  @retval TSANOM_E_VALUE  subset has a bit beyond attributes
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_significance(
    const tsanom_roughset_table *table, const uint64_t *subset,
    const tsanom_roughset_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, double *significance);

/** A decision rule: if the attributes of a set B have the values that row `row`
 *  has, then the decision is `decision`. */
typedef struct tsanom_roughset_rule {
  size_t row;        /**< the first row that fulfils condition and decision */
  size_t matching;   /**< rows that fulfil the condition */
  size_t support;    /**< rows that fulfil condition and decision; the
                          confidence is support / matching */
  int32_t decision;  /**< the decision, as coded in the table */
  int32_t reserved0; /**< 0 */
} tsanom_roughset_rule;

/** The decision rules of a set B of attributes, usually a reduct: one for each
 *  combination of values and decision that the table has. A missing value is a
 *  value of its own here. Expected O(rows |B|) time.
 *  @param      table       the decision table
 *  @param      subset      words words: B; NULL: all attributes
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_dependency_workspace()'s answer
 *  @param[out] rules       the first rules in order of their rows; may be NULL if
 *                          capacity is 0
 *  @param      capacity    rules that fit; rows are always enough
 *  @param[out] count       how many there are, beyond capacity too
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @retval TSANOM_E_VALUE  subset has a bit beyond attributes
 *  @return TSANOM_OK, or a refusal as for tsanom_roughset_elements() */
TSANOM_API tsanom_status tsanom_roughset_rules(const tsanom_roughset_table *table,
                                               const uint64_t *subset,
                                               const tsanom_exec *exec, void *work,
                                               size_t work_bytes,
                                               tsanom_roughset_rule *rules,
                                               size_t capacity, size_t *count);

/** How to choose the cuts of a numeric column. ABI: append, never renumber. */
enum {
  /** `bins` intervals of equal width between the smallest and largest sample. */
  TSANOM_ROUGHSET_EQUAL_WIDTH = 0,
  /** Up to `bins` intervals with as equal a number of samples as ties allow. */
  TSANOM_ROUGHSET_EQUAL_FREQUENCY = 1,
  /** Recursively the cut with the least entropy of the decision, as long as the
   *  minimum description length pays for it (U. Fayyad and K. Irani, IJCAI 1993);
   *  at most `bins` intervals, 0 for no limit. */
  TSANOM_ROUGHSET_ENTROPY = 2
};

/** Bytes of workspace that tsanom_roughset_cuts() needs, O(count).
 *  @param      count  samples, >= 1
 *  @param      exec   NULL: one thread
 *  @param[out] bytes  the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_cuts_workspace(size_t count,
                                                        const tsanom_exec *exec,
                                                        size_t *bytes);

/** Choose cuts of a numeric column; a cut lies strictly above the samples below
 *  it, so that a constant column has none. O(count log count) time, times the
 *  depth of the recursion for entropy.
 *  @param      samples   count of them, all finite
 *  @param      decision  count decisions, for entropy only; else may be NULL
 *  @param      count     1 ... 2^31 - 1
 *  @param      method    TSANOM_ROUGHSET_EQUAL_WIDTH ...
 *  @param      bins      intervals asked for, >= 1; for entropy the most, 0: any
 *  @param      exec      NULL: one thread, no poll
 *  @param      work      scratch, or NULL as elsewhere
 *  @param      work_bytes  at least tsanom_roughset_cuts_workspace()'s answer
 *  @param[out] cuts      the first cuts, increasing; may be NULL if capacity is 0
 *  @param      capacity  cuts that fit; count - 1 or bins - 1 are always enough
 *  @param[out] found     how many there are, beyond capacity too
 *  @retval TSANOM_PARTIAL      there are more than capacity
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      count is 0 or too large
 *  @retval TSANOM_E_OPTION     method or bins is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @return TSANOM_OK otherwise, or a refusal of exec or work as elsewhere */
TSANOM_API tsanom_status tsanom_roughset_cuts(const double *samples,
                                              const int32_t *decision, size_t count,
                                              int32_t method, size_t bins,
                                              const tsanom_exec *exec, void *work,
                                              size_t work_bytes, double *cuts,
                                              size_t capacity, size_t *found);

/** Code samples by cuts: the code is the number of cuts at or below the sample;
 *  a NaN becomes ::TSANOM_ROUGHSET_MISSING. O(count log cuts) time.
 *  @param      samples      count of them; infinities are welcome
 *  @param      count        how many
 *  @param      cuts         increasing and finite; may be NULL if there are none
 *  @param      cut_count    at most 2^31 - 1
 *  @param      code_stride  from one code to the next, >= 1: the stride of a table
 *                           to fill one of its columns
 *  @param[out] codes        (count - 1) * code_stride + 1 values
 *  @retval TSANOM_E_ORDER      the cuts do not increase
 *  @retval TSANOM_E_NONFINITE  a cut is not finite
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_code(const double *samples, size_t count,
                                              const double *cuts, size_t cut_count,
                                              size_t code_stride, int32_t *codes);

/** What becomes of the label -1 that clustering gives to noise. ABI: append. */
enum {
  TSANOM_ROUGHSET_NOISE_SHARED = 0, /**< one more value, shared by all noise */
  TSANOM_ROUGHSET_NOISE_APART = 1,  /**< each noisy row has a value of its own */
  TSANOM_ROUGHSET_NOISE_MISSING = 2 /**< ::TSANOM_ROUGHSET_MISSING */
};

/** Code rows by the clusters they fell into, as the SPMD paper does: clusters are
 *  numbered from 0 in order of first appearance. Expected O(count) time.
 *  @param      labels       count labels of clusters, -1 for noise
 *  @param      count        1 ... 2^31 - 1
 *  @param      noise        TSANOM_ROUGHSET_NOISE_SHARED ...
 *  @param      exec         NULL: one thread
 *  @param      work         scratch, or NULL as elsewhere
 *  @param      work_bytes   at least tsanom_roughset_cuts_workspace()'s answer
 *  @param      code_stride  as for tsanom_roughset_code()
 *  @param[out] codes        (count - 1) * code_stride + 1 values
 *  @retval TSANOM_E_VALUE  a label is less than -1
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_roughset_code_clusters(
    const int32_t *labels, size_t count, int32_t noise, const tsanom_exec *exec,
    void *work, size_t work_bytes, size_t code_stride, int32_t *codes);

#ifdef __cplusplus
}
#endif
#endif
