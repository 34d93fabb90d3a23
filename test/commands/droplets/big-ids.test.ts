import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { fastClock } from '../../droplets/batch-fixtures.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { testHost } from '../../fixtures/host.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl } from '../run-cloudctl.ts';

/** Neighbours: as doubles the first two are one number. */
const ids = ['9007199254740993', '9007199254740992', '12345678901234567890123'];
const items = ids.map(
  (id) =>
    `{"id":${id},"name":"d-${id}","created_at":"2026-01-01T00:00:00Z","memory":1.0,"size":{"price_hourly":0.010}}`,
);
const page = `{"droplets":[${items.join(',')}],"links":{},"meta":{"total":3}}`;

describe.each([
  ['on one line', page],
  ['on several lines', page.replaceAll(',', ',\n')],
])('ids beyond 2^53 of an answer %s', (_how, answer) => {
  async function said(...words: string[]): Promise<string> {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, answer, { 'content-type': 'application/json' }),
    );
    const env = { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'at-1' };
    const ran = await runCloudctl(testHost(), words, { env });
    expect(ran).toMatchObject({ code: 0, err: '' });
    return ran.out;
  }
  const found = (text: string, pattern: RegExp): readonly string[] =>
    [...text.matchAll(pattern)].map(([, id = '']) => id);

  it.each([
    ['json', /^ {4}"id": (\d+),$/gm],
    ['ndjson', /"id":(\d+),/g],
    ['yaml', /^(?:- | {2})id: (\d+)$/gm],
    ['csv', /^(\d+),/gm],
    ['table', /^(\d+) /gm],
  ])('leave a list as %s as they came', async (format, pattern) => {
    expect(found(await said('droplets', 'list', '-o', format), pattern)).toEqual(ids);
  });

  it.each([
    ['json', /^ {4}"ID": (\d+)$/gm],
    ['ndjson', /"ID":(\d+)/g],
    ['yaml', /ID: (\d+)$/gm],
    ['csv', /^(\d+)$/gm],
    ['table', /^(\d+)$/gm],
  ])('leave a column of a list as %s as they came', async (format, pattern) => {
    expect(found(await said('droplets', 'list', '-o', format, '--format', 'ID'), pattern)).toEqual(ids);
  });

  it.each([['json'], ['ndjson'], ['yaml'], ['csv'], ['table']])('leave a query as %s as they came', async (format) => {
    const out = await said('droplets', 'list', '-o', format, '--query', '[].id');
    expect(found(out, /(\d{16,})/g)).toEqual(ids);
    expect(out).not.toContain('"');
    expect(
      found(await said('api', 'GET', '/v2/droplets', '-o', format, '--query', 'droplets[].id'), /(\d{16,})/g),
    ).toEqual(ids);
  });

  it.each([['json'], ['yaml'], ['table']])('and all other numbers leave `api` as %s as they came', async (format) => {
    const out = await said('api', 'GET', '/v2/droplets', '-o', format);
    expect(found(out, /\bid"?: (\d+)/g)).toEqual(ids);
    expect(found(out, /memory"?: (\S+?),?$/gm)).toEqual(['1.0', '1.0', '1.0']);
    expect(found(out, /price_hourly"?: (\S+?),?$/gm)).toEqual(['0.010', '0.010', '0.010']);
  });

  it('leave `api --paginate` as they came', async () => {
    expect(found(await said('api', 'GET', '/v2/droplets', '--paginate'), /"id": (\d+)/g)).toEqual(ids);
  });
});

it('actions of ids that are one double are two actions', async () => {
  const action = (id: string) =>
    `{"id":${id},"status":"completed","type":"create","started_at":"2026-01-01T00:00:00Z","resource_id":${id}}`;
  const body = `{"actions":[${ids.map(action).join(',')}],"links":{},"meta":{"total":3}}`;
  const { origin } = await serverFor((_, response) =>
    reply(response, 200, body, { 'content-type': 'application/json' }),
  );
  const env = { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'at-1' };
  const { out } = await runCloudctl(
    testHost(),
    ['actions', 'list', '--format', 'ID,ResourceID', '-o', 'csv', '--no-header'],
    { env },
  );
  expect(out).toBe(ids.map((id) => `${id},${id}\n`).join(''));
});

/** Added to every id of droplets and actions, so that ids are beyond 2^53 and two of them are one double. */
const offset = 2n ** 53n - 400_000_000n;
const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];

/** A server in front of the sandbox whose ids are beyond 2^53. */
async function serverWithBigIds(sandbox: SandboxServers): Promise<string> {
  const { base_url: base } = sandbox.ready;
  const enlarge = (digits: string): string => String(BigInt(digits) + offset);
  const server = await serverFor(({ method, url, headers, body }, response) => {
    const path = url.replace(/(?<=^\/v2\/(?:droplets|actions)\/)\d+/, (id) => String(BigInt(id) - offset));
    const { authorization = '', 'content-type': type } = headers;
    const sent = { authorization, ...(type === undefined ? {} : { 'content-type': type }) };
    void fetch(`${base}${path}`, { method, headers: sent, ...(body === '' ? {} : { body }) }).then(async (answer) => {
      const text = (await answer.text())
        .replaceAll(base, server.origin)
        .replaceAll(/(?<="(?:id|resource_id)":)4\d{8}\b/g, enlarge)
        .replaceAll(/(?<=\/v2\/(?:droplets|actions)\/)4\d{8}\b/g, enlarge);
      const date = answer.headers.get('date') ?? '';
      response.writeHead(answer.status, { 'content-type': 'application/json', date }).end(text);
    });
  });
  return server.origin;
}

async function machine() {
  const sandbox = await sandboxFor();
  const env = {
    CLOUDCTL_BASE_URL: await serverWithBigIds(sandbox),
    CLOUDCTL_ACCESS_TOKEN: (await tokenFor(sandbox)).access_token,
  };
  // Lookups of uncertain names wait for a minute, and new droplets are active after some seconds.
  const host = { ...testHost({ env }), clock: fastClock(20) };
  const run = (...words: string[]) => runCloudctl(host, words, { env });
  /** The ids of the droplets with these names, as the server shows them. */
  const idsOf = async (...names: string[]): Promise<readonly string[]> => {
    const { out } = await run('droplets', 'list', '--format', 'ID,Name', '--no-header', '-o', 'csv');
    const rows = out.split('\n').map((row) => row.split(','));
    return names.flatMap((name) => rows.flatMap(([id = '', found]) => (found === name ? [id] : [])));
  };
  return { sandbox, host, run, idsOf };
}

/** The ids in a JSON text, by their digits. */
function digits(text: string, member = 'id'): readonly string[] {
  return [...text.matchAll(new RegExp(`"${member}": ?(\\d+)`, 'g'))].map(([, id = '']) => id);
}

describe('droplets with ids beyond 2^53', () => {
  it('are created, shown, found by id and by name, waited for and deleted by their exact ids', async () => {
    const { run, idsOf } = await machine();
    const created = await run('droplets', 'create', 'a', 'b', 'c', ...like, '--wait', '-o', 'json');
    expect(created).toMatchObject({ code: 0 });
    const ids = digits(created.out);
    expect(ids).toEqual(await idsOf('a', 'b', 'c'));
    expect(new Set(ids.map((id) => BigInt(id) > 2n ** 53n))).toEqual(new Set([true]));
    const ledger = created.json<{ ledger: string }[]>()[0]?.ledger ?? '';
    // The ids of the file are numbers with the same digits.
    expect(digits(/^.*"created".*$/m.exec(readFileSync(ledger, 'utf8'))?.[0] ?? '')).toEqual(ids);
    for (const [at, id] of ids.entries()) {
      const name = ['a', 'b', 'c'][at] ?? '';
      for (const text of [id, name])
        expect((await run('droplets', 'get', text, '--format', 'ID,Name', '-o', 'csv', '--no-header')).out).toBe(
          `${id},${name}\n`,
        );
    }
    const shown = await run('droplets', 'batches', 'show', ledger, '-o', 'json');
    expect([digits(shown.out), shown.json<{ state: string }[]>().map(({ state }) => state)]).toEqual([
      ids,
      ['active', 'active', 'active'],
    ]);
    // Neighbours stay.
    const [a = '', b = '', c = ''] = ids;
    const deleted = await run('droplets', 'delete', b, '--yes', '-o', 'json');
    expect([deleted.code, digits(deleted.out)]).toEqual([0, [b]]);
    expect(await idsOf('a', 'b', 'c')).toEqual([a, c]);
    expect(digits((await run('droplets', 'delete', 'c*', '--yes', '-o', 'ndjson')).out)).toEqual([c]);
    expect(digits((await run('droplets', 'batches', 'delete', ledger, '--yes', '-o', 'json')).out)).toContain(a);
    expect(await idsOf('a', 'b', 'c')).toEqual([]);
  });

  it('one alone is created and printed in every format', async () => {
    const { run, idsOf } = await machine();
    for (const [format, pattern] of [
      ['json', /"id": (\d+)/],
      ['ndjson', /"id":(\d+)/],
      ['yaml', /id: (\d+)$/m],
      ['csv', /,(\d{16}),/],
      ['table', /(\d{16})/],
    ] as const) {
      const { code, out } = await run('droplets', 'create', `one-${format}`, ...like, '-o', format);
      expect(code).toBe(0);
      expect([pattern.exec(out)?.[1]]).toEqual(await idsOf(`one-${format}`));
    }
  });

  it('are adopted and skipped by their exact ids when a killed run is resumed', async () => {
    const { run, idsOf } = await machine();
    const before = await run('droplets', 'create', 'n1', 'n2', 'n3', ...like, '--batch-size', '1', '-o', 'json');
    const ledger = before.json<{ ledger: string }[]>()[0]?.ledger ?? '';
    // As a run that was killed before it had read the responses.
    const lines = readFileSync(ledger, 'utf8').split('\n');
    writeFileSync(ledger, lines.filter((line) => !line.includes('"event":"created"')).join('\n'));
    const resumed = await run('droplets', 'create', '--resume', ledger, '-o', 'json');
    expect(resumed.code).toBe(0);
    expect(digits(resumed.out)).toEqual(await idsOf('n1', 'n2', 'n3'));
    expect(digits(resumed.out)).toHaveLength(3);
    const skipped = await run('droplets', 'create', 'n1', 'n4', ...like, '--if-exists', 'skip', '-o', 'json');
    expect(digits(skipped.out)).toEqual(await idsOf('n1', 'n4'));
    expect(digits((await run('droplets', 'create', 'n2', ...like, '--plan', '-o', 'json')).out)).toEqual(
      await idsOf('n2'),
    );
  });

  it('have actions that are listed, got and waited for by their exact ids', async () => {
    const { run } = await machine();
    const created = await run('droplets', 'create', 'x', 'y', ...like, '-o', 'json');
    const actions = digits(created.out, 'action_id');
    expect(actions).toHaveLength(2);
    const listed = await run('actions', 'list', '--type', 'create', '-o', 'json');
    expect(digits(listed.out)).toEqual(expect.arrayContaining([...actions]));
    for (const id of actions) {
      expect(digits((await run('actions', 'get', id, '-o', 'json')).out)).toEqual([id]);
      expect(await run('actions', 'get', id, '--wait')).toMatchObject({ code: 0 });
    }
  });
});

it('numbers of any size are sent as they were given', async () => {
  const { run } = await machine();
  const big = '9007199254740993';
  const { out } = await run(
    ...['droplets', 'create', 'a', '--size', 's', '--image', big, '--ssh-keys', `${big},7`],
    ...['--set', `key=[{"id":${big}},-1e400,1.0]`, '--dry-run', '-o', 'ndjson'],
  );
  expect(out).toContain(
    `"body":{"name":"a","size":"s","image":${big},"key":[{"id":${big}},-1e400,1.0],"ssh_keys":[${big},7]}`,
  );
});
