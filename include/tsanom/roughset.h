/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Rough sets: which attributes of a table explain a decision?
 *
 *  A decision table has rows x, condition attributes a and one decision D, all coded as
 *  int32. Use it, for example, to find the metrics in which the classes of processes
 *  differ.
 *
 *  | question                                       | function                        |
 *  |------------------------------------------------|---------------------------------|
 *  | Which attributes suffice?                      | tsanom_roughset_greedy(), fast; tsanom_roughset_minimum(), a smallest set with a proof |
 *  | Which attributes are needed in any case?       | tsanom_roughset_core()          |
 *  | Which sets are there in all?                   | tsanom_roughset_elements(), then tsanom_roughset_reducts() or tsanom_roughset_paper_choice() |
 *  | How much do some attributes explain?           | tsanom_roughset_dependency(), tsanom_roughset_significance() |
 *  | Which value means which decision?              | tsanom_roughset_rules()         |
 *  | Which rows contradict each other?              | tsanom_roughset_inconsistent()  |
 *  | How do numbers become codes?                   | tsanom_roughset_cuts(), tsanom_roughset_code(), or the labels of a clustering |
 *
 *  @code{.c}
 *  const int32_t values[] = {0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};  // 4 processes, 3 metrics
 *  const int32_t classes[] = {0, 0, 1, 1};
 *  tsanom_roughset_table table = {.struct_size = sizeof table, .rows = 4, .attributes = 3,
 *                                 .values = values, .decision = classes};
 *  uint64_t reduct;
 *  if (tsanom_roughset_greedy(&table, NULL, NULL, &reduct, NULL) < 0) return 1;
 *  for (int a = 0; a < 3; a++) {
 *    if (reduct >> a & 1) printf("metric %d separates the classes\n", a);
 *  }
 *  // -> metric 0 separates the classes
 *  @endcode
 *
 *  Two rows with different decisions are discerned by the attributes of their
 *  discernibility element \f$\{a : a(x) \ne a(y)\}\f$. A set of attributes that meets
 *  every element preserves what the table discerns. A minimal one is a reduct. The
 *  attributes that are in all reducts are the core: the elements of one attribute.
 *
 *  All results are exact. Finding a smallest reduct is NP-hard (A. Skowron and C. Rauszer,
 *  1992), and there may be exponentially many reducts. A poll can stop the calls that may
 *  take long, and you keep what they have found.
 *
 *  Values are compared exactly: code numbers first. Leave out columns that identify the
 *  rows, because they discern everything.
 *
 *  Sets of attributes are bitsets of `words` = (attributes + 63) / 64 words: attribute a
 *  is bit a % 64 of word a / 64; the bits above are 0.
 *
 *  Functions that fill an array of `capacity` elements also return the number of elements
 *  that there are: ::TSANOM_PARTIAL if it exceeds capacity. If the poll or a visitor
 *  stops a call, `found` is set, and other outputs are not modified unless it says so.
 *
 *  Errors besides the common ones: ::TSANOM_E_OVERFLOW, also: a size exceeds 2^31 - 1;
 *  ::TSANOM_E_OPTION, also: a leading dimension is out of its range, or an option that
 *  the function does not use is not at its default; ::TSANOM_E_INDEX, a set has a bit
 *  beyond the attributes (element: the set, second: the bit); ::TSANOM_E_VALUE, a
 *  decision is missing; ::TSANOM_E_WORKSPACE, also: more than element_limit elements are
 *  needed at once. Calls with different outputs may run at the same time.
 *
 *  Source: Z. Pawlak, Rough Sets (1991), and section 4 of "A Novel Similarity Analysis
 *  and Rough Set Method" for SPMD programs, whose discernibility matrix and step 3 are
 *  tsanom_roughset_matrix() and tsanom_roughset_paper_choice(). */
#ifndef TSANOM_ROUGHSET_H
#define TSANOM_ROUGHSET_H

#include <tsanom/base.h>

/** @addtogroup roughset
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** The code of a missing condition value. A decision is never missing. */
#define TSANOM_ROUGHSET_MISSING INT32_MIN

/** What must be preserved if equal rows have different decisions. Let delta(x) be the
 *  decisions of the rows that no attribute discerns from x. The readings agree on a
 *  consistent table. ABI: append only. */
enum {
  /** Every pair of rows with different decisions that some attribute discerns; the
   *  others, the paper's -1 elements, are dropped (default). */
  TSANOM_ROUGHSET_ORDINARY = 0,
  /** The positive region: pairs with different decisions, one or both rows with
   *  |delta| = 1. */
  TSANOM_ROUGHSET_POSITIVE_REGION = 1,
  /** The generalized decision: pairs with D(y) not in delta(x), or D(x) not in
   *  delta(y). */
  TSANOM_ROUGHSET_GENERALIZED = 2
};

