/* What the mechanics chose by themselves, for those who ask. */
#include "model/independent_columns.h"
#include "block/state.h"

/* The independent columns: those of each loop behind its pivots, or those of the matrix. Returns how many. */
static int32_t list_independents(const lw_model *m, const lw_cluster *c, const lw_cluster_pivots *p, int32_t *columns) {
  int32_t n = 0;
  if (c->method == LW_EMBEDDING) {
    for (int32_t i = p->ranks->matrix_rank; i < c->columns; i++) columns[n++] = p->order[i];
    return n;
  }
  for (int32_t i = 0; i < c->ears; i++) {
    const lw_ear *ear = &m->ear[c->first_ear + i];
    const int32_t first = ear->column + ear->cuts; /* a cut joint's columns are always dependent */
    for (int32_t k = p->ear_rank[i]; k < ear->columns - ear->cuts; k++) columns[n++] = first + p->order[first + k];
  }
  return n;
}

int32_t lw_independent_speeds(lw_state *s, int32_t cluster, int32_t *speeds) {
  if (!s) return -1;
  const lw_model *m = s->model;
  if (cluster < 0 || cluster >= m->clusters) {
    lw_fail(s, LW_ERROR_USAGE, "there is no cluster %d in this mechanism", cluster);
    return -1;
  }
  /* multipliers need pivots for outputs only, for which embedded clusters give theirs up */
  const lw_stage stage = lw_has_multipliers(m) ? LW_STAGE_OUTPUTS : LW_STAGE_ACCELERATIONS;
  if (*s->stage == LW_STAGE_OUTPUTS && stage != LW_STAGE_OUTPUTS) lw_state_changed(s, LW_STAGE_CONSTANTS);
  if (lw_evaluate(s, stage)) return -1;
  const lw_cluster *c = &m->cluster[cluster];
  const lw_cluster_pivots p = lw_pivots_of(c, s->block.integers);
  const int32_t n = list_independents(m, c, &p, speeds);
  int32_t free = 0;
  for (int32_t i = 0; i < p.ranks->rank; i++) speeds[p.independent_order[i]] = -1; /* dependent by the constraints */
  for (int32_t i = 0; i < n; i++)
    if (speeds[i] >= 0) speeds[free++] = m->column[c->first_column + speeds[i]].u;
  return free;
}
