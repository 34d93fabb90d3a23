import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

const counters =
  'SELECT datname, tup_inserted, tup_updated, tup_deleted, temp_files FROM pg_stat_database WHERE datname IS NOT NULL ORDER BY 1';

test.each([14, 18] as const)(
  'PostgreSQL %i logs nothing but reading, and none of its counters of writing moves',
  async (version) => {
    const server = await startPostgres({
      version,
      settings: { ...ready, log_statement: 'all', log_line_prefix: '%a|', log_replication_commands: 'on' },
      setup: [
        'CREATE DATABASE d1',
        'CREATE TABLE t (id int PRIMARY KEY, a json)',
        'INSERT INTO t SELECT g FROM generate_series(1, 100) g',
        // What was counted so far is told to everybody before the run.
        'SELECT pg_sleep(1)',
      ],
    });
    const before = await server.query(counters);
    const logged = server.log().length;
    const sent: string[] = [];
    await preflightServer(server, { onQuery: (_database, text) => sent.push(text) });
    await server.query('SELECT pg_sleep(1)');
    expect(await server.query(counters)).toEqual(before);

    const ours = server
      .log()
      .slice(logged)
      .split(/\n(?=[^|\n]*\|[A-Z]+: )/)
      .filter((entry) => entry.startsWith('cloudctl-preflight|LOG:  statement: '))
      .map((entry) => entry.replace('cloudctl-preflight|LOG:  statement: ', '').replaceAll('\n\t', '\n').trim());
    expect(ours.length).toBeGreaterThan(5);
    // What is shown is what is sent, word for word.
    expect(ours.filter((text) => !sent.includes(text))).toEqual([]);
    expect(sent.filter((text) => text !== 'IDENTIFY_SYSTEM' && !ours.includes(text))).toEqual([]);
    expect(server.log().slice(logged)).not.toMatch(/cloudctl-preflight\|(ERROR|WARNING)/);
  },
  60_000,
);

test('temporary tables of a login trigger do not replace the catalogs', async () => {
  const server = await startPostgres({
    version: 17,
    settings: ready,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY)',
      'CREATE FUNCTION shade() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN CREATE TEMP TABLE IF NOT EXISTS pg_class (x int); END$$',
      'CREATE EVENT TRIGGER shade ON login EXECUTE FUNCTION shade()',
    ],
  });
  const { findings } = await preflightServer(server);
  expect(
    findings.filter(({ status, observed }) => status === 'unknown' && observed.includes('does not exist')),
  ).toEqual([]);
  expect(findings.find(({ id }) => id === 'replica-identity')?.status).toBe('pass');
}, 60_000);
