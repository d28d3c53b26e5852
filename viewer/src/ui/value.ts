/** A value that others follow. */
export class Value<T> {
  private readonly observers = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get(): T {
    return this.current;
  }

  /** Observers hear of it only where it changes. */
  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const observer of this.observers) observer(value);
  }

  /** Call `observer` now and at each change, until `signal` aborts. */
  follow(observer: (value: T) => void, signal?: AbortSignal): void {
    this.onChange(observer, signal);
    observer(this.current);
  }

  onChange(observer: (value: T) => void, signal?: AbortSignal): void {
    this.observers.add(observer);
    signal?.addEventListener("abort", () => this.observers.delete(observer));
  }
}
