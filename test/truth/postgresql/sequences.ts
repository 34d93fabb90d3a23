import { nearestWord } from '../../../src/cli/values.ts';
import { sequenceScript, sequencesQuery } from '../../../src/db/cutover/postgresql/sequences.ts';
import { queryEachDatabase } from '../../../src/db/preflight/postgresql/each-database.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import { formatPsqlConnect, psqlSetup } from '../../../src/postgresql/psql-script.ts';
import { postgresEndpointOf } from '../../db/engine/servers.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { runPsql } from './fix-script.ts';

/** Runs the statements of `db sequences` with psql on the target, as at the cut-over. Resolves with the sequences that differ then. */
export async function setSequences(
  source: Postgres,
  target: Postgres,
  databases: readonly string[],
): Promise<readonly string[]> {
  const found = await queryEachDatabase(
    {
      source: { ...postgresEndpointOf(source), dbname: databases[0] ?? 'postgres' },
      ignoreDbs: [],
      clock: systemClock,
      signal: AbortSignal.timeout(20_000),
      nearest: nearestWord,
    },
    sequencesQuery,
  );
  const lines = found.flatMap((each) => {
    if ('failure' in each) throw new Error(each.failure);
    if (!databases.includes(each.database)) return [];
    return [formatPsqlConnect(each.database), ...psqlSetup, ...sequenceScript(each.value).statements];
  });
  runPsql(target, 'postgres', lines.join('\n'));
  const values = 'SELECT schemaname, sequencename, last_value FROM pg_sequences ORDER BY 1, 2';
  const differing: string[] = [];
  for (const name of databases) {
    const [here, there] = [await source.query(values, name), await target.query(values, name)];
    if (JSON.stringify(here) !== JSON.stringify(there)) differing.push(`the sequences of ${name} differ`);
  }
  return differing;
}
