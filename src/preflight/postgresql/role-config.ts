import { quoteIdentifier, quoteLiteral } from '../../postgresql/quote.ts';
import { type Fix, fail, pass, warn } from '../finding.ts';
import { serverCheck } from './check.ts';
import { copyRates } from './copy-estimate.ts';
import { type EffectiveSetting, effectiveSettings } from './effective-settings.ts';
import { type MigrationRole, migrationRoleQuery } from './queries/migration-role.ts';
import { roleSettingsQuery } from './queries/role-settings.ts';
import { settingsQuery } from './queries/settings.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';
import { parseMilliseconds, timeSpanText } from './units.ts';

export const roleReadonlyCheck = serverCheck({
  id: 'role-readonly',
  title: 'transactions of the role may write',
  needs: 'entry',
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, ground) {
    const all = effectiveSettings('default_transaction_read_only', settings, roleSettings, ground);
    const on = all.filter(({ value }) => isOn(value));
    if (on.length === 0) return pass('off');
    return fail(['continuous'], on.length === all.length ? 'on' : `on in ${on.length} of ${all.length} databases`, {
      required: 'off',
      detail:
        'default_transaction_read_only is on: "cannot execute CREATE PUBLICATION in a read-only transaction". The slot can still be made, and stays behind.',
      objects: on.map(whereOf),
      ...(on.length === all.length ? {} : { only: on.map(({ database }) => database) }),
      fix: resetRoleSetting('default_transaction_read_only', 'off', on, role),
    });
  },
});

const timeouts = [
  'statement_timeout',
  'transaction_timeout',
  'idle_session_timeout',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
] as const;

/** Those that end a copy in the middle; the others end a connection that waits. */
const endsCopies: readonly string[] = ['statement_timeout', 'transaction_timeout'];

export const roleTimeoutsCheck = serverCheck({
  id: 'role-timeouts',
  title: 'no timeout of the role ends a copy',
  needs: 'entry',
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, ground) {
    const found = timeouts.flatMap((name) =>
      effectiveSettings(name, settings, roleSettings, ground).flatMap((one) => {
        const span = parseMilliseconds(one.value, 'ms') ?? 0;
        return span > 0
          ? [{ ...one, name, span, needed: Math.max(copySpan(ground, one.database), leastOf[name] ?? 0) }]
          : [];
      }),
    );
    if (found.length === 0) return pass('none');
    const short = found.filter(({ name, span, needed }) => endsCopies.includes(name) && span < needed);
    const observed = timeouts
      .filter((name) => found.some((one) => one.name === name))
      .map(
        (name) =>
          `${name} ${timeSpanText(Math.min(...found.filter((one) => one.name === name).map(({ span }) => span)))}`,
      )
      .join(', ');
    const fixes = timeouts.map((name) => ({ name, set: found.filter((one) => one.name === name) }));
    const more = {
      required: 'none',
      objects: found.slice(0, 20).map((one) => `${one.name} ${whereOf(one)}`),
      fix: combineFixes(
        fixes.filter(({ set }) => set.length > 0).map(({ name, set }) => resetRoleSetting(name, '0', set, role)),
        `New sessions of ${role.name} then wait as long as it takes. pg_dump sets them to 0 by itself.`,
      ),
    };
    if (short.length === 0) {
      return warn(observed, {
        ...more,
        detail: `The initial copies are statements of this role: what takes longer ends with "canceling statement due to statement timeout" or "terminating connection due to transaction timeout", and begins again. The biggest table should do at ${copyRates.slow / 1e6} MB/s.`,
      });
    }
    const [worst] = short.toSorted((a, b) => b.needed - a.needed);
    return fail(['continuous'], observed, {
      ...more,
      detail: `The biggest copy of ${worst!.database} takes about ${timeSpanText(worst!.needed)} at ${copyRates.slow / 1e6} MB/s, and ${worst!.name} ends it after ${timeSpanText(worst!.span)}: "${words[worst!.name]}". The copy begins again, for ever.`,
      only: [...new Set(short.map(({ database }) => database))],
    });
  },
});

const words: Readonly<Record<string, string>> = {
  statement_timeout: 'canceling statement due to statement timeout',
  transaction_timeout: 'terminating connection due to transaction timeout',
};

/** Milliseconds that the copy of an empty table takes: its transaction makes a slot and asks for the columns first. */
const leastOf: Readonly<Record<string, number>> = { transaction_timeout: 10 };

/** Milliseconds that the biggest table of a database takes; a small database counts as one table. */
function copySpan({ copy }: PostgresqlSourceFacts, database: string): number {
  const found = copy?.perDatabase.get(database);
  return ((found?.largest?.bytes ?? found?.bytes ?? 0) / copyRates.slow) * 1000;
}

function isOn(value: string): boolean {
  return /^(on|true|yes|1|t|tr|tru|y|ye)$/i.test(value);
}

function whereOf({ database, value, set }: EffectiveSetting): string {
  if (set === undefined) return `${database}: ${value} (server)`;
  const glued = [set.role, set.database === undefined ? undefined : `database ${set.database}`]
    .filter(Boolean)
    .join(', ');
  return `${database}: ${value} (${glued === '' ? 'all roles' : glued})`;
}

/** Glued to the role, it wins over the database's and the server's; glued to both only that pair wins, so it is changed there. */
export function resetRoleSetting(
  name: string,
  value: string,
  found: readonly EffectiveSetting[],
  role: MigrationRole,
): Fix {
  const who = `ALTER ROLE ${quoteIdentifier(role.name)}`;
  const pairs = found.flatMap(({ set }) =>
    set?.role !== undefined && set.database !== undefined
      ? [{ where: ` IN DATABASE ${quoteIdentifier(set.database)}`, set }]
      : [],
  );
  const wide = found.find(({ set }) => set === undefined || set.role === undefined || set.database === undefined);
  const changes = [
    ...(wide === undefined ? [] : [{ where: '', set: wide.set?.role === undefined ? undefined : wide.set }]),
    ...pairs,
  ];
  return {
    sql: changes.map(({ where }) => `${who}${where} SET ${name} = ${quoteLiteral(value)}`),
    undo: changes.map(({ where, set }) =>
      set === undefined ? `${who}${where} RESET ${name}` : `${who}${where} SET ${name} = ${quoteLiteral(set.value)}`,
    ),
    text: `Set ${name} to ${value} for the role; new sessions have it, no restart.`,
  };
}

export function combineFixes(fixes: readonly Fix[], text: string): Fix {
  return {
    sql: fixes.flatMap(({ sql }) => sql ?? []),
    undo: fixes.flatMap(({ undo }) => undo ?? []),
    text,
  };
}
