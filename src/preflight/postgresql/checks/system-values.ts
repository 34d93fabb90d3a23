import { countOf } from '../../../base/text.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { buildQueryRowRemovalFixEffect } from '../../fix-effect.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { suggestValueQueriesForTableOwner } from '../owner-queries.ts';
import { migrationRoleQuery } from '../queries/migration-role.ts';
import {
  type ColumnWithServerSpecificValues,
  columnsWithServerSpecificValuesQuery,
} from '../queries/server-specific-columns.ts';

export const systemValuesCheck = declareDatabasePreflightCheck({
  id: 'system-values',
  title: 'no column contains values that only this server can read',
  headline: 'A column can contain values that only this server can read',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { systemValues: columnsWithServerSpecificValuesQuery, role: migrationRoleQuery },
  evaluate({ systemValues, role }, database) {
    const found = systemValues.filter(({ rows }) => rows === 'violate');
    const unseen = systemValues.filter(({ rows }) => rows === 'unseen');
    const named = found.length > 0 ? found : unseen;
    if (named.length === 0) return passOutcome('none');
    const money = named.filter(isMoney);
    const observed = countOf(named.length, 'column');
    const kinds = [...new Set(named.map(kindOf))];
    const settings = `ALTER ROLE ${quoteIdentifier(role.name)} IN DATABASE ${quoteIdentifier(database)}`;
    const more = {
      required: 'none with values',
      detail: `${kinds.map((kind) => impactByKind[kind]).join(' ')} The copy fails on the target on every attempt.${buildUnlistedObjectsNote(named)}`,
      objects: limitFindingObjects(named).map(({ table, column, type }) => `${column} of ${table} (${type})`),
      fix: {
        ...(money.length === 0
          ? {}
          : {
              sql: [`${settings} SET lc_monetary = 'C'`],
              undo: [`${settings} RESET lc_monetary`],
              effects: [
                { kind: 'role-setting', role: role.name, database, name: 'lc_monetary', value: 'C' } as const,
                buildQueryRowRemovalFixEffect(columnsWithServerSpecificValuesQuery, money),
              ],
            }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: [
          ...(money.length < named.length
            ? [
                'Change the columns to text (ALTER TABLE … ALTER COLUMN … TYPE text), set them to NULL, or drop columns that are not used.',
              ]
            : []),
          ...(money.length === 0
            ? []
            : [
                'For money columns set lc_monetary to C for new sessions of the role in this database; the amounts do not change.',
              ]),
        ].join(' '),
      },
    };
    if (found.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    return {
      ...unknownOutcome(`${observed}, and their rows were not checked`),
      ...more,
      detail: `${more.detail}${suggestValueQueriesForTableOwner(named)}`,
    };
  },
});

type Kind = 'money' | 'privileges' | 'relation' | 'internal';

const impactByKind: Readonly<Record<Kind, string>> = {
  money:
    'A money value is copied in the format of lc_monetary, which is not migrated. The target rejects the value or reads another amount: "invalid input syntax for type money".',
  privileges: 'Privileges of dropped roles are copied with their OIDs: "role "16402" does not exist".',
  relation:
    'TOAST tables and temporary tables do not exist on the target: "relation "pg_toast.pg_toast_16402" does not exist".',
  internal: 'Values of internal types can be written but not read: "cannot accept a value of type pg_node_tree".',
};

function kindOf({ type }: ColumnWithServerSpecificValues): Kind {
  if (type.startsWith('money')) return 'money';
  if (type.startsWith('aclitem')) return 'privileges';
  return type.startsWith('regclass') ? 'relation' : 'internal';
}

function isMoney(value: ColumnWithServerSpecificValues): boolean {
  return kindOf(value) === 'money';
}
