/* Formulas of a builder: of forces, outputs, states and couplings. `of`: "force 'spring'". */
#include "builder/description.h"
#include "model/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_status refuse(lw_builder *b, const char *of, const char *what, int32_t number) {
  return lw_refuse(b, LW_ERROR_USAGE, "formula of %s: %s %d is none", of, what, (int)number);
}

static lw_status take_number(lw_builder *b, const char *of, double value) {
  return isfinite(value) ? append_formula_number(b, value)
                         : lw_refuse(b, LW_ERROR_PARAMETER, "formula of %s: a number must be finite", of);
}

static lw_status append_name(lw_builder *b, const char *name, lw_status (*append)(lw_builder *, char)) {
  lw_status e = LW_OK;
  for (; !e && *name; name++) e = append(b, *name);
  return e;
}

lw_status lw_take_quantity(lw_builder *b, const char *of, const lw_formula_quantity *given) {
  lw_status e;
  if (!given->field || !*given->field || strchr(given->field, ' ') || given->index < 0)
    return lw_refuse(b, LW_ERROR_USAGE, "%s reads number %d of '%s', which is none", of, (int)given->index,
                     given->field ? given->field : "");
  if ((e = append_quantity(b, (quantity_part){b->quantity_names, given->index})) ||
      (e = append_name(b, given->field, append_quantity_name)) || (e = append_quantity_name(b, ' ')) ||
      (e = append_name(b, given->owner ? given->owner : "", append_quantity_name)))
    return e;
  return append_quantity_name(b, 0);
}

/* Joints that forces read keep their coordinates, as those that others name. */
static void mark_read(lw_builder *b, const lw_formula *f) {
  for (int32_t k = 0; k < f->quantities; k++) {
    const int32_t joint = f->quantity[k].owner ? lw_named(b, A_JOINT, f->quantity[k].owner) : -1;
    if (joint >= 0) b->joint[joint].read = 1;
  }
}

/* ---- lookup tables ---- */

static lw_status refuse_table(lw_builder *b, const char *of, const char *table, const char *why) {
  return lw_refuse(b, LW_ERROR_USAGE, "table '%s' of %s: %s", table ? table : "", of, why);
}

static int is_word(const char *name) {
  for (const char *c = name; *c; c++)
    if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (c > name && *c >= '0' && *c <= '9')))
      return 0;
  return *name != 0;
}

static lw_status take_table_name(lw_builder *b, const char *of, const char *name, int32_t first_table) {
  lw_status e;
  if (!name || !is_word(name)) return refuse_table(b, of, name, "a name has letters, digits and _, a letter first");
  for (int32_t k = first_table; k < b->lookups; k++)
    if (strcmp(b->lookup_name + b->lookup[k].name, name) == 0)
      return refuse_table(b, of, name, "it has two tables of this name");
  return (e = append_name(b, name, append_lookup_name)) ? e : append_lookup_name(b, 0);
}

static lw_status take_knots(lw_builder *b, const char *of, const char *table, const double *knot, int32_t knots) {
  lw_status e = LW_OK;
  if (knots < 2 || !knot) return refuse_table(b, of, table, "each argument needs two abscissae at least");
  if (!lw_all_finite(knot, knots)) return refuse_table(b, of, table, "an abscissa is not finite; give a number");
  for (int32_t k = 1; k < knots; k++)
    if (!(knot[k] > knot[k - 1])) return refuse_table(b, of, table, "abscissae must increase");
  for (int32_t k = 0; !e && k < knots; k++) e = append_lookup_knot(b, knot[k]);
  return e;
}

/* Of periodic arguments all but the last rows, which are equal to the first. */
static lw_status take_values(lw_builder *b, const char *of, const lw_lookup_table *t, lookup_part *made) {
  const int32_t columns = t->y ? t->knots[1] : 1, skipped[2] = {t->periodic[0] != 0, t->y && t->periodic[1]};
  lw_status e = LW_OK;
  for (int32_t i = 0; !e && i < t->knots[0]; i++)
    for (int32_t j = 0; !e && j < columns; j++) {
      const int32_t row = skipped[0] && i + 1 == t->knots[0] ? 0 : i, column = skipped[1] && j + 1 == columns ? 0 : j;
      const double value = t->values[(size_t)i * columns + j], first = t->values[(size_t)row * columns + column];
      if (!isfinite(value)) e = refuse_table(b, of, t->name, "a value is not finite; give a number");
      else if (value != first) e = refuse_table(b, of, t->name, "a periodic table ends with its first row");
      else if (row == i && column == j) e = append_lookup_value(b, value), made->values++;
    }
  return e;
}

#define MOST_VALUES 4000000

