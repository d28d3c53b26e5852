/** What the WebAssembly module exports: functions of linkwork.h and of viewer/core, on addresses in its memory. */

export interface Exports extends WebAssembly.Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(size: number): number;
  free(address: number): void;

  lw_model_load(bytes: number, size: number, model: number, message: number, messageSize: number): number;
  lw_model_free(model: number): void;
  lw_model_put_parameters(model: number, values: number, bytes: number, size: number): number;
  lw_model_sizes(result: number, model: number): void; // structs are returned at an address
  lw_model_count(model: number, kind: number): number;
  lw_model_name(model: number, kind: number, index: number): number;
  lw_formula_quantities(model: number, force: number, offsets: number): number;
  lw_formula_results(model: number, force: number): number;
  lw_formula_tables(model: number, force: number): number;
  lw_field_count(): number;
  lw_model_field(model: number, index: number, field: number): number;

  lw_state_create(model: number, state: number): number;
  lw_state_free(state: number): void;
  lw_state_message(state: number): number;
  lw_state_reals(state: number): number;
  lw_state_changed(state: number, valid: number): void;
  lw_describe(state: number, offset: number, text: number, size: number): void;
  lw_set_reals(state: number, offsets: number, n: number, values: number): number;

  lw_formula_values(state: number, force: number, rows: number, quantities: number, values: number, args: number): number;
  lw_evaluate(state: number, stage: number): number;
  lw_assemble(state: number, tolerance: number): number;
  lw_event_indicators(state: number, indicators: number): number;
  lw_discrete_state_changed(state: number): number;
  lw_step_accepted(state: number): void;

  lw_run_create(model: number, options: number, inputs: number, start: number, run: number, message: number, size: number): number;
  lw_run_free(run: number): void;
  lw_run_advance(run: number, until: number, tries: bigint): number;
  lw_run_set_inputs(run: number, inputs: number): number;
  lw_run_get_outcome(run: number): number;
  lw_run_status(run: number): number;
  lw_run_message(run: number): number;
  lw_run_reached(result: number, run: number): void;
  lw_run_state(run: number): number;
  lw_run_get_rows(result: number, run: number): void;
  lw_run_get_phases(result: number, run: number): void;
  lw_run_get_events(result: number, run: number): void;

  lw_version(): number;
}
