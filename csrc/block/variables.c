/* Variables of a state by their offset: the field, what it belongs to, and the name in words. */
#include "block/state.h"
#include <stdio.h>

static const lw_field no_field = {"nothing", "", 0, 0, 0, LW_INTERNAL, LW_STAGE_NONE, 0};

/* The first field that ends behind the offset, by bisection: importers read hundreds of variables at a time. */
const lw_field *lw_field_at(const lw_state *s, uint32_t offset) {
  const lw_field *from = s->model->field, *to = from + LW_FIELD_COUNT, *const end = to;
  while (from < to) {
    const lw_field *middle = from + (to - from) / 2;
    if (offset < (uint32_t)(middle->first + middle->rows * middle->columns)) to = middle;
    else from = middle + 1;
  }
  return from < end ? from : &no_field;
}

lw_access lw_access_of(const lw_state *s, uint32_t offset) { return lw_field_at(s, offset)->access; }

/* Who owns a row of a field: the name, what kind of thing it is, and which of its numbers the row is, from 1; 0 where
 * it has only one. */
typedef struct owned {
  const char *name, *kind;
  int32_t element;
} owned;

/* The joint of a coordinate (of_q) or a speed. */
const lw_joint *lw_joint_with(const lw_model *m, int of_q, int32_t index) {
  for (const lw_joint *joint = m->joint; joint < m->joint + m->size.joints; joint++) {
    const lw_joint_size *size = &lw_joint_sizes[joint->type];
    const int32_t first = of_q ? joint->q : joint->u;
    if (index >= first && index < first + (of_q ? size->q : size->u)) return joint;
  }
  return NULL;
}

static owned joint_of(const lw_model *m, int of_q, int32_t index) {
  const lw_joint *joint = lw_joint_with(m, of_q, index);
  if (!joint) return (owned){NULL, "joint", 0};
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  const int32_t n = of_q ? size->q : size->u, k = index - (of_q ? joint->q : joint->u);
  return (owned){m->joint_name[joint - m->joint], "joint", n > 1 ? k + 1 : 0};
}

/* The force, output, state or coupling of a number (of_numbers) or an input of its formula. */
static owned formula_with(const lw_model *m, int of_numbers, int32_t row) {
  const lw_formula_rows *formula = m->formula;
  int32_t left = row;
  for (; left >= (of_numbers ? formula->numbers : formula->inputs); formula++)
    left -= of_numbers ? formula->numbers : formula->inputs;
  const int32_t number = (int32_t)(formula - m->formula);
  const char *kind = number < lw_formulas_of_forces(m)   ? "force"
                     : number < lw_first_of_states(m)    ? "output"
                     : number < lw_first_of_couplings(m) ? "state"
                                                         : "coupling";
  return (owned){lw_owner_of_formula(m, number), kind, left + 1};
}

static owned table_with(const lw_model *m, int32_t row) {
  int32_t table = 0;
  while (table + 1 < m->size.lookup_tables && row >= m->lookup_table[table + 1].first_value) table++;
  return (owned){m->table_name[table], "table", row - m->lookup_table[table].first_value + 1};
}

static owned owner_of(const lw_model *m, lw_owner owner, int32_t row) {
  switch (owner) {
    case LW_OF_BODY: return (owned){m->body_name[row], "body", 0};
    case LW_OF_JOINT: return (owned){m->joint_name[row], "joint", 0};
    case LW_OF_LOOP: return (owned){m->joint_name[m->loop[row].joint], "joint", 0};
    case LW_OF_TRANSITION: return (owned){m->transition_name[row], "transition", 0};
    case LW_OF_FORCE: return (owned){m->force_name[row], "force", 0};
    case LW_OF_GEAR: return (owned){m->force_name[m->gear[row].force], "force", 0};
    case LW_OF_LINE_POINT: return (owned){m->force_name[m->line_point[row].force], "force", 0};
#define FORCE(TYPE, type, on, points)                                                                \
  case LW_OF_##TYPE: return (owned){m->force_name[m->first_force[LW_FORCE_##TYPE] + row], #type, 0};
      LW_FORCE_RECORDS(FORCE)
#undef FORCE
    case LW_OF_POINT: return (owned){m->point_name[row], "point", 0};
    case LW_OF_MEASURE: return (owned){m->measure_name[row], "measure", 0};
    case LW_OF_FORMULA_OUTPUT: return (owned){m->output_name[row], "output", 0};
    case LW_OF_FORMULA_STATE: return (owned){m->state_name[row], "state", 0};
    case LW_OF_COORDINATE:
    case LW_OF_TREE_COORDINATE: return joint_of(m, 1, row);
    case LW_OF_CUT_COORDINATE: return joint_of(m, 1, m->size.nq + row);
    case LW_OF_SPEED:
    case LW_OF_TREE_SPEED: return joint_of(m, 0, row);
    case LW_OF_CUT_SPEED: return joint_of(m, 0, m->size.nu + row);
    case LW_OF_HOLD: break; /* internal */
    case LW_OF_COUPLING:
      return (owned){m->coupling_name[row], m->coupling[row].distance < 0 ? "coupling" : "distance", 0};
    case LW_OF_DISTANCE: return (owned){m->coupling_name[m->distance[row].coupling], "distance", 0};
    case LW_OF_TERM: return (owned){m->coupling_name[m->term[row].coupling], "coupling", 0};
    case LW_OF_FORMULA_NUMBER:
    case LW_OF_FORMULA_INPUT: return formula_with(m, owner == LW_OF_FORMULA_NUMBER, row);
    case LW_OF_COUPLING_NUMBER: return formula_with(m, 1, m->size.formula_numbers - m->size.coupling_numbers + row);
    case LW_OF_LOOKUP_VALUE: return table_with(m, row);
    case LW_OF_COUPLING_VALUE: return table_with(m, m->size.lookup_values - m->size.coupling_values + row);
    case LW_OF_LOOKUP_TABLE: return (owned){m->table_name[row], "table", 0};
    case LW_OF_LOOKUP_SLOPE:
    case LW_OF_LOOKUP_REGION:
    case LW_OF_KINK:
    case LW_OF_ONE:
    case LW_OF_FORMULA_VALUE:
    case LW_OF_FORMULA_QUANTITY:
    case LW_OF_FRAME: break;
  }
  return (owned){NULL, "", 0};
}

lw_variable_name lw_name_of_variable(const lw_state *s, uint32_t offset) {
  const lw_model *m = s->model;
  const lw_field *f = lw_field_at(s, offset);
  lw_variable_name w;
  if (f == &no_field) {
    snprintf(w.text, sizeof w.text, "nothing");
    return w;
  }
  const int32_t k = (int32_t)offset - f->first, row = k / f->columns;
  char element[24] = "";
  const owned owner = owner_of(m, m->owner[f - m->field], row);
  if (f->columns > 1) snprintf(element, sizeof element, "[%d]", k % f->columns + 1);
  else if (owner.element) snprintf(element, sizeof element, "[%d]", owner.element);
  if (owner.name) snprintf(w.text, sizeof w.text, "%s%s of %s '%.60s'", f->name, element, owner.kind, owner.name);
  else snprintf(w.text, sizeof w.text, "%s%s", f->name, element);
  return w;
}

void lw_describe(const lw_state *s, uint32_t offset, char *text, size_t size) {
  snprintf(text, size, "%s", lw_name_of_variable(s, offset).text);
}
