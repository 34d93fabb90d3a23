import { describe, expect, test } from 'vitest';
import { outputPluginCheck } from '../../../../../src/db/preflight/postgresql/checks/output-plugin.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

test.each([
  { plugin: { exists: true, path: '$libdir' }, verdict: 'pass' },
  { plugin: { exists: false, path: '/opt/lib' }, verdict: 'fail continuous' },
  { plugin: { exists: false, path: '' }, verdict: 'fail continuous' },
  { plugin: undefined, verdict: 'skip' },
])('pgoutput in $plugin: $verdict', ({ plugin, verdict }) => {
  const outcome = outputPluginCheck.evaluate({ plugin }, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  if (verdict.startsWith('fail')) expectOutcomeText(outcome);
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  test('it is found where the server loads it from', async () => {
    const server = await startPostgres({ version, settings: ready });
    const outcome = async () => short(found(await preflightServer(server), 'output-plugin'));
    expect(await outcome()).toBe('pass');
    await server.query("ALTER ROLE postgres SET dynamic_library_path = '/opt/lib'");
    expect(await outcome()).toBe('fail continuous');
    await server.query("ALTER ROLE postgres SET dynamic_library_path = '/opt/lib:$libdir'");
    expect(await outcome()).toBe('pass');
  }, 60_000);
});