/** What a missing value equals. ABI: append only. */
enum {
  /** Only another missing value (default). */
  TSANOM_ROUGHSET_OWN_VALUE = 0,
  /** Every value: an attribute missing in x or y is not in their element. This relation
   *  is not transitive, so that all pairs of rows are compared. */
  TSANOM_ROUGHSET_WILDCARD = 1
};

/** A view of a decision table. Begin with `{.struct_size = sizeof x}`, then set
 *  the fields. The arrays are only read. */
typedef struct tsanom_roughset_table {
  size_t struct_size;      /**< sizeof, set by the caller */
  size_t rows;             /**< 1 ... 2^31 - 1 */
  size_t attributes;       /**< condition attributes, 1 ... 2^31 - 1 */
  const int32_t *values;   /**< values[x * ld + a] = a(x), or ::TSANOM_ROUGHSET_MISSING */
  size_t ld;               /**< >= attributes; 0: attributes */
  const int32_t *decision; /**< decision[x] = D(x), any code but
                                ::TSANOM_ROUGHSET_MISSING */
} tsanom_roughset_table;

/** What to compute. Initialize it with tsanom_roughset_options_init(), then change
 *  fields. The documentation of each function lists the options that it uses. */
typedef struct tsanom_roughset_options {
  size_t struct_size; /**< set by _init */
  int32_t reading;    /**< TSANOM_ROUGHSET_ORDINARY ...; ordinary (default) */
  int32_t missing;    /**< TSANOM_ROUGHSET_OWN_VALUE (default) or _WILDCARD */
  int32_t absorb;     /**< 1: only minimal elements (default); 0: all distinct ones */
  int32_t reserved0;  /**< must be 0 */
  /** Elements held at once, which bounds the memory; never more than there are pairs of
   *  rows; 1 ... 2^30 - 1; 2^20 (default). */
  size_t element_limit;
  size_t reduct_limit; /**< most reducts visited; SIZE_MAX (default) */
  size_t size_limit;   /**< most attributes of a reduct visited; SIZE_MAX (default) */
} tsanom_roughset_options;

/** Receives one set of attributes; called by the calling thread only.
 *  @param user    tsanom_roughset_visitor::user
 *  @param reduct  the bitset; valid during the call
 *  @param size    number of its attributes
 *  @return nonzero asks to stop */
typedef int32_t (*tsanom_roughset_visit)(void *user, const uint64_t *reduct, size_t size);

/** A function to visit reducts, and its first argument. */
typedef struct tsanom_roughset_visitor {
  tsanom_roughset_visit visit; /**< NULL: reducts are only counted */
  void *user;                  /**< first argument of visit */
} tsanom_roughset_visitor;

/** Write the defaults described at ::tsanom_roughset_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_roughset_options_init(tsanom_roughset_options *options,
                                                      size_t struct_size);

/** The discernibility elements of the reading, without the empty ones: distinct and,
 *  unless options->absorb is 0, only those that contain no other. Their minimal hitting
 *  sets are the reducts; if there is no element, the empty set is the only reduct. The
 *  matrix is never held.
 *
 *  Equal rows count once, so that for c classes of rows at most c(c-1)/2 pairs are
 *  compared, in parallel. Up to 26 attributes a bitmap of all subsets holds the elements,
 *  O(pairs + attributes * 2^attributes / 64); beyond, and for few pairs, a hash set that
 *  is absorbed through a transposed index. Workspace: O(rows * attributes + min(element_limit,
 *  2^attributes) * attributes / 8) bytes, and 2^attributes / 8 for each thread up to 26
 *  attributes.
 *  Options: reading, missing, absorb, element_limit.
 *  @param[out] elements  capacity * words words: the first elements in order of size,
 *                        then of their words from the last to the first; may be NULL if
 *                        capacity is 0
 *  @param      capacity  elements that fit
 *  @param[out] count     number of elements
 *  @the{table} @options @exec @status
 *  @retval TSANOM_STOPPED  the poll stopped the call: the elements of the pairs compared
 *                          so far were written, as for OK */
TSANOM_API tsanom_status tsanom_roughset_elements(const tsanom_roughset_table *table,
                                                  const tsanom_roughset_options *options,
                                                  const tsanom_exec *exec,
                                                  uint64_t *elements, size_t capacity,
                                                  size_t *count);

