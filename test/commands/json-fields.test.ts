import { describe, expect, it } from 'vitest';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { recordedRequests, runCloudctl } from './run-cloudctl.ts';

async function loggedIn() {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  await seedSession(host, sandbox, { scope: 'read write' });
  return { host, sandbox };
}

const create = [
  'droplets',
  'create',
  'web-90',
  '--size',
  's-1vcpu-1gb',
  '--image',
  'ubuntu-24-04-x64',
  '--region',
  'nyc3',
];

/** The fields that `--json` without a value lists. */
function listed(text: string): readonly string[] {
  return /known fields: ([\w, ]+)/.exec(text)?.[1]?.split(', ') ?? [];
}

describe('--json without a value lists the fields and sends no request', () => {
  it.each([
    [['droplets', 'list', '--json']],
    [['droplets', '--json']],
    [['droplets', 'list', '--json', '--limit', '1']],
    [['droplets', 'list', '--json=']],
    [['droplets', 'list', '--json', '']],
    [['droplets', 'get', 'web-01', '--json']],
    [[...create, '--json']],
    [['droplets', 'delete', 'web-01', '-y', '--json']],
    [['actions', 'list', '--json']],
    [['db', 'list', '--json']],
    [['auth', 'status', '--json']],
    [['config', 'list', '--json']],
    [['--json']],
  ])('%j', async (words) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.error()).toMatchObject({ code: 'usage' });
    expect(listed(ran.err).length).toBeGreaterThan(2);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    [['droplets', 'list', '--json']],
    [['droplets', 'list', '--json', '--limit', '1']],
    [['droplets', 'list', '--json=']],
  ])('on a terminal as sentences: %j', async (words) => {
    const ran = await runCloudctl(testHost(), [...words, '--no-color'], { terminal: 80 });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(listed(ran.err.replaceAll(/\s+/g, ' ')).length).toBeGreaterThan(2);
  });

  it('on a terminal any other error of --json stays one JSON object', async () => {
    const ran = await runCloudctl(testHost(), ['droplets', 'list', '--json', 'nmae'], { terminal: 80 });
    expect(ran.error()).toMatchObject({ code: 'usage' });
  });

  it('after -- it is a word', async () => {
    const { host } = await loggedIn();
    expect((await runCloudctl(host, ['droplets', 'list', '-o', 'json', '--', '--json'])).json()).toEqual([]);
  });
});

describe('an unknown field is an error before any request', () => {
  it.each([
    [['droplets', 'list', '--json', 'nmae'], '`--json name`'],
    [['droplets', 'list', '--json', 'id,nme'], '`--json id,name`'],
    [['droplets', 'list', '--format', 'id,Nmae'], '`--format ID,Name`'],
    [['droplets', 'list', '--json', 'PublicIPv4'], '--format PublicIPv4'],
    [[...create, '--json', 'stauts'], '`--json status`'],
    [['droplets', 'delete', 'web-01', '-y', '--json', 'nam'], '`--json name`'],
    [['actions', 'list', '--json', 'resource'], 'resource_id'],
  ])('%j', async (words, hint) => {
    const { host, sandbox } = await loggedIn();
    const ran = await runCloudctl(host, words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(hint);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});

it('a field is found whatever its case', async () => {
  const { host } = await loggedIn();
  const ran = await runCloudctl(host, ['droplets', 'list', '--json', 'ID,Name,createdAt', '--limit', '1']);
  expect(Object.keys(ran.json<object[]>()[0] ?? {})).toEqual(['id', 'name', 'created_at']);
  const shaped = await runCloudctl(host, ['api', '/v2/droplets', '--query', 'droplets', '--json', 'NAME']);
  expect(Object.keys(shaped.json<object[]>()[0] ?? {})).toEqual(['name']);
});

it('every field that a command prints is known to it', async () => {
  const { host } = await loggedIn();
  const commands = [
    [...create, '--dry-run'],
    create,
    ['droplets', 'list'],
    ['droplets', 'get', 'web-90'],
    ['droplets', 'batches', 'list'],
    ['droplets', 'delete', 'web-90', '--dry-run'],
    ['droplets', 'delete', 'web-90', '-y'],
    ['actions', 'list'],
    ['db', 'list'],
    ['auth', 'list'],
    ['auth', 'status'],
    ['auth', 'refresh'],
    ['config', 'list'],
    ['open', '--print'],
    ['doctor'],
    [],
  ];
  for (const words of commands) {
    const printed: unknown = (await runCloudctl(host, [...words, '-o', 'json'])).json();
    const rows: readonly unknown[] = Array.isArray(printed) ? printed : [printed];
    const known = listed((await runCloudctl(host, [...words, '--json'])).err);
    const keys = new Set(rows.flatMap((row) => (typeof row === 'object' && row !== null ? Object.keys(row) : [])));
    expect({ words, unknown: [...keys].filter((key) => !known.includes(key)) }).toEqual({ words, unknown: [] });
  }
});
