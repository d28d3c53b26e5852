/* Formulas of the forces of a builder. */
#include "builder/description.h"
#include "model/model.h"
#include <math.h>
#include <string.h>

static lw_status refuse(lw_builder *b, const char *force, const char *what, int32_t number) {
  return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': %s %d is none", force, what, (int)number);
}

static lw_status take_number(lw_builder *b, const char *force, double value) {
  return isfinite(value) ? append_formula_number(b, value) : lw_not_finite(b, "formula of force", force, "a number");
}

static lw_status take_quantity(lw_builder *b, const char *force, const lw_formula *f, int32_t k) {
  const lw_formula_quantity *given = &f->quantity[k];
  quantity_part made = {given->kind, -1, given->index};
  const int of_joint = given->kind == LW_QUANTITY_COORDINATE || given->kind == LW_QUANTITY_SPEED;
  const int32_t inputs = given->kind == LW_QUANTITY_INPUT ? f->inputs : 1;
  lw_status e;
  if ((int)given->kind < 0 || given->kind >= LW_QUANTITY_KINDS) return refuse(b, force, "quantity", k);
  if (!of_joint)
    return given->index < 0 || given->index >= inputs ? refuse(b, force, "quantity", k) : append_quantity(b, made);
  if ((e = lw_find_joint(b, "formula of force", force, given->joint, &made.joint))) return e;
  joint_part *joint = &b->joint[made.joint];
  const lw_joint_size *size = &lw_joint_sizes[joint->type];
  if (given->index < 0 || given->index >= (given->kind == LW_QUANTITY_SPEED ? size->u : size->q))
    return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': joint '%s' (%s) has no %s %d", force, given->joint,
                     size->name, given->kind == LW_QUANTITY_SPEED ? "speed" : "coordinate", (int)given->index);
  joint->read = 1;
  return append_quantity(b, made);
}

/* ---- lookup tables ---- */

static lw_status refuse_table(lw_builder *b, const char *force, const char *table, const char *why) {
  return lw_refuse(b, LW_ERROR_USAGE, "table '%s' of force '%s': %s", table ? table : "", force, why);
}

static int is_word(const char *name) {
  for (const char *c = name; *c; c++)
    if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (c > name && *c >= '0' && *c <= '9')))
      return 0;
  return *name != 0;
}

static lw_status take_table_name(lw_builder *b, const char *force, const char *name, int32_t first_table) {
  lw_status e = LW_OK;
  if (!name || !is_word(name)) return refuse_table(b, force, name, "a name has letters, digits and _, a letter first");
  for (int32_t k = first_table; k < b->lookups; k++)
    if (strcmp(b->lookup_name + b->lookup[k].name, name) == 0)
      return refuse_table(b, force, name, "it has two tables of this name");
  for (size_t k = 0; !e && k <= strlen(name); k++) e = append_lookup_name(b, name[k]);
  return e;
}

static lw_status take_knots(lw_builder *b, const char *force, const char *table, const double *knot, int32_t knots) {
  lw_status e = LW_OK;
  if (knots < 2 || !knot) return refuse_table(b, force, table, "each argument needs two abscissae at least");
  if (!lw_all_finite(knot, knots)) return refuse_table(b, force, table, "an abscissa is not finite; give a number");
  for (int32_t k = 1; k < knots; k++)
    if (!(knot[k] > knot[k - 1])) return refuse_table(b, force, table, "abscissae must increase");
  for (int32_t k = 0; !e && k < knots; k++) e = append_lookup_knot(b, knot[k]);
  return e;
}

/* Of periodic arguments all but the last rows, which are equal to the first. */
static lw_status take_values(lw_builder *b, const char *force, const lw_lookup_table *t, lookup_part *made) {
  const int32_t columns = t->y ? t->knots[1] : 1, skipped[2] = {t->periodic[0] != 0, t->y && t->periodic[1]};
  lw_status e = LW_OK;
  for (int32_t i = 0; !e && i < t->knots[0]; i++)
    for (int32_t j = 0; !e && j < columns; j++) {
      const int32_t row = skipped[0] && i + 1 == t->knots[0] ? 0 : i, column = skipped[1] && j + 1 == columns ? 0 : j;
      const double value = t->values[(size_t)i * columns + j], first = t->values[(size_t)row * columns + column];
      if (!isfinite(value)) e = refuse_table(b, force, t->name, "a value is not finite; give a number");
      else if (value != first) e = refuse_table(b, force, t->name, "a periodic table ends with its first row");
      else if (row == i && column == j) e = append_lookup_value(b, value), made->values++;
    }
  return e;
}

