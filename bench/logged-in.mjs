// What the benchmarks of whole commands start from: a sandbox, and profiles that are logged in to it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { visit } from '../scripts/page-visitor.mjs';
import { root } from '../scripts/run-vitest.mjs';

/** The built program. */
export const bin = join(root, 'bin/cloudctl.cjs');

/** An environment in which nothing slows node down; NODE_EXTRA_CA_CERTS alone adds 35 ms to each start of node 20. */
export function bareEnvironment(home) {
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'runtime'),
    XDG_DATA_HOME: join(home, 'data'),
  };
}

export function profileFolders(home, name) {
  return { CLOUDCTL_CONFIG_DIR: join(home, name, 'config'), CLOUDCTL_STATE_DIR: join(home, name, 'state') };
}

/** Logs in into folders named `name`, into a store of the given kind; resolves with the environment that finds the session. */
export async function logIn(home, env, ready, { name, store, baseUrl = ready.base_url, scope = 'read' }) {
  const own = { ...env, ...profileFolders(home, name) };
  const settings = {
    auth_url: ready.auth_url,
    base_url: baseUrl,
    client_id: ready.client_id,
    callback_urls: ready.callback_url,
    credential_store: store,
  };
  for (const [key, value] of Object.entries(settings)) {
    const { status, stderr } = spawnSync(process.execPath, [bin, 'config', 'set', key, value], { env: own });
    if (status !== 0) throw new Error(`config set ${key} ended with ${status}: ${stderr}`);
  }
  const child = spawn(process.execPath, [bin, 'auth', 'login', '--no-browser', '--scope', scope], {
    env: { ...own, CLOUDCTL_CLIENT_SECRET: ready.client_secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let printed = '';
  let visited;
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text;
    const url = /^(http\S+)\n/m.exec(printed)?.[1];
    // The sandbox approves without a page.
    if (url !== undefined) visited ??= visit(url, () => undefined);
  });
  const code = await ended;
  await visited;
  if (code !== 0) throw new Error(`auth login into the ${store} store ended with ${code}: ${printed}`);
  return own;
}

/** Serves the origin over https as well, with a certificate of its own in the file `ca`. */
export async function startTlsProxy(home, origin) {
  const [key, ca] = [join(home, 'key.pem'), join(home, 'ca.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', ca], { stdio: 'ignore' });
  writeFileSync(key, readFileSync(key), { mode: 0o600 });
  const target = new URL(origin);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(ca) }, (incoming, answer) => {
    const { method, url: path } = incoming;
    const outgoing = request(target, { method, path, headers: { ...incoming.headers, host: target.host } }, (reply) => {
      answer.writeHead(reply.statusCode, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(outgoing.on('error', () => answer.destroy()));
  });
  const port = await listen(server);
  return { url: `https://localhost:${port}`, ca, stop: () => server.close() };
}

/**
 * Resolves with the port.
 * @param {import('node:net').Server} server
 * @returns {Promise<number>}
 */
export function listen(server) {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port)),
  );
}
