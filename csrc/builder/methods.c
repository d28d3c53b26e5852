/* Which method solves each cluster: the one asked for, else the one that is expected to cost less. Costs are
 * multiplications of one evaluation of the derivatives, four SIMD ones counted as one, of the parts that differ by
 * method: pivoting the closures, the motion of the links by independent coordinates, the reduced system, and the
 * feedback. */
#include "plan.h"
#include "model/model.h"
#include <math.h>
#include <stdlib.h>

#define MOST_EMBEDDED_ROWS 1000 /* of closures as one matrix */

/* Loops of a cluster that add the same numbers of columns of tree and cut joints. */
typedef struct ear_size {
  int32_t columns, cuts, count;
} ear_size;

/* What the cost of a cluster depends on. */
typedef struct cluster_size {
  ear_size *ear;
  int32_t ears;
  double links, columns, rows, independents, dof;
  int moves; /* its root body moves */
} cluster_size;

static double fours(double count) { return ceil(count / 4.0); }

/* Pivoted Gram-Schmidt: before each pivot the sizes of what remains, then the pivot is eliminated from them and from
 * the right-hand sides. */
static double elimination(double columns, double rows, double rank, double sides) {
  return rows * rank * (3 * (columns - rank / 2) + 2 * sides);
}

/* Motion of the links, inertia times it, the reduced system; the feedback. */
static double reduction(const cluster_size *s, double independents, double dof) {
  const double n = fours(independents + 2);
  const double links = s->links * (6 + 36 + 6 * independents + (s->moves ? 6 : 0)) * n + 3 * s->columns * n;
  return links + s->columns * n * (independents + 3) + dof * dof * dof / 3;
}

/* Recursive coordinate reduction: loop by loop, then the remaining constraints among their independent columns. */
static double cost_of_rcr(const cluster_size *s) {
  const double independents = s->independents, dof = s->dof, n = fours(independents + 2);
  double tree_columns = 0.0, total = 0.0;
  for (int32_t i = 0; i < s->ears; i++) tree_columns += (double)s->ear[i].columns * s->ear[i].count;
  const double share = tree_columns != 0.0 ? 1 - independents / tree_columns : 0.0; /* that loops make dependent */
  for (int32_t i = 0; i < s->ears; i++) {
    const double columns = s->ear[i].columns, cuts = s->ear[i].cuts, rows = 6 - cuts;
    const double rank = fmin(share * columns, rows);
    const double pivots = 3 * rank * rows * fours(columns) + rank * rank * (rows + columns) / 2;
    const double bases = 24 + 18, own = columns * (rank == rows ? cuts : 6);
    total += s->ear[i].count * (pivots + (bases + rank * rows + own) * n);
  }
  const double left = independents - dof;
  if (left != 0.0) {
    total += elimination(independents, left + 3.0, left, 2) + left * left * dof / 2;
    total += 2 * (independents * independents * dof + independents * (dof * dof));
  }
  return total + reduction(s, independents, dof);
}

/* Constraint embedding: all closures as one matrix, pivoted as a whole, one number after the other. */
static double cost_of_embedding(const cluster_size *s) {
  const double rank = s->columns - s->dof;
  const double back = (rank * s->columns - rank * rank / 2) * 4 * fours(s->dof + 2);
  return elimination(s->columns, s->rows, rank, 2) + back + reduction(s, s->dof, s->dof);
}

static void count_ear(cluster_size *s, int32_t columns, int32_t cuts) {
  int32_t i = 0;
  while (i < s->ears && (s->ear[i].columns != columns || s->ear[i].cuts != cuts)) i++;
  if (i == s->ears) s->ear[s->ears++] = (ear_size){columns, cuts, 0};
  s->ear[i].count++;
}

