import { expect, it } from 'vitest';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { runCloudctl } from './run-cloudctl.ts';

const cr = '\r';
const source = ['db', 'preflight', '--source', 'postgres://u@h/d'];

// A shell that reads a Windows file passes the CR on, and it may be all that is wrong.
it.each([
  [['config', 'list', '--profile', `work${cr}`]],
  [['auth', 'switch', `work${cr}`]],
  [['auth', 'remove', `work${cr}`]],
  [['droplets', 'list', '--limit', `5${cr}`]],
  [['droplets', 'list', '--timeout', `5s${cr}`]],
  [['droplets', 'list', '-o', `json${cr}`]],
  [['droplets', 'get', `web-01${cr}`]],
  [['droplets', 'delete', `web-01${cr}`, '-y']],
  [['droplets', `web${cr}`, 'x']],
  [['droplets', 'create', '--names-from', `/none${cr}`, '--size', 'a', '--image', 'b']],
  [['droplets', 'create', '--resume', `/none${cr}`]],
  [['droplets', 'batches', 'show', `abc${cr}`]],
  [['actions', 'get', `5${cr}`]],
  [['actions', 'list', '--after', `2026-01-01T00:00:00Z${cr}`]],
  [['api', `FETCH${cr}`, '/v2/x']],
  [['api', 'POST', '/v2/x', '--data', `@/none${cr}`]],
  [['config', 'get', `output${cr}`]],
  [['auth', 'login', '--callback-listen', `127.0.0.1:80${cr}`]],
  [['open', `droplet${cr}`]],
  [[`droplets${cr}`]],
  [[...source, '--target-version', `new${cr}`]],
  [[...source, '--fix-sql', `/none/x${cr}`]],
])('the error of %j shows the CR', async (words) => {
  const host = testHost();
  await seedSession(host, await sandboxFor());
  const ran = await runCloudctl(host, words);
  expect({ code: ran.code === 0, out: ran.out }).toEqual({ code: false, out: '' });
  expect(ran.err).toMatch(/\\\\?r/);
});