/** The upper triangle of the discernibility matrix, to print or to inspect: pair (i, j),
 *  i < j, has the index \f$i(2\,rows - i - 1)/2 + j - i - 1\f$. O(rows^2 · attributes),
 *  without a workspace. Option: missing.
 *  @param[out] elements  rows (rows-1) / 2 * words words: the element of a pair whose
 *                        kind is 1, else the empty set; may be NULL
 *  @param[out] kind      rows (rows-1) / 2 values: 1 an element, 0 the same decision, -1
 *                        an inconsistent pair (different decisions, no attribute discerns
 *                        the rows)
 *  @the{table} @options @exec @status
 *  @retval TSANOM_STOPPED  the poll stopped the call: the outputs contain only a part */
TSANOM_API tsanom_status tsanom_roughset_matrix(const tsanom_roughset_table *table,
                                                const tsanom_roughset_options *options,
                                                const tsanom_exec *exec,
                                                uint64_t *elements, int32_t *kind);

/** The inconsistent pairs: rows with different decisions that no attribute discerns.
 *  O(rows · attributes + pairs); with wildcards O(rows^2 · attributes). Workspace: O(rows +
 *  attributes). Option: missing.
 *  @param[out] pairs     2 * capacity row numbers i < j: the first pairs in order of i,
 *                        then j; may be NULL if capacity is 0
 *  @param      capacity  pairs that fit
 *  @param[out] count     number of pairs; as far as it went if the poll stops the call
 *  @the{table} @options @exec @stopped */
TSANOM_API tsanom_status tsanom_roughset_inconsistent(
    const tsanom_roughset_table *table, const tsanom_roughset_options *options,
    const tsanom_exec *exec, size_t *pairs, size_t capacity, size_t *count);

/** The core: the attributes of every reduct. An attribute is in the core iff removing it
 *  makes some pair that must be discerned indiscernible. Expected O(rows · attributes) by
 *  hashing rows without one attribute; with wildcards all pairs are compared. Workspace:
 *  O(rows · attributes). Options: reading, missing.
 *  @param[out] core  words words; not modified if the poll stops the call
 *  @the{table} @options @exec @stopped */
TSANOM_API tsanom_status tsanom_roughset_core(const tsanom_roughset_table *table,
                                              const tsanom_roughset_options *options,
                                              const tsanom_exec *exec, uint64_t *core);

/** Visit every reduct: every minimal set that meets each of the elements, which need
 *  neither be distinct nor minimal. The order is the same for every thread count and
 *  instruction set, and otherwise unspecified.
 *
 *  The core is taken out, and the rest is split into connected components. A component of
 *  up to 24 attributes, or 26 with thousands of elements, is solved in O(attributes *
 *  2^attributes / 64), independent of the number of its reducts, by bitmaps of the lattice
 *  of subsets; one of more, or of few elements, by the search of K. Murakami and T. Uno
 *  (MMCS, Discrete Appl. Math. 170, 2014) on bitsets, by one thread. Workspace:
 *  O(attributes · count), and 2^min(attributes, 26) / 4 bytes. Options: reduct_limit,
 *  size_limit.
 *  @param      elements    count * words words, as tsanom_roughset_elements() writes
 *                          them; only read; NULL if count is 0
 *  @param      count       elements; 0: the empty reduct is visited
 *  @param      attributes  of the table, >= 1
 *  @param      visitor     called for each reduct; NULL: they are only counted
 *  @param[out] found       reducts visited; may be NULL
 *  @options @exec @status
 *  @retval TSANOM_PARTIAL     reduct_limit were visited and there is one more
 *  @retval TSANOM_INFEASIBLE  an element is empty: no set meets it; found is 0 */
TSANOM_API tsanom_status tsanom_roughset_reducts(const uint64_t *elements, size_t count,
                                                 size_t attributes,
                                                 const tsanom_roughset_options *options,
                                                 const tsanom_exec *exec,
                                                 const tsanom_roughset_visitor *visitor,
                                                 size_t *found);

/** What is known about the size of the smallest reduct. */
typedef struct tsanom_roughset_bounds {
  size_t lower; /**< every reduct has at least this number of attributes: proven */
  size_t upper; /**< a set of this number of attributes suffices; it is a reduct unless
                     the call was stopped before the greedy reduct was found */
} tsanom_roughset_bounds;

