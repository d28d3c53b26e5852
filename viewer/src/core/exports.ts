/** What the WebAssembly module exports: functions of linkwork.h and of viewer/core, on addresses in its memory. */

export interface Exports extends WebAssembly.Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(size: number): number;
  free(address: number): void;

  lw_model_load(bytes: number, size: number, model: number, message: number, messageSize: number): number;
  lw_model_free(model: number): void;
  lw_model_sizes(result: number, model: number): void; // structs are returned at an address
  lw_model_count(model: number, kind: number): number;
  lw_model_name(model: number, kind: number, index: number): number;
  lw_field_count(): number;
  lw_model_field(model: number, index: number, field: number): number;
  lw_crc32(before: number, data: number, size: number): number;

  lw_state_create(model: number, state: number): number;
  lw_state_free(state: number): void;
  lw_state_message(state: number): number;
  lw_state_reals(state: number): number;
  lw_state_changed(state: number, valid: number): void;
  lw_describe(state: number, offset: number, text: number, size: number): void;
  lw_set_reals(state: number, offsets: number, n: number, values: number): number;

  lw_evaluate(state: number, stage: number): number;
  lw_assemble(state: number, tolerance: number): number;
  lw_start_events(state: number, changed: number): number;
  lw_handle_events(state: number, changed: number): number;
  lw_event_indicators(state: number, indicators: number): number;
  lw_next_event_time(state: number, time: number): number;
  lw_recent_transitions(state: number, text: number, size: number): void;
  lw_discrete_state_changed(state: number): number;
  lw_step_accepted(state: number): void;
  lw_watch_constraints(state: number, rtol: number, atol: number): void;
  lw_check_constraints(state: number): number;

  lw_web_ode_create(state: number, states: number, indicators: number, options: number): number;
  lw_web_ode_set_on_step(ode: number, counting: number, watching: number, count: number, revolutions: number): void;
  lw_absolute_tolerances(state: number, duration: number, tolerance: number, atol: number): void;
  lw_ode_set_absolute_tolerances(ode: number, atol: number): void;
  lw_ode_absolute_tolerances(ode: number): number;
  lw_ode_free(ode: number): void;
  lw_ode_start(ode: number, t: number, y: number): number;
  lw_ode_run(ode: number, bound: number, tries: bigint, output: number): number;
  lw_ode_time(ode: number): number;
  lw_ode_y(ode: number): number;
  lw_ode_crossings(ode: number): number;
  lw_ode_get_step_control(result: number, ode: number): void;
  lw_ode_set_step_control(ode: number, control: number): void;
  lw_ode_get_statistics(result: number, ode: number): void;

  lw_version(): number;
}
