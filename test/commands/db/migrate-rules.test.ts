import { expect, test } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

/** The rules of the specification for the time of a migration (4.6), as the lines of a list. */
async function rulesAfter(answer: Parameters<typeof serverFor>[0]): Promise<readonly string[]> {
  const server = await serverFor(answer);
  const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  const source = ['--source', 'postgres://u@db.example.com/shop', '--skip-preflight'];
  const { err } = await runCloudctl(host, ['db', 'migrate', cluster, ...source]);
  return err.split('\n').filter((line) => line.startsWith('  do not '));
}

test.each<[string, Parameters<typeof serverFor>[0]]>([
  ['a whole answer', (_seen, response) => reply(response, 200, { id: 'm1', status: 'running' })],
  ['an answer without a body', (seen, response) => void response.writeHead(seen.method === 'PUT' ? 204 : 404).end()],
  ['a body of another form', (_seen, response) => reply(response, 202, { accepted: true })],
  ['a lost answer', (_seen, response) => void response.destroy()],
  ['a refusal, because the request was sent', (_seen, response) => reply(response, 422, { id: 'x', message: 'no' })],
])('the rules are printed after %s', async (_what, answer) => {
  expect(await rulesAfter(answer)).toHaveLength(3);
});

test('they are not printed when nothing was sent', async () => {
  const host = dbTestHost({
    CLOUDCTL_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
    CLOUDCTL_ACCESS_TOKEN: 'token',
  });
  const source = ['--source', 'postgres://u@db.example.com/shop', '--skip-preflight'];
  const ran = await runCloudctl(host, ['db', 'migrate', cluster, ...source]);
  expect([ran.code, ran.err.split('\n').filter((line) => line.startsWith('  do not '))]).toEqual([6, []]);
});