/** A reduct with the fewest attributes, and the proof that none is smaller.
 *
 *  The matrix is never built. Sizes k are excluded from below: a search for k attributes
 *  that meet all known elements tests each candidate on the table, by hashing the rows
 *  projected on it, and adds the elements of pairs that the candidate does not discern
 *  (an implicit hitting set). The upper bound is the size of the greedy reduct until a
 *  size is proven. Both bounds hold whenever the call is stopped, which a poll can do: the
 *  time is exponential in the attributes in the worst case. One thread computes. Workspace:
 *  O(rows · attributes + element_limit · attributes), at most 2^16 elements without
 *  wildcards. Options: reading, missing, element_limit and, with a visitor, reduct_limit.
 *  @param      visitor  called for each of the smallest reducts once their size is
 *                       proven; NULL: one is enough
 *  @param[out] bounds   equal unless the call was stopped before the proof
 *  @param[out] reduct   words words: a set of bounds->upper attributes that suffices
 *  @param[out] found    reducts visited; may be NULL
 *  @the{table} @options @exec @status
 *  @retval TSANOM_STOPPED  stopped; the outputs contain what is known
 *  @retval TSANOM_PARTIAL  reduct_limit were visited and there is one more, or
 *                          element_limit was reached; the outputs likewise */
TSANOM_API tsanom_status tsanom_roughset_minimum(const tsanom_roughset_table *table,
                                                 const tsanom_roughset_options *options,
                                                 const tsanom_exec *exec,
                                                 const tsanom_roughset_visitor *visitor,
                                                 tsanom_roughset_bounds *bounds,
                                                 uint64_t *reduct, size_t *found);

/** A reduct found greedily, for tables that are too wide or too long for a proof: to the
 *  core add the attribute that discerns most of the pairs of classes that are still
 *  indiscernible (with wildcards: that meets most of the minimal elements left; of equal
 *  ones the lowest), then drop superfluous attributes, from the last to the first.
 *  O(rows · attributes · size) time, O(rows · attributes) memory; the matrix is never
 *  built (with wildcards, its elements are). Workspace: as of tsanom_roughset_minimum().
 *  Options: reading, missing, element_limit.
 *  @param[out] reduct  words words; not modified if the poll stops the call
 *  @param[out] size    number of its attributes; may be NULL
 *  @the{table} @options @exec @stopped */
TSANOM_API tsanom_status tsanom_roughset_greedy(const tsanom_roughset_table *table,
                                                const tsanom_roughset_options *options,
                                                const tsanom_exec *exec, uint64_t *reduct,
                                                size_t *size);

/** The choice of the paper's steps 2 and 3, exact. Of the reducts with fewest attributes
 *  it visits those that "occur in the most times" when the clauses are multiplied out to
 *  a disjunctive form: reduct S occurs N(S) = prod over clauses c of |c intersected with
 *  S| times, where the clauses are the distinct elements, not absorbed, that contain no
 *  attribute of the core. The products are compared as integers, and all that tie are
 *  visited. O(reducts · elements · words) beside finding the reducts. Workspace:
 *  O(attributes · count).
 *  @param      elements    count * words words, of tsanom_roughset_elements() without
 *                          absorb
 *  @param      count       elements; 0: the empty reduct is visited
 *  @param      attributes  of the table, >= 1
 *  @param      visitor     called for each reduct chosen; NULL: they are only counted
 *  @param[out] found       reducts visited; may be NULL
 *  @exec @status
 *  @retval TSANOM_INFEASIBLE  an element is empty: no set meets it; found is 0 */
TSANOM_API tsanom_status tsanom_roughset_paper_choice(
    const uint64_t *elements, size_t count, size_t attributes, const tsanom_exec *exec,
    const tsanom_roughset_visitor *visitor, size_t *found);

/** The positive region of a set B of attributes, POS_B = { x : every row that B does not
 *  discern from x has the decision of x }, and the dependency degree
 *  \f$\gamma_B = |POS_B| / rows\f$. Expected O(rows · |B|); with wildcards
 *  O(rows^2 · |B|). Workspace: O(rows + attributes). Option: missing.
 *  @param      subset    words words: B; NULL: all attributes
 *  @param[out] positive  rows values, 1 for x in POS_B, else 0; may be NULL
 *  @param[out] size      |POS_B|; may be NULL
 *  @param[out] gamma     |POS_B| / rows; may be NULL
 *  @the{table} @options @exec @stopped */
TSANOM_API tsanom_status tsanom_roughset_dependency(
    const tsanom_roughset_table *table, const uint64_t *subset,
    const tsanom_roughset_options *options, const tsanom_exec *exec, int32_t *positive,
    size_t *size, double *gamma);

/** The significance of each attribute a with respect to a set B: gamma_B less the gamma
 *  of B without a for a in B, the gamma of B with a less gamma_B for the others. Expected
 *  O(rows · attributes · |B|). Workspace: O(rows + attributes). Option: missing.
 *  @param      subset        words words: B; NULL: all attributes
 *  @param[out] significance  attributes values in [0, 1]
 *  @the{table} @options @exec @status
 *  @retval TSANOM_STOPPED  stopped; significance contains only a part */
