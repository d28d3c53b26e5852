// Bundles TypeScript: node bundle.mjs ENTRY OUTPUT [--node] [--banner=FILE]
// The page and its worker become scripts without imports or globals; --node: a module for Node.js, as tests run it.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "boolean", default: false }, banner: { type: "string" } },
});
const [entry, output] = positionals;
const target = values.node
  ? { platform: "node", format: "esm", target: "node18" }
  : { platform: "browser", format: "iife", target: "es2022", minify: true };
const banner = values.banner ? readFileSync(values.banner, "utf8") : "";

try {
  await build({
    ...target,
    entryPoints: [entry],
    outfile: output,
    bundle: true,
    charset: "utf8",
    legalComments: "none", // the banner has the licences in full
    loader: { ".css": "text" },
    banner: { js: banner },
    logLevel: "warning",
  });
} catch {
  process.exitCode = 1; // esbuild has written the reason
}
