/* Reverse accumulation (Griewank, A., Walther, A.: Evaluating derivatives, SIAM 2008): of one number the derivative by a
 * node is the sum over the nodes that have it as an operand, of the derivative by them times their partial derivative.
 * Partial derivatives are recorded once for all numbers. */
#include "tape/differentiate.h"
#include <cmath>

namespace lw {

namespace {

constexpr recorded ZERO = {0.0, 0}, HALF = {0.5, 0}, ONE = {1.0, 0};

class sweep {
 public:
  sweep(recorder &to, const std::vector<recorded> &inputs) : to(to), moves(to.kept.nodes.size(), 0) {
    for (const recorded &one : inputs) moves[(size_t)one.node] = 1;
    for (size_t i = 0; i < moves.size(); i++)
      for (int k = 0; k < lw_tape_operands(to.kept.nodes[i].operation); k++)
        moves[i] |= moves[(size_t)to.kept.nodes[i].operand[k]];
  }

  /* The derivatives of a number by all nodes before it. */
  std::vector<recorded> back_from(recorded number) {
    std::vector<recorded> by(moves.size(), ZERO);
    if (number.node == 0) return by;
    by[(size_t)number.node] = ONE;
    for (int32_t i = number.node; i > 0; i--)
      if (moves[(size_t)i] && !(by[(size_t)i].node == 0 && by[(size_t)i].value == 0.0)) pass_on(i, &by);
    return by;
  }

 private:
  recorder &to;
  std::vector<char> moves; /* nodes that change with an input */

  recorded value(int32_t node) const { return {to.kept.value[(size_t)node], node}; }
  recorded operand(int32_t node, int k) const { return of_node(to.kept.nodes[(size_t)node].operand[k]); }
  recorded of_node(int32_t node) const {
    const bool constant = to.kept.nodes[(size_t)node].operation == LW_TAPE_CONSTANT;
    return {to.kept.value[(size_t)node], constant ? 0 : node};
  }
  recorded add(recorded a, recorded b) { return to.apply(LW_TAPE_add, a, b); }
  recorded times(recorded a, recorded b) { return to.apply(LW_TAPE_multiply, a, b); }
  recorded over(recorded a, recorded b) { return to.apply(LW_TAPE_divide, a, b); }
  recorded minus(recorded a) { return to.apply(LW_TAPE_minus, a); }
  recorded where_less(recorded a, recorded b, recorded yes, recorded no) {
    return to.apply(LW_TAPE_select_less, a, b, yes, no);
  }

  /* To the operands of a node, which is not needed again. A node comes after its operands. */
  void pass_on(int32_t node, std::vector<recorded> *by) {
    const lw_tape_operation operation = to.kept.nodes[(size_t)node].operation;
    const recorded d = (*by)[(size_t)node], f = value(node);
    const auto give = [&](int k, recorded derivative) {
      const int32_t place = to.kept.nodes[(size_t)node].operand[k];
      if (moves[(size_t)place]) (*by)[(size_t)place] = add((*by)[(size_t)place], derivative);
    };
    const auto moved = [&](int k) { return moves[(size_t)to.kept.nodes[(size_t)node].operand[k]] != 0; };
    if (lw_tape_operands(operation) == 0) return;
    const recorded a = operand(node, 0), b = lw_tape_operands(operation) > 1 ? operand(node, 1) : ZERO;
    switch (operation) {
      case LW_TAPE_add: give(0, d), give(1, d); break;
      case LW_TAPE_subtract: give(0, d), give(1, minus(d)); break;
      case LW_TAPE_multiply:
        if (moved(0)) give(0, times(d, b));
        if (moved(1)) give(1, times(d, a));
        break;
      case LW_TAPE_divide: {
        const recorded share = times(d, over(ONE, b));
        give(0, share);
        if (moved(1)) give(1, minus(times(share, f)));
        break;
      }
      case LW_TAPE_minus: give(0, minus(d)); break;
      case LW_TAPE_sqrt: give(0, times(d, over(HALF, f))); break;
      case LW_TAPE_abs: give(0, where_less(a, ZERO, minus(d), d)); break;
      case LW_TAPE_select_less:
        if (moved(2)) give(2, where_less(a, b, d, ZERO));
        if (moved(3)) give(3, where_less(a, b, ZERO, d));
        break;
      case LW_TAPE_sine: give(0, times(d, to.apply(LW_TAPE_cosine, a))); break;
      case LW_TAPE_cosine: give(0, minus(times(d, to.apply(LW_TAPE_sine, a)))); break;
      case LW_TAPE_arctan2: {
        const recorded share = times(d, over(ONE, add(times(a, a), times(b, b))));
        if (moved(0)) give(0, times(share, b));
        if (moved(1)) give(1, minus(times(share, a)));
        break;
      }
      case LW_TAPE_exp: give(0, times(d, f)); break;
      case LW_TAPE_log: give(0, times(d, over(ONE, a))); break;
      case LW_TAPE_pow:
        if (moved(0)) give(0, times(d, times(b, to.apply(LW_TAPE_pow, a, add(b, {-1.0, 0})))));
        if (moved(1)) give(1, times(d, times(f, to.apply(LW_TAPE_log, a))));
        break;
      case LW_TAPE_sinh: give(0, times(d, to.apply(LW_TAPE_cosh, a))); break;
      case LW_TAPE_cosh: give(0, times(d, to.apply(LW_TAPE_sinh, a))); break;
      case LW_TAPE_tanh: give(0, times(d, times(add(ONE, minus(f)), add(ONE, f)))); break;
      default: break; /* whole numbers do not change */
    }
  }
};

} // namespace

std::vector<recorded> differentiate(recorder &to, const std::vector<recorded> &numbers,
                                    const std::vector<recorded> &inputs) {
  for (const guard &g : to.kept.guards)
    if (g.comparison == LW_TAPE_equal) throw refusal("a number that is zero there may be about to change");
  sweep back(to, inputs);
  std::vector<recorded> found;
  for (const recorded &number : numbers) {
    const std::vector<recorded> by = back.back_from(number);
    for (const recorded &input : inputs) found.push_back(by[(size_t)input.node]);
  }
  return found;
}

} // namespace lw
