/* Things of a model and variables of its states by name. */
#include "model/model.h"
#include <stdio.h>
#include <string.h>

static const char *const *names_of(const lw_model *m, lw_kind kind, int32_t *count) {
  switch (kind) {
#define X(KIND, list, name)                                   \
  case LW_KIND_##KIND: *count = m->size.list; return m->name;
    LW_NAMED(X)
#undef X
    case LW_KIND_FIELD: break;
  }
  *count = kind == LW_KIND_FIELD ? LW_FIELD_COUNT : 0;
  return NULL;
}

int32_t lw_model_count(const lw_model *m, lw_kind kind) {
  int32_t count;
  names_of(m, kind, &count);
  return count;
}

const char *lw_model_name(const lw_model *m, lw_kind kind, int32_t index) {
  int32_t count;
  const char *const *names = names_of(m, kind, &count);
  if (index < 0 || index >= count) return NULL;
  return names ? names[index] : m->field[index].name;
}

int32_t lw_model_find(const lw_model *m, lw_kind kind, const char *name) {
  const int32_t count = name ? lw_model_count(m, kind) : 0;
  for (int32_t i = 0; i < count; i++)
    if (strcmp(lw_model_name(m, kind, i), name) == 0) return i;
  return -1;
}

/* Rows of a field that belong to a joint: from the joint's first coordinate or speed on, less those `before` the
 * field. */
static int32_t rows_of_joint(const lw_model *m, const char *name, int of_q, int32_t before, int32_t *row) {
  const int32_t j = lw_model_find(m, LW_KIND_JOINT, name);
  if (j < 0) return 0;
  *row = (of_q ? m->joint[j].q : m->joint[j].u) - before;
  return of_q ? lw_joint_sizes[m->joint[j].type].q : lw_joint_sizes[m->joint[j].type].u;
}

static int32_t one_row(int32_t index, int32_t *row) {
  *row = index;
  return index >= 0;
}

/* Among those of its type; -1: there is none of this name. */
static int32_t row_of_force(const lw_model *m, int32_t type, const char *name) {
  const int32_t k = lw_model_find(m, LW_KIND_FORCE, name);
  return k < m->first_force[type + 1] ? k - m->first_force[type] : -1;
}

int32_t lw_type_of_force(const lw_model *m, int32_t force) {
  int32_t type = 0;
  while (force >= m->first_force[type + 1]) type++;
  return type;
}

int32_t lw_formulas_of_forces(const lw_model *m) { return m->size.forces - m->first_force[LW_FIRST_BY_FORMULA]; }

const char *lw_owner_of_formula(const lw_model *m, int32_t formula) {
  const int32_t output = formula - lw_formulas_of_forces(m), state = formula - lw_first_of_states(m);
  if (state >= m->size.formula_states) return m->coupling_name[m->coupling_formula[state - m->size.formula_states]];
  if (state >= 0) return m->state_name[state];
  return output < 0 ? m->force_name[m->first_force[LW_FIRST_BY_FORMULA] + formula] : m->output_name[output];
}

/* The formula of a force, an output, a state or a coupling; NULL: there is none. */
static const lw_formula_rows *formula_of(const lw_model *m, const char *name) {
  const int32_t force = lw_model_find(m, LW_KIND_FORCE, name), output = lw_model_find(m, LW_KIND_OUTPUT, name);
  if (force >= m->first_force[LW_FIRST_BY_FORMULA]) return &m->formula[force - m->first_force[LW_FIRST_BY_FORMULA]];
  if (output >= 0) return &m->formula[lw_formulas_of_forces(m) + output];
  const int32_t state = lw_model_find(m, LW_KIND_STATE, name);
  if (state >= 0) return &m->formula[lw_first_of_states(m) + state];
  const int32_t coupling = lw_model_find(m, LW_KIND_COUPLING, name);
  return coupling < 0 || m->coupling[coupling].formula < 0 ? NULL : &m->formula[m->coupling[coupling].formula];
}

/* The rows of a formula from *row on among those of all; `wanted`: of the field of couplings, which begins at `first`. */
static int32_t rows_of_couplings(int wanted, int32_t first, int32_t rows, int32_t *row) {
  if (wanted != (*row >= first)) return 0;
  if (wanted) *row -= first;
  return rows;
}

