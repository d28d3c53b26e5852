/* Multiplications that methods are expected to need for one evaluation of the derivatives, four SIMD ones counted as one,
 * of the parts that differ by method: pivoting the closures, the motion of the links by independent coordinates, the
 * reduced system, and the feedback. Numbers that depend on the pose, as the ranks do, are those of regular poses.
 * Multipliers, and divide and conquer, replace the reduced dynamics of the clusters only: the closures of all loops and
 * the stabilisation remain, because the derivatives contain the projection on the closed pose and on the admissible
 * speeds. */
#include "plan.h"
#include <math.h>
#include <stdlib.h>

#define MAX_ROWS_COUNTED 1000000 /* of links: to count more would take seconds */
#define ARTICULATED_COLUMN 90.0  /* U, D, I - U U'/D and the shift to the parent */
#define ROW_ACROSS_COLUMN 20.0   /* z, its square, Phi - z U'/D, gamma */
#define ROW_SHIFT 6.0
#define DCA_SHARE 0.4 /* time of a multiplication of long rows, compared with the others: measured */

/* Loops of a cluster that add the same numbers of columns of tree and cut joints. */
typedef struct step_size {
  int32_t columns, cuts, count;
} step_size;

/* What the cost of a cluster depends on. */
typedef struct cluster_size {
  step_size *step;
  int32_t steps;
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
  for (int32_t i = 0; i < s->steps; i++) tree_columns += (double)s->step[i].columns * s->step[i].count;
  const double share = tree_columns != 0.0 ? 1 - independents / tree_columns : 0.0; /* that loops make dependent */
  for (int32_t i = 0; i < s->steps; i++) {
    const double columns = s->step[i].columns, cuts = s->step[i].cuts, rows = 6 - cuts;
    const double rank = fmin(share * columns, rows);
    const double pivots = 3 * rank * rows * fours(columns) + rank * rank * (rows + columns) / 2;
    const double bases = 24 + 18, own = columns * (rank == rows ? cuts : 6);
    total += s->step[i].count * (pivots + (bases + rank * rows + own) * n);
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

/* Closures and stabilisation: recursive coordinate reduction but for what gives the accelerations. */
static double cost_of_closures(const cluster_size *s) {
  const double independents = s->independents, dof = s->dof, n = fours(independents + 2);
  const double links = s->links * (36 + 6 * independents + (s->moves ? 6 : 0)) * n;
  const double constraints = independents != dof ? independents * independents * dof + independents * dof * dof : 0.0;
  return cost_of_rcr(s) - links - 3 * s->columns * n - dof * dof * dof / 6 - constraints;
}

static void count_step(cluster_size *s, int32_t columns, int32_t cuts) {
  int32_t i = 0;
  while (i < s->steps && (s->step[i].columns != columns || s->step[i].cuts != cuts)) i++;
  if (i == s->steps) s->step[s->steps++] = (step_size){columns, cuts, 0};
  s->step[i].count++;
}

/* The cost of a cluster by one of the functions above; infinite where there is no memory. */
static double cost_by(const lw_model *m, int32_t k, double (*cost)(const cluster_size *s)) {
  const lw_cluster *c = &m->cluster[k];
  lw_cluster_info expected = {0};
  lw_model_cluster(m, k, &expected);
  cluster_size s = {.step = malloc(sizeof *s.step * ((size_t)c->ears + 1)),
                    .links = c->count,
                    .columns = expected.columns,
                    .rows = expected.rows,
                    .independents = expected.independents,
                    .dof = expected.dof,
                    .moves = c->root >= 0};
  if (!s.step) return INFINITY;
  for (const lw_ear *e = m->ear + c->first_ear; e < m->ear + c->first_ear + c->ears; e++)
    count_step(&s, e->columns - e->cuts, e->loop < 0 ? 6 : e->cuts);
  const double found = cost(&s);
  free(s.step);
  return found;
}

/* ---- the whole mechanism ---- */

/* How many rows cross each link on the path to the ground. */
typedef struct row_count {
  const lw_model *m;
  int32_t *rows, *stamp; /* of links: the last constraint that was counted there */
  int32_t constraint, steps;
} row_count;

static void count_to_ground(row_count *r, int32_t link, int32_t rows) {
  for (; link >= 0 && r->stamp[link] != r->constraint; link = r->m->link[link].parent, r->steps++)
    r->stamp[link] = r->constraint, r->rows[link] += rows;
}

static int32_t constrained(const lw_loop *loop) { return 6 - loop->columns; }

static void count_coupling(row_count *r, const lw_coupling *one) {
  const lw_model *m = r->m;
  for (int32_t t = one->first; t < one->first + one->terms; t++) {
    const lw_column *column = &m->column[m->cluster[one->cluster].first_column + m->term[t].column];
    if (column->link >= 0) {
      count_to_ground(r, column->link, 1);
    } else {
      count_to_ground(r, m->loop[column->loop].parent, 1);
      count_to_ground(r, m->loop[column->loop].child, 1);
    }
  }
  for (int i = 0; one->distance >= 0 && i < 2; i++) count_to_ground(r, m->distance[one->distance].end[i], 1);
}

/* Returns 0: far too many to count. */
static int count_rows(row_count *r) {
  const lw_model *m = r->m;
  for (int32_t k = 0; k < m->size.bodies; k++) r->rows[k] = 0, r->stamp[k] = -1;
  for (int32_t k = 0; k < m->size.loops && r->steps <= MAX_ROWS_COUNTED; k++, r->constraint++) {
    if (m->loop[k].cluster < 0) continue;
    count_to_ground(r, m->loop[k].parent, constrained(&m->loop[k]));
    count_to_ground(r, m->loop[k].child, constrained(&m->loop[k]));
  }
  for (int32_t k = 0; k < m->couplings && r->steps <= MAX_ROWS_COUNTED; k++, r->constraint++)
    if (m->coupling[k].cluster >= 0) count_coupling(r, &m->coupling[k]);
  return r->steps <= MAX_ROWS_COUNTED;
}

/* Symmetric elimination with pivots; with redundant rows also the solution of least norm. */
static double pivoted(double rows, double rank) {
  const double found = (rank * rows * rows - rank * rank * rows + rank * rank * rank / 3) / 8 + 2 * rank * rows;
  if (rank == rows) return found + rows * rows;
  return found + rank * rank * rows / 12 + rank * rank * rank / 24 + 2 * rank * rows;
}

/* All rows go over the open tree, then the matrix of all of them is factored. */
static double cost_of_multipliers(const lw_model *m) {
  double total = 0.0, rows = 0.0, rank = 0.0;
  row_count r = {.m = m, .rows = malloc(sizeof *r.rows * 2 * (size_t)m->size.bodies)};
  if (!r.rows) return INFINITY;
  r.stamp = r.rows + m->size.bodies;
  if (!count_rows(&r)) total = INFINITY;
  for (int32_t k = 0; k < m->size.bodies; k++) {
    const double across = r.rows[k];
    total += m->link[k].speeds * (ARTICULATED_COLUMN + across * (ROW_ACROSS_COLUMN + across / 8)) + ROW_SHIFT * across;
  }
  free(r.rows);
  for (int32_t k = 0; k < m->clusters; k++) {
    lw_cluster_info expected = {0};
    lw_model_cluster(m, k, &expected);
    rows += m->cluster[k].couplings, rank += expected.columns - expected.dof;
  }
  for (int32_t k = 0; k < m->size.loops; k++)
    if (m->loop[k].cluster >= 0) rows += constrained(&m->loop[k]), rank -= m->loop[k].columns;
  return total + pivoted(rows, fmin(rows, rank));
}

static double sum_of_clusters(const lw_model *m, double (*cost)(const cluster_size *s)) {
  double sum = 0.0;
  for (int32_t k = 0; k < m->clusters; k++) sum += cost_by(m, k, cost);
  return sum;
}

static int is_too_large(const lw_model *m, int32_t k) {
  return 6 * m->cluster[k].loops + m->cluster[k].couplings > LW_MOST_EMBEDDED_ROWS;
}

static double cost_of_whole(const lw_model *m, lw_method_choice method) {
  switch (method) {
    case LW_METHOD_RCR: return sum_of_clusters(m, cost_of_rcr);
    case LW_METHOD_EMBEDDING:
      for (int32_t k = 0; k < m->clusters; k++)
        if (is_too_large(m, k)) return INFINITY;
      return sum_of_clusters(m, cost_of_embedding);
    case LW_METHOD_DCA: return sum_of_clusters(m, cost_of_closures) + DCA_SHARE * lw_dca_multiplications(m);
    case LW_METHOD_MULTIPLIERS:
    case LW_METHOD_MULTIPLIERS_CENTROID:
    case LW_METHOD_MULTIPLIERS_ORIGIN: return sum_of_clusters(m, cost_of_closures) + cost_of_multipliers(m);
    case LW_METHOD_AUTO: break;
  }
  return INFINITY;
}

double lw_model_cost(const lw_model *m, int32_t cluster, lw_method_choice method) {
  char refusal[LW_REASON];
  if (!m || cluster < -1 || cluster >= m->clusters) return INFINITY;
  lw_model_refusal(m, cluster, method, refusal, sizeof refusal);
  if (refusal[0]) return INFINITY;
  if (cluster < 0) return cost_of_whole(m, method);
  if (method == LW_METHOD_RCR) return cost_by(m, cluster, cost_of_rcr);
  return method == LW_METHOD_EMBEDDING ? cost_by(m, cluster, cost_of_embedding) : INFINITY;
}
