/* SPDX-License-Identifier: BSD-3-Clause */
/* Picture of a comparison: the ratio of each number, with its interval. */
#include <math.h>

#include "compare.h"
#include "plot.h"

int comparison_draw(const comparison *c, const char *path, failure *why) {
  enum { LINE = 26, MARGIN = 140 };
  plot p;
  if (plot_open(&p, path, "Ratio of the second set to the first", why)) return -1;
  plot_size(&p, 800, MARGIN + LINE * (int)c->rows);
  fprintf(p.script, "$rows << END\n");
  for (size_t i = 0; i < c->rows; i++) {
    const compared *row = &c->row[i];
    int is_known = isfinite(row->low) && isfinite(row->high);
    fprintf(p.script, "%.9g %zu %.9g %.9g %d\n", row->ratio, c->rows - i,
            is_known ? row->low : row->ratio, is_known ? row->high : row->ratio,
            row->changed);
  }
  fprintf(p.script, "END\nset ytics (");
  for (size_t i = 0; i < c->rows; i++) {
    fprintf(p.script, "%s\"", i ? ", " : "");
    plot_text(&p, c->row[i].name);
    fprintf(p.script, "\" %zu", c->rows - i);
  }
  fprintf(p.script,
          ")\nset ytics noenhanced\nset xlabel 'B / A, 95 %%'\n"
          "set yrange [0.5:%zu.5]\nset arrow from 1, graph 0 to 1, graph 1 nohead "
          "linecolor rgb '" PLOT_GRAY
          "'\nunset key\n"
          "plot $rows using 1:2:3:4:($5 > 0 ? 2 : 1) with xerrorbars pointtype 7 "
          "linecolor variable\n",
          c->rows);
  return plot_close(&p, why);
}
