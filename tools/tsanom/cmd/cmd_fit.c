/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom fit: polynomial regression. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "number.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "series.h"

enum { CURVE_POINTS = 600, DEFAULT_MAX_DEGREE = 10 };

typedef struct {
  shared_options shared;
  tsanom_polyfit_options polyfit;
  size_t degree, max_degree;
  int degree_given, max_degree_given, r2_given;
  const char *name[2]; /* of the columns x and y */
} request;

static const option_row options[] = {
    {"degree", 'd', "D", "Fit a polynomial of degree D (default: 1)",
     COUNT(degree, 0, TSANOM_POLYFIT_MAX_DEGREE), GIVEN(degree_given)},
    {"r2", 0, "T", "Fit the lowest degree with R^2 above T",
     NUMBER(polyfit.r2, 0, 1, HIGH_OPEN), GIVEN(r2_given)},
    {"max-degree", 0, "D", "Highest degree that --r2 tries (default: 10)",
     COUNT(max_degree, 0, TSANOM_POLYFIT_MAX_DEGREE), GIVEN(max_degree_given)},
    {"x", 0, "NAME", "Column of x (default: x)", TEXT(name[0])},
    {"y", 0, "NAME", "Column of y (default: y)", TEXT(name[1])},
};

static void check_end(struct argp_state *state, void *request_) {
  request *r = request_;
  if (r->r2_given && r->degree_given) {
    argp_error(state, "--degree and --r2 exclude each other");
  }
  if (!r->r2_given && r->max_degree_given) {
    argp_error(state, "--max-degree needs --r2");
  }
  if (r->r2_given) r->polyfit.selection = TSANOM_POLYFIT_R2;
  r->polyfit.degree = (int32_t)(r->r2_given ? r->max_degree : r->degree);
}

/* What the curve leaves of y. */
static tsanom_status take_residuals(const request *r, const columns *c,
                                    const tsanom_polyfit_model *model, double *left) {
  tsanom_status status =
      tsanom_polyfit_evaluate(model, c->column[0], c->count, &r->shared.exec, left, NULL);
  for (size_t i = 0; i < c->count; i++) left[i] = c->column[1][i] - left[i];
  return status;
}

/* The curve at evenly spaced x from the least to the greatest. */
static tsanom_status sample_curve(const columns *c, const tsanom_polyfit_model *model,
                                  double *x, double *y) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < c->count; i++) {
    low = fmin(low, c->column[0][i]);
    high = fmax(high, c->column[0][i]);
  }
  for (int i = 0; i < CURVE_POINTS; i++) {
    double part = (double)i / (CURVE_POINTS - 1);
    x[i] = low * (1 - part) + high * part;
  }
  return tsanom_polyfit_evaluate(model, x, CURVE_POINTS, NULL, y, NULL);
}

/* Samples and curve above, residuals below, over the same x. */
static void write_panels(const request *r, const plot *p) {
  fprintf(p->script,
          "set multiplot\nset lmargin 12\nset rmargin 16\nset bmargin 0\n"
          "set size 1,0.62\nset origin 0,0.38\nset format x ''\nset ylabel \"");
  plot_text(p, r->name[1]);
  fprintf(p->script,
          "\" noenhanced\nplot $samples with points pointtype 7 pointsize 0.4 "
          "notitle, $fit with lines linewidth 2 title 'fit' at end\n"
          "unset title\nset tmargin 0.5\nset bmargin 3\nset size 1,0.36\n"
          "set origin 0,0\nset format x '%%g'\nset ylabel 'residual'\n"
          "set xzeroaxis linetype 1 linecolor rgb '#888888'\nset xlabel \"");
  plot_text(p, r->name[0]);
  fprintf(p->script,
          "\" noenhanced\nplot $residuals with points pointtype 7 pointsize 0.4 "
          "linecolor 1 notitle\nunset multiplot\n");
}

