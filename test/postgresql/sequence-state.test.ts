import { expect, test } from 'vitest';
import { connectPostgresql } from '../../src/postgresql/connection.ts';
import { readOnlySql } from '../../src/postgresql/search-path-safe-sql.ts';
import { decodeSequenceState, sequenceStateColumns } from '../../src/postgresql/sequence-state.ts';
import { postgresEndpointOf } from '../db/engine/servers.ts';
import { startPostgres } from '../fixtures/postgres.ts';

test.each([14, 17, 18] as const)(
  'the state of a sequence of PostgreSQL %i is read without its name',
  async (version) => {
    const server = await startPostgres({
      version,
      setup: [
        'CREATE SEQUENCE used',
        "SELECT setval('used', 9223372036854775807)",
        'CREATE SEQUENCE fresh START 5',
        'CREATE SEQUENCE moved',
        "SELECT setval('moved', 77, false)",
        'CREATE SEQUENCE hidden',
        'CREATE SEQUENCE usable',
        "SELECT nextval('usable')",
        "CREATE ROLE reader LOGIN PASSWORD 'secret'",
        'GRANT SELECT ON used, fresh, moved TO reader',
        'GRANT USAGE ON usable TO reader',
      ],
    });
    const source = { ...postgresEndpointOf(server), username: 'postgres' };
    const states = async (role: string) => {
      const session = await connectPostgresql(source, { dbname: 'postgres', limit: 10_000 });
      try {
        const sql = `SELECT c.relname, ${sequenceStateColumns(version * 10_000)} FROM pg_class c WHERE c.relkind = 'S' ORDER BY 1`;
        const sets = await session.query(readOnlySql([`SET LOCAL ROLE ${role}`, sql]));
        return Object.fromEntries(sets.flat().map((row) => [row.relname, decodeSequenceState(row)]));
      } finally {
        await session.end();
      }
    };
    const used = { value: '9223372036854775807', called: true };
    const fresh = version < 18 ? 'not used' : { value: '5', called: false };
    const moved = version < 18 ? 'not used' : { value: '77', called: false };
    const usable = { value: '1', called: true };
    expect(await states('reader')).toEqual({ used, fresh, moved, usable, hidden: undefined });
    expect(await states('postgres')).toMatchObject({ used, fresh, moved, usable });
  },
);
