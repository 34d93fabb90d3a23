import { join } from 'node:path';
import { expect, it } from 'vitest';
import { preflightOptionSpecs, readPreflightOptions } from '../../src/preflight/option-specs.ts';
import { reportOptionSpecs, runPreflightWithFiles } from '../../src/preflight/run-with-files.ts';
import { argsFrom, commandIo } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';

type Settings = Parameters<typeof readPreflightOptions>[2];
const settings = (base_url?: string) => ({ profileName: 'default', values: { base_url } }) as Settings;
const read = (values: Readonly<Record<string, readonly string[]>>, base?: string) =>
  readPreflightOptions(argsFrom(values, [], preflightOptionSpecs.concat(ignoreDbs)), 'postgresql', settings(base), 0);
const ignoreDbs = [
  { name: 'ignore-dbs', description: '', valueName: 'a,b', multiple: 'list' },
  { name: 'disable-ssl', description: '' },
] as const;

it('private addresses are accepted for a service on this machine', () => {
  expect(read({}).isOverInternet).toBe(true);
  expect(read({}, 'http://127.0.0.1:1').isOverInternet).toBe(false);
  expect(read({ 'judge-as-public': [''] }, 'http://127.0.0.1:1').isOverInternet).toBe(true);
});

it.each([{ 'target-version': ['new'] }, { method: ['scan'] }])('%j is a usage error', (values) => {
  expect(() => read(values)).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('a file that cannot be written is an error before the source is queried', async () => {
  const host = testHost();
  const args = argsFrom({ report: [join(host.place.work, 'none', 'r.json')] }, [], [...reportOptionSpecs]);
  const source = {
    host: 'h',
    port: 1,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'disable',
  } as const;
  const run = runPreflightWithFiles(commandIo(host), args, { engine: 'redis', source }, read({}));
  await expect(run).rejects.toMatchObject({ code: 'usage' });
});
