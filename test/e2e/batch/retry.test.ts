import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type BatchSetup, ledgerOf, ndjsonRows, type Row, setUpBatch, sizeAndImage } from './batch-setup.ts';

const post = { method: 'POST', path: '/v2/droplets' };
const names = Array.from({ length: 12 }, (_, at) => `n-${at + 1}`);
const create = ['droplets', 'create', ...names, ...sizeAndImage, '--batch-size', '2', '--concurrency', '1'];

/** The token comes from the environment, so that another origin can stand for the server. */
async function sessionAt({ sandbox }: BatchSetup, origin: string): Promise<Environment> {
  return { CLOUDCTL_ACCESS_TOKEN: (await tokenFor(sandbox)).access_token, CLOUDCTL_BASE_URL: origin };
}

/** Opens the port of the origin, and passes requests on to the sandbox, which accepts only its own Host header. */
async function openOrigin(origin: string, { sandbox }: BatchSetup): Promise<void> {
  const { host } = new URL(sandbox.ready.base_url);
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const upstream = request(`http://${host}${url}`, { method, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(Number(new URL(origin).port), '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

const tries = (stderr: string): number => stderr.match(/^Next try in /gm)?.length ?? 0;

describe('--retry-for', () => {
  it.each([
    ['NAME…', create],
    ['a single name', ['droplets', 'create', 'n-1', ...sizeAndImage]],
    ['--ledger', [...create, '--ledger', 'batch.jsonl']],
    ['--batch-id', [...create, '--batch-id', 'release/42']],
    ['--wait', [...create, '--wait']],
  ])('waits until the server accepts connections, and creates each name once: %s', async (_, words) => {
    const setup = await setUpBatch();
    const origin = await closedOrigin();
    const env = await sessionAt(setup, origin);
    const running = setup.start([...words, '--retry-for', '1h', '-o', 'ndjson'], { env });
    running.child.stdin?.end();
    await running.waitFor('stderr', /^Next try in /m);
    await openOrigin(origin, setup);
    const ran = await running.ended;
    expect(ran.code).toBe(0);
    expect(tries(ran.stderr)).toBeGreaterThan(0);
    const wanted = names.filter((name) => words.includes(name));
    const rows = ndjsonRows(ran.stdout);
    expect(rows.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(
      wanted.map((name) => `${name} created`).toSorted(),
    );
    expect(setup.counts(wanted)).toEqual(wanted.map(() => 1));
  });

  it('continues a ledger with --resume, also while the account cannot be read, and prints nothing on stderr with -o json', async () => {
    const setup = await setUpBatch();
    setup.sandbox.faults.add({ match: post, action: 'status', status: 403, nth: 3 });
    const origin = await closedOrigin();
    const env = await sessionAt(setup, origin);
    await openOrigin(origin, setup);
    const first = await setup.run([...create, '-o', 'ndjson'], { env });
    expect(first.code).toBe(5);
    setup.sandbox.faults.add({ match: { method: 'GET' }, action: 'status', status: 503, times: 9 });
    const resume = ['droplets', 'create', '--resume', ledgerOf(first.stderr), '--retry-for', '1h', '-o', 'json'];
    const ran = await setup.run(resume, { env });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(names.map(() => 'created'));
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it('goes on over lost requests, lost responses and errors of the server', async () => {
    const setup = await setUpBatch();
    for (const [at, action] of (['drop_before_commit', 'commit_then_drop', 'html_502', 'half_body'] as const).entries())
      setup.sandbox.faults.add({ match: post, action, nth: 2 * at + 1, times: 2 });
    setup.sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets' }, action: 'status', nth: 4, times: 20 });
    const ran = await setup.run([...create, '--retry-for', '1h', '-o', 'ndjson']);
    expect(ran.code, ran.stderr).toBe(0);
    expect(tries(ran.stderr)).toBeGreaterThan(0);
    expect(
      ndjsonRows(ran.stdout)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names.toSorted());
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it('ends with the state of the last try when the time is over', async () => {
    const setup = await setUpBatch();
    const env = await sessionAt(setup, await closedOrigin());
    const ran = await setup.run([...create, '--retry-for', '1s', '-o', 'json'], { env });
    expect(ran.code).toBe(6);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'unreachable', exit_code: 6 } });
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(names.map(() => 'failed'));
  });

  it.each([
    ['a region that the server refuses', ['--region', 'atlantis'], undefined, 1, 'api_error'],
    ['a session without write scope', [], 403, 4, 'scope_too_small'],
    ['a name that is taken', ['db-01'], undefined, 2, 'usage'],
  ] as const)('does not repeat after %s', async (_, words, status, code, error) => {
    const setup = await setUpBatch();
    if (status !== undefined) setup.sandbox.faults.add({ match: post, action: 'status', status, times: 100 });
    const ran = await setup.run([...create, ...words, '--retry-for', '1h', '-o', 'json']);
    expect(ran.code).toBe(code);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: error } });
    expect(setup.counts(names)).toEqual(names.map(() => 0));
  });

  it('does not repeat when another run is busy with a name', async () => {
    const setup = await setUpBatch();
    setup.sandbox.faults.add({ match: post, action: 'delay', delay: 3_000 });
    const first = setup.start([...create, '-o', 'json']);
    first.child.stdin?.end();
    while (!existsSync(join(setup.batches, 'running', '1.json'))) await sleep(20);
    const second = await setup.run(['droplets', 'create', 'n-12', ...sizeAndImage, '--retry-for', '1h', '-o', 'json']);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stderr)).toMatchObject({ error: { code: 'busy' } });
    expect((await first.ended).code).toBe(0);
    expect(setup.counts(names)).toEqual(names.map(() => 1));
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends the wait for the next try at once, with the command that resumes', async (signal, code) => {
    const setup = await setUpBatch({ acceleration: 1 });
    const env = await sessionAt(setup, await closedOrigin());
    const running = setup.start([...create, '--retry-for', '1h', '-o', 'ndjson'], { env });
    await running.waitFor('stderr', /^Next try in /m);
    const at = Date.now();
    running.kill(signal);
    const ran = await running.ended;
    expect(Date.now() - at).toBeLessThan(4_000);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(`--resume ${ledgerOf(ran.stderr)}`);
    expect(ndjsonRows(ran.stdout)).toHaveLength(names.length);
  });

  it('continues on another machine with --batch-id when the first one was killed', async () => {
    const setup = await setUpBatch();
    const words = [...create, '--batch-id', 'release/42', '--retry-for', '1h', '-o', 'json'];
    setup.sandbox.faults.add({ match: post, action: 'delay', nth: 3, delay: 60_000 });
    const env = await sessionAt(setup, setup.sandbox.ready.base_url);
    const first = setup.start(words, { env: { ...env, CLOUDCTL_STATE_DIR: join(setup.work, 'runner-1') } });
    first.child.stdin?.end();
    while (setup.counts(['n-4'])[0] === 0) await sleep(20);
    first.kill('SIGKILL');
    await first.ended;
    const second = await setup.run(words, { env: { ...env, CLOUDCTL_STATE_DIR: join(setup.work, 'runner-2') } });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const rows = second.json<Row[]>();
    expect(rows.map(({ status }) => status)).toEqual(names.map(() => 'created'));
    expect(setup.counts(names)).toEqual(names.map(() => 1));
    // Once more: the same ids.
    const third = await setup.run(words, { env: { ...env, CLOUDCTL_STATE_DIR: join(setup.work, 'runner-3') } });
    expect(third.json<Row[]>().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });
});
