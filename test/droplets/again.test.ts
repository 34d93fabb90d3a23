import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newBatchHint } from '../../src/droplets/again.ts';
import { recordedRequests, runCloudctl } from '../commands/run-cloudctl.ts';
import { argsFrom } from '../fixtures/command-io.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { MAYA, sandboxFor, tokenFor, userOf } from '../sandbox/requests.ts';
import { batchOf, fastClock, ledgerFor } from './batch-fixtures.ts';

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'];

interface Row {
  readonly name: string;
  readonly status: string;
  readonly id: number;
}

async function machine() {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox);
  const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
  const host = { ...testHost({ env }), clock: fastClock() };
  const run = (...words: readonly string[]) => runCloudctl(host, words, { env });
  const ledger = join(host.place.work, 'l.jsonl');
  const remove = async (...names: readonly string[]) => {
    expect((await run('droplets', 'delete', ...names, '--yes')).code).toBe(0);
  };
  /** Runs the command of a hint as a shell splits it. */
  const runHint = async (hint = '', ...more: readonly string[]) => {
    const command = /`cloudctl ([^`]+)`/.exec(hint)?.[1] ?? '';
    const script = `for word in ${command}; do printf '%s\\n' "$word"; done`;
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    return run(...words, ...more);
  };
  const droplets = () =>
    sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid).filter(({ name }) => /^[a-d]$/.test(name));
  return { sandbox, host, run, ledger, remove, runHint, droplets };
}

describe('a complete ledger', () => {
  it('whose droplets exist is read with one list, and succeeds', async () => {
    const { sandbox, run, ledger } = await machine();
    await run('droplets', 'create', 'a-{1..9}', ...like, '--ledger', ledger);
    const before = (await recordedRequests(sandbox)).length;
    const ran = await run('droplets', 'create', '--resume', ledger, '-o', 'json');
    expect(ran.code).toBe(0);
    expect(ran.json<Row[]>().every(({ status }) => status === 'created')).toBe(true);
    expect((await recordedRequests(sandbox)).slice(before)).toEqual(['GET /v2/account', 'GET /v2/droplets']);
  });

  it.each(['json', 'ndjson'])('prints deleted droplets as missing and how to have them again: %s', async (format) => {
    const { run, ledger, remove, runHint, droplets } = await machine();
    const tags = ['--set', 'tags=["env:prod","web"]', '--set', 'note="it\'s"', '--ipv6'];
    await run('droplets', 'create', 'a', 'b', 'c', 'd', ...like, ...tags, '--ledger', ledger);
    await remove('b', 'd');
    for (const words of [
      ['--resume', ledger],
      ['a', 'b', 'c', 'd', ...like, ...tags, '--ledger', ledger],
    ]) {
      const ran = await run('droplets', 'create', ...words, '-o', format);
      expect(ran.code).toBe(5);
      const rows =
        format === 'json'
          ? ran.json<Row[]>()
          : ran.out
              .trim()
              .split('\n')
              .map((row): Row => JSON.parse(row));
      expect(rows.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
        'a created',
        'b missing',
        'c created',
        'd missing',
      ]);
      expect(rows.every(({ id }) => typeof id === 'number')).toBe(true);
      expect(ran.error()).toMatchObject({ code: 'batch_partial', exit_code: 5 });
    }
    const ran = await run('droplets', 'create', '--resume', ledger, '-o', format);
    const again = await runHint(ran.error().hint, '-o', 'json');
    expect([again.code, again.err]).toEqual([0, '']);
    expect(again.json()).toMatchObject([
      { name: 'b', status: 'created' },
      { name: 'd', status: 'created' },
    ]);
    expect(
      droplets()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['a', 'b', 'c', 'd']);
    expect(new Set(droplets().map(({ tags: some }) => JSON.stringify(some))).size).toBe(1);
  });

  it('checks skipped droplets, and does not wait for a missing one', async () => {
    const { run, ledger, remove } = await machine();
    await run('droplets', 'create', 'a', ...like);
    await run('droplets', 'create', 'a', 'b', 'c', ...like, '--if-exists', 'skip', '--ledger', ledger);
    await remove('a', 'c');
    const ran = await run('droplets', 'create', '--resume', ledger, '--wait', '-o', 'json');
    expect(ran.code).toBe(5);
    expect(ran.json<Row[]>().map(({ status }) => status)).toEqual(['missing', 'created', 'missing']);
  });

  it('with --batch-id has them again by the same command without the ledger', async () => {
    const { run, ledger, remove, runHint, droplets } = await machine();
    const words = ['a', 'b', ...like, '--batch-id', 'v1.2', '--tag-names', 'web'];
    expect((await run('droplets', 'create', ...words, '--ledger', ledger)).code).toBe(0);
    await remove('b');
    const ran = await run('droplets', 'create', ...words, '--ledger', ledger, '-o', 'json');
    expect(ran.code).toBe(5);
    const again = await runHint(ran.error().hint, '-o', 'json');
    expect(again.err).toBe('');
    expect(again.code).toBe(0);
    expect(
      droplets()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['a', 'b']);
  });

  it('with user data asks for the file, which the ledger does not contain', async () => {
    const { host, run, ledger, remove, runHint } = await machine();
    const file = join(host.place.work, "cloud 'config.yaml");
    writeFileSync(file, '#cloud-config\n');
    await run('droplets', 'create', 'a', 'b', ...like, '--user-data-file', file, '--ledger', ledger);
    await remove('b');
    const without = await run('droplets', 'create', '--resume', ledger);
    expect(without.code).toBe(5);
    expectGolden(
      'droplets',
      without.err
        .replace(/^still .*\n/gm, '')
        .replaceAll(ledger, 'LEDGER')
        .replaceAll(/\(\d+\)/g, '(ID)'),
    );
    expect((await runHint(/hint: (.*)/.exec(without.err)?.[1])).code).toBe(2);
    const named = await run('droplets', 'create', '--resume', ledger, '--user-data-file', file, '-o', 'json');
    expect((await runHint(named.error().hint)).code).toBe(0);
  });

  it('has no row when the droplets could not be read', async () => {
    const { sandbox, run, ledger } = await machine();
    await run('droplets', 'create', 'a', 'b', ...like, '--ledger', ledger);
    sandbox.faults.add({ match: { path: '/v2/droplets' }, action: 'status', status: 503, times: 100 });
    const ran = await run('droplets', 'create', '--resume', ledger, '-o', 'ndjson');
    expect([ran.code, ran.out]).toEqual([1, '']);
  });
});

describe('the command for a new batch', () => {
  const hintOf = async (names: readonly string[], changes = {}) => {
    const { path, state } = await ledgerFor(batchOf(names, changes));
    const hint = newBatchHint({ path, state }, names, argsFrom({ wait: [''] }), ['--profile', 'p'], undefined);
    return hint.replace(path, 'LEDGER');
  };

  it('reads many names from the ledger', async () => {
    expectGolden('droplets', await hintOf(Array.from({ length: 51 }, (_, at) => `n${at}`)));
  });

  it('asks for more droplets of a name where the batch did', async () => {
    expectGolden('droplets', await hintOf(['a', 'b'], { if_exists: 'create' }));
  });

  it('shows no user data of --set', async () => {
    const attributes = { size: 's', image: 'i', extra: { user_data: 'password' } };
    expect(await hintOf(['a'], { attributes })).not.toContain('password');
  });
});