static lw_status take_table(lw_builder *b, const char *of, const lw_lookup_table *t, int32_t first_table) {
  const int32_t columns = t->y ? t->knots[1] : 1;
  lookup_part made = {{t->knots[0], t->y ? columns : 0, t->periodic[0] != 0, t->y && t->periodic[1],
                       (int32_t)t->interpolation, (int32_t)t->outside},
                      b->lookup_names,
                      b->lookup_knots,
                      b->lookup_values,
                      0};
  lw_status e;
  if ((e = take_table_name(b, of, t->name, first_table)) || (e = take_knots(b, of, t->name, t->x, t->knots[0])) ||
      (t->y && (e = take_knots(b, of, t->name, t->y, t->knots[1]))))
    return e;
  if ((int)t->interpolation < 0 || t->interpolation >= LW_INTERPOLATIONS || (int)t->outside < 0 ||
      t->outside >= LW_OUTSIDES || !t->values)
    return refuse_table(b, of, t->name, "it needs values, lw_interpolation and lw_outside");
  if ((int64_t)t->knots[0] * columns > MOST_VALUES) return refuse_table(b, of, t->name, "it is too large");
  if ((e = take_values(b, of, t, &made))) return e;
  return append_lookup(b, made);
}

/* ---- formulas ---- */

static int32_t number_of_operation(const char *name) {
  int32_t k = 0;
  while (k < LW_OPERATIONS && (!name || strcmp(name, lw_operation_names[k]) != 0)) k++;
  return k;
}

static lw_status take_operation(lw_builder *b, const char *of, const lw_formula *f, int32_t k) {
  const lw_operation *given = &f->operation[k];
  const lw_instruction made = {number_of_operation(given->name), {given->a, given->b, given->c}};
  if (made.operation == LW_OPERATIONS)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of %s: there is no operation '%s'", of,
                     given->name ? given->name : "");
  const int32_t wrong = lw_wrong_operand(&made, f->numbers, f->quantities, f->tables, k);
  if (wrong == 1 && made.operation == LW_DO_integer_power)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of %s: an exponent of %d is too large", of, (int)given->b);
  if (wrong >= 0)
    return lw_refuse(b, LW_ERROR_USAGE, "formula of %s: operation %d has a wrong operand %d", of, (int)k,
                     (int)made.operand[wrong]);
  return append_instruction(b, made);
}

static lw_status take_formula(lw_builder *b, const char *of, const lw_formula *f, formula_part made) {
  const int by_force = made.type < LW_FORCE_TYPES, results = by_force ? lw_force_types[made.type].results : 1;
  const int has_inputs = by_force || made.type == OF_STATE;
  lw_status e = LW_OK;
  if (f->numbers < 0 || f->inputs < 0 || f->quantities < 0 || f->tables < 0 || f->operations < 1 ||
      f->results != results || (f->inputs && !has_inputs))
    return lw_refuse(b, LW_ERROR_USAGE, "formula of %s: it needs %d results and one operation at least%s", of, results,
                     has_inputs ? "" : ", and has no inputs");
  made.rows = (lw_formula_rows){.numbers = f->numbers,
                                .inputs = f->inputs,
                                .quantities = f->quantities,
                                .instructions = f->operations,
                                .results = f->results,
                                .tables = f->tables,
                                .first_number = b->formula_numbers,
                                .first_input = b->formula_inputs,
                                .first_quantity = b->quantities,
                                .first_instruction = b->instructions,
                                .first_result = b->results,
                                .first_table = b->lookups};
  for (int32_t k = 0; !e && k < f->numbers; k++) e = take_number(b, of, f->number[k]);
  for (int32_t k = 0; !e && k < f->quantities; k++) e = lw_take_quantity(b, of, &f->quantity[k]);
  for (int32_t k = 0, first = b->lookups; !e && k < f->tables; k++) e = take_table(b, of, &f->table[k], first);
  for (int32_t k = 0; !e && k < f->operations; k++) e = take_operation(b, of, f, k);
  for (int32_t k = 0; !e && k < f->results; k++) {
    if (f->result[k] < 0 || f->result[k] >= f->operations) e = refuse(b, of, "result", f->result[k]);
    else e = append_result(b, f->result[k]);
  }
  b->formula_inputs += f->inputs;
  return e ? e : append_formula(b, made);
}

#define LONGEST_OWNER 100

