import { fail, pass } from '../finding.ts';
import { removedUses } from './asks/removed-types.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const removedTypes = databaseCheck({
  id: 'removed-types',
  title: 'nothing needs what PostgreSQL 12 took away',
  asks: { removedUses },
  judge({ removedUses }, database) {
    if (removedUses.length === 0) return pass('none');
    const oids = removedUses.filter(({ column }) => column === undefined).map(({ table }) => table);
    const names = removedUses.map(({ table, column }) => `${table} (${column ?? 'WITH OIDS'})`);
    return fail(['continuous', 'dump'], count(removedUses.length, 'use'), {
      required: 'none: PostgreSQL 12 and newer have neither WITH OIDS nor abstime, reltime, tinterval',
      detail: `The target cannot make these tables: "tables declared WITH OIDS are not supported", "type "abstime" does not exist".${unlisted(names)}`,
      objects: shown(names),
      fix: {
        sql: oids.map((table) => `ALTER TABLE ${table} SET WITHOUT OIDS`),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'SET WITHOUT OIDS drops the oids for good, and nothing brings them back. Columns of a type that is gone become timestamptz or interval: ALTER TABLE … ALTER COLUMN … TYPE ….',
      },
    });
  },
});
