import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './run-vitest.mjs';

const bin = join(root, 'bin/cloudctl.cjs');

/** Starts the built sandbox on free ports. It writes its profile `sandbox` into the config folder that `env` names. */
export async function startSandbox(env) {
  const words = [bin, 'sandbox', 'start', '-o', 'json', '--port', '0', '--api-port', '0'];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const ready = await firstLine(child.stdout);
  return {
    ready,
    pid: child.pid,
    /** Every authorization request is approved by this person from now on, without a page. */
    approve: (user) => consent(ready, { mode: 'approve', user }),
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return JSON.parse(line);
  throw new Error('the sandbox ended before it was ready');
}

async function consent(ready, script) {
  const answer = await fetch(new URL('/_sandbox/consent', ready.admin_url), {
    method: 'POST',
    headers: { 'x-admin-token': ready.admin_token, 'content-type': 'application/json' },
    body: JSON.stringify(script),
  });
  if (!answer.ok) throw new Error(`the sandbox refused the consent script: ${answer.status} ${await answer.text()}`);
}