TSANOM_API tsanom_status
tsanom_roughset_significance(const tsanom_roughset_table *table, const uint64_t *subset,
                             const tsanom_roughset_options *options,
                             const tsanom_exec *exec, double *significance);

/** A decision rule: if the attributes of B have the values of `row`, the decision is
 *  `decision`. */
typedef struct tsanom_roughset_rule {
  size_t row;        /**< the first row that fulfils condition and decision */
  size_t matching;   /**< rows that fulfil the condition */
  size_t support;    /**< rows that fulfil both; confidence: support / matching */
  int32_t decision;  /**< the decision, as coded in the table */
  int32_t reserved0; /**< 0 */
} tsanom_roughset_rule;

/** The decision rules of a set B of attributes, usually a reduct: one for each
 *  combination of values and decision in the table. A missing value is a value of its own
 *  here. Expected O(rows · |B|). Workspace: O(rows + attributes).
 *  @param      subset    words words: B; NULL: all attributes
 *  @param[out] rules     the first rules in order of their rows; may be NULL if capacity
 *                        is 0
 *  @param      capacity  rules that fit; rows are always enough
 *  @param[out] count     number of rules
 *  @the{table} @exec @status */
TSANOM_API tsanom_status tsanom_roughset_rules(const tsanom_roughset_table *table,
                                               const uint64_t *subset,
                                               const tsanom_exec *exec,
                                               tsanom_roughset_rule *rules,
                                               size_t capacity, size_t *count);

/** How the cuts of a numeric column are chosen. ABI: append only. */
enum {
  /** `bins` intervals of equal width between the smallest and largest sample. */
  TSANOM_ROUGHSET_EQUAL_WIDTH = 0,
  /** Up to `bins` intervals with numbers of samples as equal as ties allow. */
  TSANOM_ROUGHSET_EQUAL_FREQUENCY = 1,
  /** Recursively the cut with the least entropy of the decision, while it shortens the
   *  description (U. Fayyad and K. Irani, IJCAI 1993); at most `bins`, 0: no limit. */
  TSANOM_ROUGHSET_ENTROPY = 2
};

/** Choose cuts of a numeric column. A cut lies strictly above the samples below it, so
 *  that a constant column has none. O(count·log(count)), times the depth of the
 *  recursion for entropy. Workspace: O(count). A sample that is NaN or infinite is ::TSANOM_E_NONFINITE.
 *  @param      samples   count samples, all finite
 *  @param      decision  count decisions, for entropy; otherwise may be NULL
 *  @param      count     1 ... 2^31 - 1
 *  @param      method    TSANOM_ROUGHSET_EQUAL_WIDTH ...
 *  @param      bins      number of intervals, >= 1; for entropy the most, 0: no limit
 *  @param[out] cuts      the first cuts, increasing; may be NULL if capacity is 0
 *  @param      capacity  cuts that fit. bins - 1 are enough for each method. For equal
 *                        frequency and entropy, count - 1 are enough, too; equal widths
 *                        also cut between intervals without samples.
 *  @param[out] found     number of cuts
 *  @exec @status
 *  @retval TSANOM_PARTIAL  there are more cuts than `capacity`: call again with `*found`
 *                          elements, because codes by some of the cuts are other codes */
TSANOM_API tsanom_status tsanom_roughset_cuts(const double *samples,
                                              const int32_t *decision, size_t count,
                                              int32_t method, size_t bins,
                                              const tsanom_exec *exec, double *cuts,
                                              size_t capacity, size_t *found);

/** Code samples by cuts: the code is the number of cuts at or below the sample; NaN
 *  becomes ::TSANOM_ROUGHSET_MISSING. O(count·log(cut_count)). Cuts that do not increase
 *  are ::TSANOM_E_ORDER, a cut that is not finite is ::TSANOM_E_NONFINITE.
 *  @param      samples    count samples; may be infinite
 *  @param      count      >= 1
 *  @param      cuts       increasing and finite; may be NULL if there are none
 *  @param      cut_count  at most 2^31 - 1
 *  @param[out] codes      (count - 1) * ld + 1 values: code i is codes[i * ld]
 *  @param      ld         >= 1; the ld of a table, to fill one of its columns
 *  @status */
TSANOM_API tsanom_status tsanom_roughset_code(const double *samples, size_t count,
                                              const double *cuts, size_t cut_count,
                                              int32_t *codes, size_t ld);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