static int draw(const request *r, const columns *c, const tsanom_polyfit_model *model,
                failure *why) {
  double x[CURVE_POINTS], y[CURVE_POINTS];
  double *left = allocate(c->count, sizeof *left);
  char title[96];
  plot p;
  snprintf(title, sizeof title, "Polynomial of degree %d, R² = %.6g", model->degree,
           model->r2);
  tsanom_status status = sample_curve(c, model, x, y);
  if (status >= 0) status = take_residuals(r, c, model, left);
  int failed = -1;
  if (status < 0) {
    fail_status(why, r->shared.plot, status);
  } else {
    failed = plot_open(&p, r->shared.plot, title, why);
  }
  if (!failed) {
    plot_series(&p, "samples", c->column[0], c->column[1], c->count);
    plot_series(&p, "residuals", c->column[0], left, c->count);
    plot_series(&p, "fit", x, y, CURVE_POINTS);
    write_panels(r, &p);
    failed = plot_close(&p, why);
  }
  free(left);
  return failed;
}

static int print(const request *r, const tsanom_polyfit_model *model,
                 tsanom_status status) {
  if (r->shared.json) {
    size_t terms = (size_t)model->degree + 1;
    const char *found = status == TSANOM_RANK_DEFICIENT ? "rank_deficient"
                        : status == TSANOM_INFEASIBLE   ? "infeasible"
                                                        : "ok";
    return print_json(
        json_pack("{si so so so so si sI ss}", "degree", model->degree, "coefficients",
                  json_numbers(model->monomial, terms), "standard_errors",
                  json_numbers(model->monomial_sd, terms), "r2", json_finite(model->r2),
                  "residual_sd", json_finite(model->residual_sd), "rank", model->rank,
                  "samples", (json_int_t)model->samples, "status", found));
  }
  if (status == TSANOM_RANK_DEFICIENT) {
    printf("The samples determine only degree %d.\n", model->degree);
  }
  if (status == TSANOM_INFEASIBLE) {
    printf("No degree up to %d reaches R^2 > %s.\n", model->highest,
           number_exact(r->polyfit.r2).text);
  }
  printf("degree       %d\nR^2          %.10g\nresidual sd  %.10g\nrank         %d\n\n",
         model->degree, model->r2, model->residual_sd, model->rank);
  printf("power  coefficient              standard error\n");
  for (int k = 0; k <= model->degree; k++) {
    printf("%5d  %-24.17g %.6g\n", k, model->monomial[k], model->monomial_sd[k]);
  }
  return EXIT_DONE;
}

static int fit(const request *r, columns *c, tsanom_polyfit_model *model,
               tsanom_status *status, failure *why) {
  if (columns_read(r->shared.argument[0], r->name, 2, c, why)) return -1;
  *status = tsanom_polyfit_fit(c->column[0], c->column[1], NULL, c->count, &r->polyfit,
                               &r->shared.exec, model);
  if (*status == TSANOM_E_COUNT) {
    return fail(why, "%s: %zu samples: degree %d needs at least %d",
                file_title(r->shared.argument[0]), c->count, r->polyfit.degree,
                r->polyfit.degree + 1);
  }
  if (*status < 0) return fail_status(why, file_title(r->shared.argument[0]), *status);
  return r->shared.plot ? draw(r, c, model, why) : 0;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE",
    .help =
        "Polynomial regression of y on x.\v"
        "FILE is a CSV file with a header; \"-\" is standard input. The coefficients "
        "are those of 1, x, x^2, ...",
    .expected = "one file is",
    .least = 1,
    .most = 1,
    .check = check_end,
};

int command_fit(int argc, char **argv) {
  request r = {.name = {"x", "y"}, .degree = 1, .max_degree = DEFAULT_MAX_DEGREE};
  tsanom_polyfit_options_init(&r.polyfit, sizeof r.polyfit);
  parse_command(&command_line, argc, argv, &r);
  columns c = {0};
  tsanom_polyfit_model model = {.struct_size = sizeof model};
  tsanom_status status = TSANOM_OK;
  failure why;
  int ended = fit(&r, &c, &model, &status, &why) ? report_failure(&why)
                                                 : print(&r, &model, status);
  columns_free(&c);
  return ended;
}
