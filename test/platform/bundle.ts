import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

export interface Bundle {
  readonly folder: string;
  readonly script: string;
  remove(): void;
}

/** A program of ours as one file beside the project's packages, so that the native libraries are found from it. */
export async function bundleProgram(
  source: { readonly file: string } | { readonly text: string },
  format: 'cjs' | 'esm',
): Promise<Bundle> {
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync(join(process.cwd(), 'node_modules/.cache', 'program-'));
  const script = join(folder, format === 'cjs' ? 'program.cjs' : 'program.mjs');
  await build({
    ...('file' in source
      ? { entryPoints: [source.file] }
      : { stdin: { contents: source.text, resolveDir: process.cwd(), loader: 'ts' as const } }),
    outfile: script,
    bundle: true,
    platform: 'node',
    format,
    external: ['@napi-rs/keyring', 'fs-native-extensions'],
    logLevel: 'silent',
    ...(format === 'esm' ? { banner: { js: requireBanner } } : {}),
  });
  return { folder, script, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Bundled CommonJS packages require Node's own modules. */
const requireBanner =
  "import { createRequire as bannerRequire } from 'node:module'; const require = bannerRequire(import.meta.url);";
