// The part of WebAssembly that the host of the row kernel uses: neither lib ES2023 nor the types of Node 20 include it.
declare namespace WebAssembly {
  function validate(code: Uint8Array): boolean;
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  interface Global {
    readonly value: number;
  }
}
