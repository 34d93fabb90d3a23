import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { migrationRoleQuery } from '../queries/migration-role.ts';
import { type ServerSpecificColumn, serverSpecificColumnsQuery } from '../queries/server-specific-columns.ts';
import { countText } from '../units.ts';

export const systemValuesCheck = databaseCheck({
  id: 'system-values',
  title: 'no column contains values that only this server can read',
  headline: 'A column can contain values that only this server can read',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { systemValues: serverSpecificColumnsQuery, role: migrationRoleQuery },
  evaluate({ systemValues, role }, database) {
    const found = systemValues.filter(({ rows }) => rows === 'violate');
    const unseen = systemValues.filter(({ rows }) => rows === 'unseen');
    const named = found.length > 0 ? found : unseen;
    if (named.length === 0) return pass('none');
    const money = named.filter(isMoney);
    const observed = countText(named.length, 'column');
    const kinds = [...new Set(named.map(kindOf))];
    const settings = `ALTER ROLE ${quoteIdentifier(role.name)} IN DATABASE ${quoteIdentifier(database)}`;
    const more = {
      required: 'none with rows',
      detail: `${kinds.map((kind) => harms[kind]).join(' ')} The copy ends there, each time it is tried.${unlistedNote(named)}`,
      objects: firstObjects(named).map(({ table, column, type }) => `${column} of ${table} (${type})`),
      fix: {
        ...(money.length === 0
          ? {}
          : { sql: [`${settings} SET lc_monetary = 'C'`], undo: [`${settings} RESET lc_monetary`] }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: [
          ...(money.length < named.length
            ? [
                'Turn the columns into text (ALTER TABLE … ALTER COLUMN … TYPE text), empty them, or drop what nobody needs any more.',
              ]
            : []),
          ...(money.length === 0
            ? []
            : [
                'Money is copied as it is written with lc_monetary C, which new sessions of the role then have in this database; the amounts stay as they are.',
              ]),
        ].join(' '),
      },
    };
    if (found.length > 0) return fail(['continuous', 'dump'], observed, more);
    return { ...unknown(`${observed}, and nobody looked at their rows`), ...more };
  },
});

type Kind = 'money' | 'rights' | 'relation' | 'internal';

const harms: Readonly<Record<Kind, string>> = {
  money:
    'Money is written as lc_monetary has it here, which does not come along, and what the target reads is refused or another amount: "invalid input syntax for type money".',
  rights: 'Rights of roles that are gone are written with their numbers: "role "16402" does not exist".',
  relation:
    'Tables of the system that are named after a number, or belong to a session, are not there on the target: "relation "pg_toast.pg_toast_16402" does not exist".',
  internal:
    'Values that the server makes for itself are written, and never read: "cannot accept a value of type pg_node_tree".',
};

function kindOf({ type }: ServerSpecificColumn): Kind {
  if (type.startsWith('money')) return 'money';
  if (type.startsWith('aclitem')) return 'rights';
  return type.startsWith('regclass') ? 'relation' : 'internal';
}

function isMoney(value: ServerSpecificColumn): boolean {
  return kindOf(value) === 'money';
}
