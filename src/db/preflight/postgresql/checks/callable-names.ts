import { countOf } from '../../../../base/text.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import { failOutcome, infoOutcome, passOutcome, removalEffect, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { suggestValueQueries } from '../owner-queries.ts';
import { type RegprocColumn, regprocQuery } from '../queries/row-scan.ts';

export const ambiguousCallableNamesCheck = declareDatabaseCheck({
  id: 'callable-names',
  title: 'no regproc or regoper value is ambiguous',
  headline: 'A column has the type regproc or regoper',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { callableColumns: regprocQuery },
  evaluate({ callableColumns }, database) {
    if (callableColumns.length === 0) return passOutcome('none');
    const ambiguous = callableColumns.filter(({ rows }) => rows === 'violate');
    const unseen = callableColumns.filter(({ rows }) => rows === 'unseen');
    const named = ambiguous.length > 0 ? ambiguous : unseen.length > 0 ? unseen : callableColumns;
    const observed = countOf(named.length, 'column');
    const objects = limitObjects(named).map(({ table, column, type }) => `${column} of ${table} (${type})`);
    const changed = named.filter(({ isInside, type }) => !isInside && /^reg(proc|oper)(\[\])?$/.test(type));
    const more = {
      required: 'regprocedure and regoperator, whose text form includes the argument types',
      objects,
      fix: {
        // The fix is for review: to rewrite the table, the server evaluates the CHECK constraints of the column as the
        // role that runs the statement.
        review: changed.map((one) => alterType(one, preciseType(one.type))),
        undoReview: changed.map((one) => alterType(one, one.type)),
        effects: [removalEffect(regprocQuery, changed)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Each statement rewrites its table under an ACCESS EXCLUSIVE lock.${changed.length === named.length ? '' : ' A domain or a composite type must be re-created with regprocedure or regoperator.'}`,
      },
    };
    const harm = `A value of the type regproc or regoper is copied as a name without argument types. If several functions or operators have this name, the target rejects the value: "more than one ${named[0]!.type.startsWith('regproc') ? 'function' : 'operator'} named …". The copy of the table fails on every attempt.${unlistedNote(named)}`;
    if (ambiguous.length > 0) return failOutcome(['continuous', 'dump'], observed, { ...more, detail: harm });
    if (unseen.length > 0) {
      return {
        ...unknownOutcome(`${observed} of functions or operators; ambiguous names were not searched for`),
        premise: 'every name in a column of type regproc or regoper is unique',
        ...more,
        detail: `${harm} Tables larger than 256 MB, and tables that this role can read only in part, are not searched.${suggestValueQueries(unseen)}`,
      };
    }
    return infoOutcome(observed, {
      detail: 'Every name in columns of type regproc or regoper is unique in its schema.',
      objects,
    });
  },
});

function preciseType(type: string): string {
  return type.replace('regproc', 'regprocedure').replace(/^regoper(?!ator)/, 'regoperator');
}

function alterType({ table, column, type }: RegprocColumn, newType: string): string {
  const oids = type.endsWith('[]') ? 'oid[]' : 'oid';
  return `ALTER TABLE ${requoteName(table)} ALTER COLUMN ${requoteName(column)} TYPE ${newType} USING ${requoteName(column)}::${oids}::${newType}`;
}
