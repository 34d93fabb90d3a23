import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeUserDataDigest } from '../../src/droplets/user-data.ts';
import { recordedRequests, runCloudctl } from '../commands/run-cloudctl.ts';
import { reply, serverFor } from '../fixtures/fake-server.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { fastClock } from './batch-fixtures.ts';

const create = ['droplets', 'create', 'a', 'b', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
const content = '#cloud-config\npassword: "hunter2-correct-horse"\n';
const sha256 = createHash('sha256').update(content).digest('hex');

function fileIn(host: TestHost, text: string | Uint8Array, name = 'user-data.yaml'): string {
  const path = join(host.place.home, name);
  writeFileSync(path, text);
  return path;
}

/** A server that fails the first creation with 422, repeating the user data or the body, and records the others. */
async function machine(first: 'accepted' | 'forbidden' | 'refused' | 'repeated' = 'accepted') {
  let posts = 0;
  const { origin, seen } = await serverFor((request, response) => {
    if (request.url === '/v2/account') return reply(response, 200, { account: { uuid: 'u-1', team: null } });
    const id = /^\/v2\/droplets\/(\d+)$/.exec(request.url)?.[1];
    if (id !== undefined) return reply(response, 200, { droplet: { id: Number(id), name: 'a' } });
    if (request.method === 'GET') return reply(response, 200, { droplets: [], meta: { total: 0 } });
    posts += 1;
    if (posts === 1 && first === 'forbidden') return reply(response, 403, { id: 'forbidden', message: 'not now' });
    if (posts === 1 && first === 'refused')
      return reply(response, 422, { id: 'unprocessable_entity', message: `user_data ${content} is refused` });
    if (posts === 1 && first === 'repeated')
      return reply(response, 422, { id: 'unprocessable_entity', message: `the body ${request.body} is refused` });
    const { names } = JSON.parse(request.body);
    reply(response, 202, { droplets: names.map((name: string, at: number) => ({ id: at + 1, name })) });
  });
  const host = { ...testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x', CLOUDCTL_BASE_URL: origin } }), clock: fastClock() };
  return { host, sent: () => seen.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body)) };
}

function ledgerIn(text: string): string {
  return /"ledger": ?"([^"]+)"/.exec(text)?.[1] ?? '';
}

