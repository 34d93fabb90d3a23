import { fail, info, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type RegprocColumn, regprocColumnsQuery } from '../queries/regproc-columns.ts';
import { countText } from '../units.ts';

export const callableNamesCheck = databaseCheck({
  id: 'callable-names',
  title: 'no regproc or regoper value is ambiguous',
  headline: 'A column has the type regproc or regoper',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { callableColumns: regprocColumnsQuery },
  evaluate({ callableColumns }, database) {
    if (callableColumns.length === 0) return pass('none');
    const ambiguous = callableColumns.filter(({ rows }) => rows === 'violate');
    const unseen = callableColumns.filter(({ rows }) => rows === 'unseen');
    const named = ambiguous.length > 0 ? ambiguous : unseen.length > 0 ? unseen : callableColumns;
    const observed = countText(named.length, 'column');
    const objects = firstObjects(named).map(({ table, column, type }) => `${column} of ${table} (${type})`);
    const changed = named.filter(({ isInside }) => !isInside);
    const more = {
      required: 'regprocedure and regoperator, which are written with their arguments',
      objects,
      fix: {
        sql: changed.map((one) => turned(one, precise(one.type))),
        undo: changed.map((one) => turned(one, one.type)),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Each table is written anew, and is locked meanwhile.${changed.length === named.length ? '' : ' A domain or a composite of such a type has to be made anew with regprocedure or regoperator.'}`,
      },
    };
    const harm = `A value of these types is copied as a bare name, and the target cannot tell which of several is meant: "more than one ${named[0]!.type.startsWith('regproc') ? 'function' : 'operator'} named …". The copy ends there, each time it is tried.${unlistedNote(named)}`;
    if (ambiguous.length > 0) return fail(['continuous', 'dump'], observed, { ...more, detail: harm });
    if (unseen.length > 0) {
      return {
        ...unknown(`${observed} of functions or operators, and nobody looked whether their names are unique`),
        ...more,
        detail: `${harm} Tables of more than 256 MB are not read for it, nor those that this role may read in part only.`,
      };
    }
    return info(observed, { detail: 'Every name in them is the only one of its schema.', objects });
  },
});

function precise(type: string): string {
  return type.replace('regproc', 'regprocedure').replace(/^regoper(?!ator)/, 'regoperator');
}

function turned({ table, column, type }: RegprocColumn, wanted: string): string {
  const oids = type.endsWith('[]') ? 'oid[]' : 'oid';
  return `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${wanted} USING ${column}::${oids}::${wanted}`;
}
