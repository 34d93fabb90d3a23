import { describe, expect, test } from 'vitest';
import { sameServerPerConnectionCheck } from '../../../../../src/db/preflight/postgresql/checks/same-server.ts';
import type { InstanceIdentity } from '../../../../../src/db/preflight/postgresql/queries/cluster.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';
import { proxyToEach } from '../proxy-to-each.ts';

const both = 'fail continuous+dump';
const one: InstanceIdentity = {
  systemIdentifier: '7300000000000000001',
  inRecovery: false,
  started: 1000,
  readAt: 2000,
};

test.each([
  { what: 'the same', own: one, verdict: 'pass' },
  { what: 'another system', own: { ...one, systemIdentifier: '7300000000000000002' }, verdict: both },
  { what: 'its standby', own: { ...one, inRecovery: true }, verdict: 'fail continuous' },
  { what: 'a copy of its files', own: { ...one, started: 1500 }, verdict: 'fail continuous' },
  { what: 'the same after a restart', own: { ...one, started: 2500, readAt: 2600 }, verdict: 'pass' },
  { what: 'one that is not known', own: undefined, verdict: 'pass' },
])('the connection of a database reaches $what: $verdict', ({ own, verdict }) => {
  const same = { kind: 'entered', instance: one } as const;
  const places = [
    {
      access: new Map([
        ['d1', same],
        ['d2', { ...same, instance: own }],
      ]),
    },
    { access: new Map([['d1', same]]), replication: { kind: 'entered', instance: own } as const },
    { access: new Map([['d1', same]]), walRate: { bytes: 0, seconds: 5, instance: own } },
  ];
  for (const place of places) {
    const outcome = sameServerPerConnectionCheck.evaluate({ first: one }, sourceFacts(place), preflightOptions());
    expect(short(outcome)).toBe(verdict);
    if (verdict !== 'pass') expectOutcomeText(outcome);
  }
});

test('a provider that hides pg_control_system leaves the other checks as they are', async () => {
  const setup = [
    "CREATE ROLE bare LOGIN PASSWORD 'secret'",
    'CREATE TABLE t (a int PRIMARY KEY)',
    'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
  ];
  const server = await startPostgres({ version: 14, settings: ready, setup });
  const report = await preflightServer({ ...server, username: 'bare', password: 'secret' });
  expect(short(found(report, 'same-server'))).toBe('skip');
  expect(short(found(report, 'replica-identity', 'postgres'))).toBe('pass');
}, 60_000);

describe.each([14, 18] as const)('a proxy in front of two servers of PostgreSQL %i', (version) => {
  test('is found by the connections of one run', async () => {
    const start = () => startPostgres({ version, settings: ready, direct: true });
    const servers = await Promise.all([start(), start()]);
    const proxy = await proxyToEach(servers.map(({ port }) => port));
    const report = await preflightServer({ ...servers[0]!, port: proxy.port });
    await proxy.close();
    expect(short(found(report, 'same-server'))).toBe(both);
    expect(report.verdict).toBe('blocked');
    const direct = await preflightServer(servers[0]!);
    expect(short(found(direct, 'same-server'))).toBe('pass');
  }, 60_000);
});
