import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../postgresql/query-error.ts';
import type { TargetWord } from '../watch/identity.ts';
import { queryCatalogRows } from './postgresql/rehearsal-tables.ts';

const limit = 10_000;
const applicationName = 'cloudctl-cutover';

/** Reads which slots the enabled subscriptions of a target read. What its role may not read is left out. */
export async function readTargetWord(target: PostgresqlEndpoint, signal: AbortSignal): Promise<TargetWord> {
  const session = await connectPostgresql(target, { dbname: target.dbname, limit, signal, applicationName });
  const rows = async (sql: string) => {
    try {
      return await queryCatalogRows(session, sql);
    } catch (error) {
      if (error instanceof PostgresqlQueryError && !error.lost) return [];
      throw error;
    }
  };
  try {
    const slots = await rows(
      `SELECT s.subslotname AS name, d.datname AS database FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
       WHERE s.subenabled AND s.subslotname IS NOT NULL`,
    );
    const [control] = await rows('SELECT system_identifier::text AS system FROM pg_control_system()');
    return {
      slots: slots.map(({ name, database }) => ({ name: name ?? '', database: database ?? '' })),
      system: control?.system ?? undefined,
    };
  } finally {
    await session.end();
  }
}