/* Loops of cluster `k` in solution order, from `*ear` on; their links are those from *link on. */
static cluster_size size_of(const plan *p, const topology *t, int32_t k, const lw_model *model, int32_t *ear,
                            int32_t *link, ear_size *sizes) {
  const joint_part *joint = p->builder->joint;
  lw_cluster_info expected = {0};
  lw_model_cluster(model, k, &expected);
  cluster_size s = {.ear = sizes,
                    .links = t->cluster[k][2],
                    .columns = expected.columns,
                    .rows = expected.rows,
                    .independents = expected.independents,
                    .dof = expected.dof,
                    .moves = t->cluster[k][0] >= 0};
  for (; *ear < t->ears && t->ear[*ear][0] == k; ++*ear) {
    const int32_t *row = t->ear[*ear];
    int32_t columns = 0;
    for (int32_t i = 0; i < row[2]; i++, ++*link)
      columns += lw_joint_sizes[joint[t->link[t->ear_link[*link]][1]].type].u;
    count_ear(&s, columns, row[1] < 0 ? 6 : lw_joint_sizes[joint[t->loop[row[1]][0]].type].u);
  }
  return s;
}

/* The method requested for a cluster by any of its joints; -1: none. */
static lw_status find_requested_methods(lw_builder *b, const topology *t, int32_t *requested, int partly) {
  for (int32_t k = 0; k < t->clusters; k++) requested[k] = -1;
  for (int32_t j = 0; j < b->joint_methods; j++) {
    int32_t cluster = -1;
    if (b->joint_method[j] < 0) continue;
    for (int32_t k = 0; k < t->clusters; k++)
      for (int32_t i = t->cluster[k][1]; i < t->cluster[k][1] + t->cluster[k][2]; i++)
        if (t->link[i][1] == j) cluster = k;
    for (int32_t k = 0; k < t->loops; k++)
      if (t->loop[k][0] == j) cluster = t->loop[k][4];
    if (cluster < 0 && partly) continue;
    if (cluster < 0)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "method: joint '%s' is on no loop and in no coupling or distance; leave it out",
                       b->joint[j].name);
    if (requested[cluster] >= 0 && requested[cluster] != b->joint_method[j])
      return lw_refuse(b, LW_ERROR_USAGE,
                       "joint '%s' is in a loop that is solved together with another one: give one method for both",
                       b->joint[j].name);
    requested[cluster] = b->joint_method[j];
  }
  return LW_OK;
}

static lw_status choose(lw_builder *b, const topology *t, int32_t k, const cluster_size *s, int32_t requested) {
  if (requested < 0) requested = (int32_t)b->method;
  const int fits = s->rows <= MOST_EMBEDDED_ROWS;
  if (requested == LW_METHOD_EMBEDDING && !fits)
    return lw_refuse(
        b, LW_ERROR_USAGE,
        "embedding cannot take the loops of joint '%s': their %g equations are too many for one matrix, which "
        "holds %d at most; use another method there",
        b->joint[t->link[t->cluster[k][1]][1]].name, s->rows, MOST_EMBEDDED_ROWS);
  int embed = requested == LW_METHOD_EMBEDDING;
  if (requested == LW_METHOD_AUTO) embed = fits && cost_of_embedding(s) < cost_of_rcr(s);
  t->cluster[k][3] = embed ? LW_EMBEDDING : LW_RCR;
  return LW_OK;
}

lw_status lw_choose_methods(const plan *p, topology *t, const lw_model *model, int partly) {
  lw_builder *b = p->builder;
  int32_t ear = 0, link = 0, *requested = malloc(sizeof *requested * ((size_t)t->clusters + 1));
  ear_size *sizes = malloc(sizeof *sizes * ((size_t)t->ears + 1));
  lw_status e = requested && sizes ? find_requested_methods(b, t, requested, partly)
                                   : lw_refuse(b, LW_ERROR_MEMORY, "there is no memory for the choice of methods");
  unsigned char *marks = lw_mark_inertia_outboard(p, t);
  for (int32_t k = 0; !e && k < t->clusters; k++) {
    const cluster_size s = size_of(p, t, k, model, &ear, &link, sizes);
    e = lw_check_massless_cluster(p, t, marks, k, (int32_t)s.dof);
    if (!e) e = choose(b, t, k, &s, requested[k]);
  }
  free(marks);
  free(requested);
  free(sizes);
  return e;
}