/* How many rows of a field belong to a thing, from *row on; rows of loops belong to their cut joints. */
static int32_t rows_of(const lw_model *m, lw_owner owner, const char *name, int32_t *row) {
  const int32_t joint = lw_model_find(m, LW_KIND_JOINT, name);
  switch (owner) {
    case LW_OF_BODY: return one_row(lw_model_find(m, LW_KIND_BODY, name), row);
    case LW_OF_JOINT: return one_row(joint, row);
    case LW_OF_LOOP: return one_row(joint < 0 ? -1 : m->joint[joint].loop, row);
    case LW_OF_COORDINATE:
    case LW_OF_TREE_COORDINATE: return rows_of_joint(m, name, 1, 0, row);
    case LW_OF_CUT_COORDINATE: return rows_of_joint(m, name, 1, m->size.nq, row);
    case LW_OF_SPEED:
    case LW_OF_HOLD:
    case LW_OF_TREE_SPEED: return rows_of_joint(m, name, 0, 0, row);
    case LW_OF_CUT_SPEED: return rows_of_joint(m, name, 0, m->size.nu, row);
    case LW_OF_COUPLING: return one_row(lw_model_find(m, LW_KIND_COUPLING, name), row);
    case LW_OF_DISTANCE:
      return one_row(lw_model_find(m, LW_KIND_COUPLING, name) - (m->couplings - m->size.distances), row);
    case LW_OF_FORCE: return one_row(lw_model_find(m, LW_KIND_FORCE, name), row);
#define FORCE(TYPE, type, on, points)                                             \
  case LW_OF_##TYPE: return one_row(row_of_force(m, LW_FORCE_##TYPE, name), row);
      LW_FORCE_RECORDS(FORCE)
#undef FORCE
    case LW_OF_TRANSITION: return one_row(lw_model_find(m, LW_KIND_TRANSITION, name), row);
    case LW_OF_POINT: return one_row(lw_model_find(m, LW_KIND_POINT, name), row);
    case LW_OF_MEASURE: return one_row(lw_model_find(m, LW_KIND_MEASURE, name), row);
    case LW_OF_FORMULA_OUTPUT: return one_row(lw_model_find(m, LW_KIND_OUTPUT, name), row);
    case LW_OF_FORMULA_STATE: return one_row(lw_model_find(m, LW_KIND_STATE, name), row);
    case LW_OF_TERM: {
      const int32_t k = lw_model_find(m, LW_KIND_COUPLING, name);
      if (k < 0) return 0;
      *row = m->coupling[k].first;
      return m->coupling[k].terms;
    }
    case LW_OF_GEAR: {
      const int32_t k = lw_model_find(m, LW_KIND_FORCE, name);
      if (k < 0) return 0;
      *row = m->force[k].first;
      return m->force[k].gears;
    }
    case LW_OF_LINE_POINT: {
      const int32_t k = lw_model_find(m, LW_KIND_FORCE, name);
      if (k < 0) return 0;
      *row = m->force[k].first_point;
      return m->force[k].points;
    }
    case LW_OF_FORMULA_NUMBER:
    case LW_OF_COUPLING_NUMBER:
    case LW_OF_FORMULA_INPUT: {
      const lw_formula_rows *formula = formula_of(m, name);
      if (!formula) return 0;
      *row = owner == LW_OF_FORMULA_INPUT ? formula->first_input : formula->first_number;
      if (owner == LW_OF_FORMULA_INPUT) return formula->inputs;
      return rows_of_couplings(owner == LW_OF_COUPLING_NUMBER, m->size.formula_numbers - m->size.coupling_numbers,
                               formula->numbers, row);
    }
    case LW_OF_LOOKUP_TABLE: return one_row(lw_model_find(m, LW_KIND_TABLE, name), row);
    case LW_OF_LOOKUP_VALUE:
    case LW_OF_COUPLING_VALUE: {
      const int32_t k = lw_model_find(m, LW_KIND_TABLE, name);
      if (k < 0) return 0;
      *row = m->lookup_table[k].first_value;
      return rows_of_couplings(owner == LW_OF_COUPLING_VALUE, m->size.lookup_values - m->size.coupling_values,
                               m->lookup_table[k].rows[0] * m->lookup_table[k].rows[1], row);
    }
    case LW_OF_LOOKUP_SLOPE:
    case LW_OF_LOOKUP_REGION:
    case LW_OF_KINK:
    case LW_OF_ONE:
    case LW_OF_FORMULA_VALUE:
    case LW_OF_FORMULA_QUANTITY:
    case LW_OF_FRAME: break;
  }
  return 0;
}

lw_status lw_model_find_variable(const lw_model *m, const char *field, const char *owner, int32_t *first,
                                 int32_t *count) {
  int32_t k = lw_model_find(m, LW_KIND_FIELD, field), row = 0;
  if (k < 0 || m->field[k].access == LW_INTERNAL) return LW_ERROR_USAGE;
  int32_t rows = owner ? rows_of(m, m->owner[k], owner, &row) : m->field[k].rows;
  if (row < 0 || row + rows > m->field[k].rows) { /* of a cut joint: the field of these, if there is one */
    char cut[16];
    snprintf(cut, sizeof cut, "%.8s_cut", field);
    k = lw_model_find(m, LW_KIND_FIELD, cut);
    rows = k < 0 ? 0 : rows_of(m, m->owner[k], owner, &row);
    if (!rows || row < 0 || row + rows > m->field[k].rows) return LW_ERROR_USAGE;
  }
  if (!rows) return LW_ERROR_USAGE;
  *first = m->field[k].first + row * m->field[k].columns;
  *count = rows * m->field[k].columns;
  return LW_OK;
}
