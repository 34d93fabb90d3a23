import { countOf } from '../../../../base/text.ts';
import { tablespaceOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { unusualRelationsQuery } from '../queries/relations.ts';
import type { PostgresqlQuery } from '../query.ts';

interface Tablespaces {
  /** Names of tablespaces by object id. */
  readonly names: ReadonlyMap<string, string>;
  /** Default tablespaces by database, of databases whose default tablespace is not pg_default. */
  readonly databases: ReadonlyMap<string, string>;
}

const tablespacesQuery: PostgresqlQuery<Tablespaces> = {
  id: 'tablespaces',
  scope: 'server',
  sql: () => `
    SELECT t.oid, t.spcname, d.datname
    FROM pg_tablespace t
    LEFT JOIN pg_database d ON d.dattablespace = t.oid AND t.oid <> ${tablespaceOids.pg_default}
  `,
  decode: (rows) => ({
    names: new Map(rows.map((row) => [decodeText(row, 'oid'), decodeText(row, 'spcname')])),
    databases: new Map(
      rows.flatMap((row) => {
        const database = decodeOptionalText(row, 'datname');
        return database === undefined ? [] : [[database, decodeText(row, 'spcname')] as const];
      }),
    ),
  }),
  absent: { names: new Map(), databases: new Map() },
};

export const tablespacesCheck = declareDatabaseCheck({
  id: 'tablespaces',
  title: 'all objects are in the tablespace pg_default',
  headline: 'Objects are in another tablespace than pg_default',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { relations: unusualRelationsQuery, tablespaces: tablespacesQuery },
  evaluate({ relations: { placed }, tablespaces: { names, databases } }, database) {
    const whole = databases.get(database);
    if (placed.length === 0 && whole === undefined) return passOutcome('pg_default');
    const spaces = [
      ...new Set([
        ...(whole === undefined ? [] : [whole]),
        ...placed.map(({ tablespace }) => names.get(tablespace) ?? tablespace),
      ]),
    ];
    const more = {
      required: 'pg_default',
      detail: `${whole === undefined ? '' : `The default tablespace of the database is "${whole}". `}${countOf(placed.length, 'table or index', 'tables and indexes')} in other tablespaces. A managed target does not have these tablespaces: "tablespace "${spaces[0]}" does not exist". If the restore continues, the objects are created in pg_default.${unlistedNote(placed)}`,
      objects: limitObjects(placed).map(({ name, tablespace }) => `${name} (${names.get(tablespace) ?? tablespace})`),
      fix: {
        by: 'the owner of the tables',
        text: 'To make the restore independent of its options, run ALTER TABLE or ALTER INDEX … SET TABLESPACE pg_default, which copies and locks the whole object.',
      },
    };
    // A dump does not contain the default tablespace of the database.
    if (placed.length === 0) return warnOutcome(spaces.join(', '), more);
    return {
      ...unknownOutcome(spaces.join(', ')),
      ...more,
      premise: 'the service leaves out tablespaces (pg_dump --no-tablespaces)',
      settledBy: 'ALTER … SET TABLESPACE pg_default on the source',
    };
  },
});
