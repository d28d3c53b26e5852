/** The memory of the WebAssembly module. Growth replaces its buffer, so that a view serves only until the next call. */

import type { Exports } from "./exports";
import { MemoryError } from "./errors";

const BYTES = 8; // of a double

export class Core {
  private constructor(readonly call: Exports) {
    call._initialize();
  }

  static async load(module: BufferSource | WebAssembly.Module): Promise<Core> {
    const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
    const instance = await WebAssembly.instantiate(compiled, {});
    return new Core(instance.exports as Exports);
  }

  get version(): string {
    return this.text(this.call.lw_version());
  }

  get memory(): ArrayBuffer {
    return this.call.memory.buffer;
  }

  get data(): DataView {
    return new DataView(this.memory);
  }

  allocate(bytes: number): number {
    const address = this.call.malloc(Math.max(bytes, 1));
    if (address === 0) throw new MemoryError(`the page's simulator has no memory for ${bytes} bytes`);
    return address;
  }

  allocateDoubles(count: number): number {
    return this.allocate(BYTES * count);
  }

  /** Memory for as long as a function runs. */
  with<T>(bytes: number, use: (address: number) => T): T {
    const address = this.allocate(bytes);
    try {
      return use(address);
    } finally {
      this.call.free(address);
    }
  }

  /** The same with numbers in it. */
  withDoubles<T>(values: ArrayLike<number>, use: (address: number) => T): T {
    return this.with(BYTES * values.length, (address) => {
      this.doubles(address, values.length).set(values);
      return use(address);
    });
  }

  doubles(address: number, count: number): Float64Array {
    return new Float64Array(this.memory, address, count);
  }

  integers(address: number, count: number): Int32Array {
    return new Int32Array(this.memory, address, count);
  }

  bytes(address: number, count: number): Uint8Array {
    return new Uint8Array(this.memory, address, count);
  }

  /** A text that ends with a zero. */
  text(address: number): string {
    const from = new Uint8Array(this.memory, address);
    return new TextDecoder().decode(from.subarray(0, from.indexOf(0)));
  }
}
