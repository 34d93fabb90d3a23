// A sandbox process for the benches, with as many droplets as are asked for. Posting 100,000 of them would take longer than
// what is measured, so this process runs the sandbox itself and fills its world from inside.
import { fork } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../scripts/run-vitest.mjs';

const self = fileURLToPath(import.meta.url);

/** Resolves with its origin, an access token with write scope, the environment of a client, how to slow it down, and its end. */
export async function filledSandbox(droplets) {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  // Where the packages that it imports are found.
  const cache = join(root, 'node_modules/.cache/cloudctl');
  mkdirSync(cache, { recursive: true });
  const bundle = join(mkdtempSync(join(cache, 'bench-')), 'sandbox.mjs');
  const entryPoints = [join(root, 'src/sandbox/sandbox.ts')];
  /** @type {import('esbuild').BuildOptions} */
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external' };
  await build({ ...options, entryPoints, outfile: bundle });
  const child = fork(self, [bundle, String(droplets)]);
  const ended = new Promise((resolve) => child.once('close', resolve));
  const ready = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('close', () => reject(new Error('the sandbox ended before it was ready')));
  });
  const folders = { CLOUDCTL_CONFIG_DIR: join(folder, 'config'), CLOUDCTL_STATE_DIR: join(folder, 'state') };
  return {
    ...ready,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ...folders,
      CLOUDCTL_BASE_URL: ready.origin,
      CLOUDCTL_ACCESS_TOKEN: ready.token,
    },
    /** From now on each such request takes so many milliseconds. */
    slow: async (method, path, delay) => {
      const fault = { match: { method, path }, action: 'delay', times: 1_000_000, delay };
      const answer = await fetch(new URL('/_sandbox/faults', ready.adminUrl), {
        method: 'POST',
        headers: { 'x-admin-token': ready.adminToken },
        body: JSON.stringify(fault),
      });
      if (answer.status !== 201) throw new Error(`the sandbox answered ${answer.status}: ${await answer.text()}`);
    },
    /** From now on droplets stay `new`. */
    freeze: async () => {
      const answer = await fetch(new URL('/_sandbox/clock', ready.adminUrl), {
        method: 'POST',
        headers: { 'x-admin-token': ready.adminToken },
        body: JSON.stringify({ freeze: true }),
      });
      if (answer.status !== 200) throw new Error(`the sandbox answered ${answer.status}: ${await answer.text()}`);
    },
    /** The requests to the API since the last call: their methods, paths, and times in milliseconds. */
    requests: () => {
      child.send('requests');
      return new Promise((resolve) => child.once('message', resolve));
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      for (const made of [folder, dirname(bundle)]) rmSync(made, { recursive: true, force: true });
    },
  };
}

if (process.argv[1] === self) await serve(process.argv[2], Number(process.argv[3]));

async function serve(bundle, droplets) {
  const { startServers } = await import(pathToFileURL(bundle).href);
  // Created an hour ago: what is as new as the list itself would be counted as created meanwhile.
  let ago = 3_600_000;
  const sandbox = await startServers({ now: () => Date.now() - ago, rateLimit: '100000000/h' });
  const { ready, world } = sandbox;
  const [{ uuid, email }] = ready.users;
  const names = Array.from({ length: droplets }, (_, at) => `web-${at + 1}`);
  const blueprint = { region: 'nyc3', size: 's-1vcpu-1gb', image: 155_133_621, tags: ['bench'], features: [] };
  world.droplets.create(uuid, names, blueprint);
  ago = 0;
  const answer = await fetch(new URL('/_sandbox/tokens', ready.admin_url), {
    method: 'POST',
    headers: { 'x-admin-token': ready.admin_token },
    body: JSON.stringify({ user: email, scope: 'read write' }),
  });
  const { access_token: token } = /** @type {{ access_token: string }} */ (await answer.json());
  let requests = [];
  subscribe('http.server.request.start', ({ request: { method, url } }) => {
    if (url.startsWith('/v2/')) requests.push({ method, path: url, at: Date.now() });
  });
  process.on('message', () => {
    process.send(requests);
    requests = [];
  });
  // Whoever started it may be killed: nothing is left running then.
  process.once('disconnect', () => process.exit());
  const admin = { adminUrl: ready.admin_url, adminToken: ready.admin_token };
  process.send({ origin: ready.base_url, token, total: world.droplets.of(uuid).length, ...admin });
}
