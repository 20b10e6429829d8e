// Compiles the row kernel and writes it as text into src/encode/kernel-bytes.ts, so that no file is read at run time.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const encode = fileURLToPath(new URL("../src/encode/", import.meta.url));
const PAGES = "256"; // of 64 KiB: all the memory the kernel ever has

let wasm;
const { error, stderr } = await asc.main(
  [
    "kernel/rows.ts",
    ...["--baseDir", encode, "--outFile", "kernel.wasm", "--runtime", "stub", "--enable", "simd"],
    ...["-O3", "--converge", "--noAssert", "--initialMemory", PAGES, "--maximumMemory", PAGES],
  ],
  { writeFile: (name, contents) => void (wasm = contents) },
);
if (error) {
  process.stderr.write(stderr.toString());
  throw error;
}
const text = Buffer.from(wasm).toString("base64");
await writeFile(
  new URL("../src/encode/kernel-bytes.ts", import.meta.url),
  `// Made by scripts/build-kernel.mjs from kernel/: ${wasm.length} bytes of WebAssembly.\nexport const KERNEL_BYTES =\n  "${text}";\n`,
);