#define MOST_VALUES 4000000

static lw_status take_table(lw_builder *b, const char *force, const lw_lookup_table *t, int32_t first_table) {
  const int32_t columns = t->y ? t->knots[1] : 1;
  lookup_part made = {{t->knots[0], t->y ? columns : 0, t->periodic[0] != 0, t->y && t->periodic[1],
                       (int32_t)t->interpolation, (int32_t)t->outside},
                      b->lookup_names,
                      b->lookup_knots,
                      b->lookup_values,
                      0};
  lw_status e;
  if ((e = take_table_name(b, force, t->name, first_table)) || (e = take_knots(b, force, t->name, t->x, t->knots[0])) ||
      (t->y && (e = take_knots(b, force, t->name, t->y, t->knots[1]))))
    return e;
  if ((int)t->interpolation < 0 || t->interpolation >= LW_INTERPOLATIONS || (int)t->outside < 0 ||
      t->outside >= LW_OUTSIDES || !t->values)
    return refuse_table(b, force, t->name, "it needs values, lw_interpolation and lw_outside");
  if ((int64_t)t->knots[0] * columns > MOST_VALUES) return refuse_table(b, force, t->name, "it is too large");
  if ((e = take_values(b, force, t, &made))) return e;
  return append_lookup(b, made);
}

/* ---- formulas ---- */

static int32_t number_of_operation(const char *name) {
  int32_t k = 0;
  while (k < LW_OPERATIONS && (!name || strcmp(name, lw_operation_names[k]) != 0)) k++;
  return k;
}

static lw_status take_operation(lw_builder *b, const char *force, const lw_formula *f, int32_t k) {
  const lw_operation *given = &f->operation[k];
  const lw_instruction made = {number_of_operation(given->name), {given->a, given->b, given->c}};
  if (made.operation == LW_OPERATIONS)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': there is no operation '%s'", force,
                     given->name ? given->name : "");
  const int32_t wrong = lw_wrong_operand(&made, f->numbers, f->quantities, f->tables, k);
  if (wrong == 1 && made.operation == LW_DO_integer_power)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': an exponent of %d is too large", force, (int)given->b);
  if (wrong >= 0)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': operation %d has a wrong operand %d", force, (int)k,
                     (int)made.operand[wrong]);
  return append_instruction(b, made);
}

static lw_status take_formula(lw_builder *b, const char *force, const lw_formula *f) {
  lw_status e = LW_OK;
  for (int32_t k = 0; !e && k < f->numbers; k++) e = take_number(b, force, f->number[k]);
  for (int32_t k = 0; !e && k < f->quantities; k++) e = take_quantity(b, force, f, k);
  for (int32_t k = 0, first = b->lookups; !e && k < f->tables; k++) e = take_table(b, force, &f->table[k], first);
  for (int32_t k = 0; !e && k < f->operations; k++) e = take_operation(b, force, f, k);
  for (int32_t k = 0; !e && k < f->results; k++) {
    if (f->result[k] < 0 || f->result[k] >= f->operations) e = refuse(b, force, "result", f->result[k]);
    else e = append_result(b, f->result[k]);
  }
  return e;
}

lw_status lw_builder_set_formula(lw_builder *b, const char *force, const lw_formula *f) {
  formula_part made = {0};
  lw_status e;
  if ((e = lw_find_among(b, A_FORCE, "formula", force, &made.force))) return e;
  const lw_force_type *type = &lw_force_types[b->force[made.force].type];
  if (!type->results || b->force[made.force].formula >= 0)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' %s", type->name, force,
                     type->results ? "has a formula already" : "takes no formula");
  if (f->numbers < 0 || f->inputs < 0 || f->quantities < 0 || f->tables < 0 || f->operations < 1 ||
      f->results != type->results)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of force '%s': it needs %d results and one operation at least", force,
                     (int)type->results);
  made.rows =
      (lw_formula_rows){f->numbers,         f->inputs,         f->quantities, f->operations,   f->results, f->tables,
                        b->formula_numbers, b->formula_inputs, b->quantities, b->instructions, b->results, b->lookups};
  if ((e = take_formula(b, force, f)) || (e = append_formula(b, made))) return e;
  b->force[made.force].formula = b->formulas - 1;
  b->formula_inputs += f->inputs;
  return LW_OK;
}
