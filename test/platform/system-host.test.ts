import { spawnSync } from 'node:child_process';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../src/platform/system-host.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

describe('this machine', () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleProgram({ text: program }, 'esm');
  });
  afterAll(() => bundle.remove());

  it('has time, chance and folders', async () => {
    const host = systemHost();
    const before = host.clock.now();
    await host.clock.sleep(20);
    expect(host.clock.now() - before).toBeGreaterThanOrEqual(15);
    await expect(host.clock.sleep(1000, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    expect(host.random(32)).not.toEqual(host.random(32));
    expect(host.random(32).length).toBe(32);
    expect(host.folders.config).not.toBe(host.folders.state);
  });

  it('tells of the network when requests can be sent, and not before', async () => {
    let told = 0;
    const host = systemHost({
      onNetwork: async () => {
        told += 1;
      },
    });
    expect(told).toBe(0);
    await host.createSender({ env: {} });
    expect(told).toBe(1);
  });

  it('is started without the HTTP client, the keychain, the opener, a stream or a process', async () => {
    const { metafile } = await build({
      entryPoints: ['src/platform/system-host.ts'],
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      write: false,
      outdir: 'unwritten',
      metafile: true,
      external: ['@napi-rs/keyring', 'fs-native-extensions'],
      logLevel: 'silent',
    });
    const reached = reachable(metafile.outputs, 'unwritten/system-host.js');
    expect(reached.inputs.filter((input) => input.includes('node_modules'))).toEqual([]);
    // In the build, a module of Node is loaded when it is used (test/e2e/builtin-modules.test.ts).
    const files = ['node:fs', 'node:os', 'node:path', 'node:timers/promises'];
    expect(reached.externals.sort()).toEqual(['node:child_process', ...files]);
  });

  it('opens no standard stream before something is written', () => {
    const { stdout } = spawnSync(process.execPath, [bundle.script], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([]);
  });
});

/** Prints which of the standard streams were made, which Node does when they are first touched. */
const program = `
  import { writeSync } from 'node:fs';
  import { systemHost } from './src/platform/system-host.ts';
  const made = [];
  for (const name of ['stdin', 'stdout', 'stderr']) {
    const { get } = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, { configurable: true, get() { made.push(name); return get.call(process); } });
  }
  systemHost();
  writeSync(1, JSON.stringify(made));
`;

interface Output {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
}

function reachable(outputs: Readonly<Record<string, Output>>, from: string) {
  const seen = new Set<string>();
  const externals = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (kind !== 'import-statement') continue;
      if (external === true) externals.add(next);
      else visit(next);
    }
  };
  visit(from);
  return { inputs: [...seen].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})), externals: [...externals] };
}