describe('--user-data-file', () => {
  it('sends the content and records only its hash', async () => {
    const { host, sent } = await machine();
    const ran = await runCloudctl(host, [...create, '--user-data-file', fileIn(host, content), '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(sent()).toMatchObject([{ user_data: content }]);
    const ledger = readFileSync(ledgerIn(ran.out), 'utf8');
    expect(ledger).not.toContain('hunter2');
    expect(JSON.parse(ledger.split('\n')[0] ?? '').attributes.user_data).toEqual({ sha256, bytes: content.length });
  });

  it('reads standard input', async () => {
    const { host, sent } = await machine();
    const ran = await runCloudctl(host, [...create, '--user-data-file', '-'], { stdin: content });
    expect(ran.code).toBe(0);
    expect(sent()).toMatchObject([{ user_data: content }]);
  });

  it('prints size and hash with --dry-run, and a curl command that reads the file', async () => {
    const host = testHost();
    const path = fileIn(host, content);
    const ran = await runCloudctl(host, [...create, '--user-data-file', path, '--dry-run', '-o', 'json']);
    expect(ran.out).not.toContain('hunter2');
    const [row] = ran.json<{ body: { user_data: string }; curl: string }[]>();
    expect(row?.body.user_data).toContain(sha256);
    expect(row?.curl).toContain(path);
  });

  it('is asked for again by --resume, which refuses another file', async () => {
    const { host, sent } = await machine('refused');
    const path = fileIn(host, content);
    const begun = await runCloudctl(host, [...create, '--user-data-file', path, '-o', 'json']);
    expect(begun.code).toBe(1);
    const ledger = ledgerIn(begun.out);
    const resume = (...words: string[]) =>
      runCloudctl(host, ['droplets', 'create', '--resume', ledger, '-o', 'json', ...words]);
    const missing = await resume();
    expect(missing.code).toBe(2);
    expect(missing.error().message).toContain('--user-data-file');
    const other = await resume('--user-data-file', fileIn(host, `${content}more`, 'other.yaml'));
    expect(other.code).toBe(2);
    expect(sent()).toHaveLength(1);
    expect((await resume('--user-data-file', path)).code).toBe(0);
    expect(sent()[1]).toMatchObject({ names: ['a', 'b'], user_data: content });
    // Nothing is left to send.
    expect((await resume()).code).toBe(0);
  });

  it.each(['refused', 'repeated'] as const)('is redacted where the server repeats it: %s', async (first) => {
    const { host } = await machine(first);
    const begun = await runCloudctl(host, [...create, '--user-data-file', fileIn(host, content), '-o', 'json']);
    for (const text of [begun.out, begun.err, readFileSync(ledgerIn(begun.out), 'utf8')])
      expect(text).not.toContain('hunter2');
  });

  it('is sent without a byte order mark, with a notice: cloud-init would ignore it', async () => {
    for (const bytes of [`\uFEFF${content}`, Buffer.from(`\uFEFF${content}`, 'utf16le')]) {
      const { host, sent } = await machine();
      const path = fileIn(host, bytes);
      const ran = await runCloudctl(host, [...create, '--user-data-file', path]);
      expect(ran.code).toBe(0);
      expect(sent()).toMatchObject([{ user_data: content }]);
      expectGolden(
        'droplets',
        (ran.err.split('\n')[0] ?? '').replace(path, 'FILE'),
        typeof bytes === 'string' ? 'utf-8' : 'utf-16',
      );
      const quiet = await runCloudctl(host, [
        ...create,
        '--user-data-file',
        path,
        '-o',
        'json',
        '--if-exists',
        'create',
      ]);
      expect(quiet.err).toBe('');
      const piped = await runCloudctl(host, [...create, '--user-data-file', '-', '--if-exists', 'create'], {
        stdin: `\uFEFF${content}`,
      });
      expect(piped.code).toBe(0);
      expect(sent().map(({ user_data: text }) => text)).toEqual([content, content, content]);
    }
  });

  it('is repeated in the resume command, with its absolute path', async () => {
    const { host } = await machine('forbidden');
    const path = fileIn(host, content);
    const begun = await runCloudctl(host, [...create, '--user-data-file', path]);
    expect(begun.err).toMatch(new RegExp(`--resume \\S+ --user-data-file ${path}`));
  });

  it.each([
    ['too long', 'x'.repeat(64 * 1024 + 1)],
    ['empty', ''],
    ['not UTF-8', Uint8Array.of(0xff, 0xfe, 0x41)],
  ])('refuses a file that is %s, before any request', async (_, text) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { scope: 'read write' });
    const ran = await runCloudctl(host, [...create, '--user-data-file', fileIn(host, text), '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    ['a missing file', ['--user-data-file', '/does/not/exist']],
    ['a folder', ['--user-data-file', '/']],
    ['a device without end', ['--user-data-file', '/dev/zero']],
    ['two readers of standard input', ['--user-data-file', '-', '--names-from', '-']],
  ])('refuses %s', async (_, words) => {
    expect((await runCloudctl(testHost(), [...create, ...words, '-o', 'json'])).code).toBe(2);
  });

  it('accepts 64 KiB', async () => {
    const { host, sent } = await machine();
    const text = 'x'.repeat(64 * 1024);
    expect((await runCloudctl(host, [...create, '--user-data-file', fileIn(host, text)])).code).toBe(0);
    expect(sent()).toMatchObject([{ user_data: text }]);
  });
});

it.each([7, {}, { sha256: 'x' }, { sha256: 1, bytes: 2 }])('a digest of another form is refused: %j', (json) => {
  expect(decodeUserDataDigest(json)).toBeUndefined();
});