lw_status lw_builder_set_formula(lw_builder *b, const char *force, const lw_formula *f) {
  char of[LONGEST_OWNER];
  int32_t k;
  lw_status e;
  if ((e = lw_find_among(b, A_FORCE, "formula", force, &k))) return e;
  force_part *part = &b->force[k];
  const lw_force_type *type = &lw_force_types[part->type];
  if (!type->results || part->has_formula)
    return lw_refuse(b, LW_ERROR_USAGE, "%s '%s' %s", type->name, force,
                     type->results ? "has a formula already" : "takes no formula");
  snprintf(of, sizeof of, "force '%s'", force);
  if ((e = take_formula(b, of, f, (formula_part){.owner = part->name, .type = part->type, .row = part->row}))) return e;
  part->has_formula = 1;
  mark_read(b, f);
  return LW_OK;
}

lw_status lw_builder_add_output(lw_builder *b, const char *name, const lw_formula *f) {
  formula_part made = {.type = OF_OUTPUT, .row = b->formula_outputs};
  char of[LONGEST_OWNER];
  lw_status e;
  if (!(made.owner = lw_new_name(b, AN_OUTPUT, "output", name, b->formula_outputs))) return b->status;
  snprintf(of, sizeof of, "output '%s'", name);
  if ((e = take_formula(b, of, f, made))) return e;
  b->formula_outputs++;
  return LW_OK;
}

lw_status lw_builder_add_state(lw_builder *b, const char *name, double start, double nominal, const lw_formula *f) {
  formula_part made = {.type = OF_STATE, .row = b->formula_states};
  char of[LONGEST_OWNER];
  lw_status e;
  if (!(made.owner = lw_new_name(b, A_STATE, "state", name, b->formula_states))) return b->status;
  if (!isfinite(start))
    return lw_refuse(b, LW_ERROR_PARAMETER, "state '%s': its start must be finite; give a number", name);
  if (!(nominal > 0.0 && isfinite(nominal)))
    return lw_refuse(b, LW_ERROR_PARAMETER, "state '%s': its nominal value must be finite and above zero", name);
  snprintf(of, sizeof of, "state '%s'", name);
  if ((e = take_formula(b, of, f, made)) || (e = append_state(b, (state_part){start, nominal}))) return e;
  mark_read(b, f);
  return LW_OK;
}

static lw_status refuse_kinks(lw_builder *b, const char *coupling, const lw_formula *f) {
  for (int32_t k = 0; k < f->operations; k++)
    if (!lw_is_smooth(number_of_operation(f->operation[k].name)))
      return lw_refuse(b, LW_ERROR_USAGE,
                       "formula of coupling '%s': '%s' has no continuous slope, with which joints could follow; use a "
                       "table with monotone interpolation",
                       coupling, f->operation[k].name);
  for (int32_t k = 0; k < f->tables; k++)
    if (f->table[k].interpolation == LW_LOOKUP_LINEAR)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "formula of coupling '%s': table '%s' has no continuous slope, with which joints could follow; "
                       "give it monotone interpolation",
                       coupling, f->table[k].name ? f->table[k].name : "");
  return LW_OK;
}

static lw_status join_terms(lw_builder *b, int32_t coupling, const lw_formula *f) {
  lw_status e = LW_OK;
  for (int32_t k = 0; !e && k < f->quantities; k++) {
    const lw_formula_quantity *read = &f->quantity[k];
    if (strcmp(read->field, "time") == 0) continue;
    if (strcmp(read->field, "q") != 0 || !read->owner)
      return lw_refuse(b, LW_ERROR_USAGE,
                       "formula of coupling '%s' reads '%s': it may read coordinates, 'q', and 'time'",
                       b->coupling[coupling].name, read->field);
    e = lw_join_term(b, coupling, read->owner, read->index);
  }
  return e;
}

lw_status lw_builder_set_coupling_formula(lw_builder *b, const char *coupling, const lw_formula *f) {
  char of[LONGEST_OWNER];
  int32_t k;
  lw_status e;
  if ((e = lw_find_among(b, A_COUPLING, "formula", coupling, &k)) || (e = refuse_kinks(b, coupling, f))) return e;
  coupling_part *part = &b->coupling[k];
  if (part->has_formula) return lw_refuse(b, LW_ERROR_USAGE, "coupling '%s' has a formula already", coupling);
  snprintf(of, sizeof of, "coupling '%s'", coupling);
  if ((e = take_formula(b, of, f, (formula_part){.owner = part->name, .type = OF_COUPLING, .row = k}))) return e;
  part->has_formula = 1;
  return join_terms(b, k, f);
}

static int by_owner(const void *a, const void *c) {
  const formula_part *x = a, *y = c;
  return x->type != y->type ? (x->type > y->type) - (x->type < y->type) : (x->row > y->row) - (x->row < y->row);
}

void lw_sort_formulas(lw_builder *b) {
  if (b->formulas) qsort(b->formula, (size_t)b->formulas, sizeof *b->formula, by_owner);
}
