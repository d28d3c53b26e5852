/* The plan of a model as rows of whole numbers, for those who explain it. */
#include "model/model.h"
#include <string.h>

/* Appends a row of `n` numbers, unless there is no place for rows. */
static int32_t *put_row(int32_t *rows, const int32_t *row, size_t n) {
  if (!rows) return NULL;
  memcpy(rows, row, n * sizeof *row);
  return rows + n;
}

#define ROWS(count, ...)                                 \
  for (int32_t k = 0; k < (count) && rows; k++) {        \
    const int32_t row[] = {__VA_ARGS__};                 \
    rows = put_row(rows, row, sizeof row / sizeof *row); \
  }                                                      \
  return count

static int32_t links_of_steps(const lw_model *m) {
  return m->ears ? m->ear[m->ears - 1].first + m->ear[m->ears - 1].links : 0;
}

int32_t lw_model_table(const lw_model *m, lw_table table, int32_t *rows) {
  if (!m) return 0;
  switch (table) {
    case LW_TABLE_LINK: ROWS(m->size.bodies, m->link[k].body, m->link[k].joint, m->link[k].parent, m->link[k].reversed);
    case LW_TABLE_JOINT:
      ROWS(m->size.joints, m->joint[k].q, m->joint[k].u, lw_joint_sizes[m->joint[k].type].u, m->joint[k].captured);
    case LW_TABLE_LOOP:
      ROWS(m->size.loops, m->loop[k].joint, m->loop[k].parent, m->loop[k].child, m->loop[k].root, m->loop[k].cluster);
    case LW_TABLE_CLUSTER:
      ROWS(m->clusters, m->cluster[k].root, m->cluster[k].first, m->cluster[k].count, m->cluster[k].method);
    case LW_TABLE_SEGMENT: ROWS(m->segments, m->segment[k].cluster, m->segment[k].first, m->segment[k].count);
    case LW_TABLE_STEP: ROWS(m->ears, m->ear[k].cluster, m->ear[k].loop, m->ear[k].links);
    case LW_TABLE_STEP_LINK: ROWS(links_of_steps(m), m->ear_link[k]);
    case LW_TABLE_COUPLING: ROWS(m->couplings, m->coupling[k].cluster, m->coupling[k].terms);
    case LW_TABLE_TERM: ROWS(m->terms, m->term[k].coupling, m->term[k].u);
    case LW_TABLE_DISTANCE: ROWS(m->size.distances, m->distance[k].end[0], m->distance[k].end[1]);
    case LW_TABLE_REMOVABLE: ROWS(m->removable_joints, m->removable_joint[k], !m->closed[k]);
    case LW_TABLES_OF_PLAN: break;
  }
  return 0;
}

lw_status lw_model_cluster(const lw_model *m, int32_t index, lw_cluster_info *expected) {
  if (!m || index < 0 || index >= m->clusters) return LW_ERROR_USAGE;
  const lw_cluster *c = &m->cluster[index];
  *expected = (lw_cluster_info){
      .columns = c->columns, .rows = 6 * c->loops + c->couplings, .independents = c->independents, .dof = c->dof};
  return LW_OK;
}
