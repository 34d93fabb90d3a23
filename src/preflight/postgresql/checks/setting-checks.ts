import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, fail, pass, unknown, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { addConstraintNotValid, dropConstraint } from '../constraint-text.ts';
import { effectiveSettings } from '../effective-settings.ts';
import { dependsOnTimeZone } from '../function-body/time-zone.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type FunctionBody, functionBodiesQuery } from '../queries/function-bodies.ts';
import { type FunctionUse, functionUsesQuery } from '../queries/function-uses.ts';
import { type RoleSetting, roleSettingsQuery } from '../queries/role-settings.ts';
import { type ServerSettings, settingNamesIn, settingsQuery } from '../queries/settings.ts';
import {
  defaultSessionSettings,
  type SettingsDependentConstraint,
  settingsDependentConstraintsQuery,
} from '../queries/settings-dependent-constraints.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';
import { countText } from '../units.ts';

export const settingChecksCheck = databaseCheck({
  id: 'setting-checks',
  title: 'no CHECK constraint or stored value depends on session settings',
  headline: 'A CHECK constraint or a stored value depends on session settings',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    swayedChecks: settingsDependentConstraintsQuery,
    functionUses: functionUsesQuery,
    functionBodies: functionBodiesQuery,
    settings: settingsQuery,
    roleSettings: roleSettingsQuery,
  },
  evaluate({ swayedChecks, functionUses, functionBodies, settings, roleSettings }, database, facts) {
    const found = swayedChecks.filter(({ rows }) => rows !== 'none');
    const own = ownSettings(database, settings, roleSettings, facts);
    const zone = own.find(({ name }) => name === 'TimeZone');
    const uses = zone === undefined ? [] : usesByZone(functionUses, functionBodies);
    if (zone !== undefined && uses.length > 0) return otherwise(uses, zone.value);
    if (found.length === 0) return pass(swayedChecks.length === 0 ? 'none' : 'none with rows');
    const isOwn = (...names: readonly string[]) => own.some(({ name }) => names.includes(name));
    const broken = found.filter(
      ({ rows, readsDates }) => rows === 'violate' || (readsDates && isOwn('DateStyle') && rows !== 'fit'),
    );
    const told = own.map(({ name, value }) => `${name} ${value}`).join(', ');
    const observed = `${countText(found.length, 'constraint')}${told === '' ? '' : `; ${told}`}`;
    const more = (named: readonly SettingsDependentConstraint[]) => ({
      required: 'none, or the settings that every server begins with',
      objects: firstObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: {
        sql: named.map(dropConstraint),
        undo: named.map(addConstraintNotValid),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Drop them until the cut-over, or write them so that they name their zone (AT TIME ZONE 'UTC'). A target whose own settings are those of the source takes the rows: ALTER DATABASE ${quoteIdentifier(database)} SET there, or of the role that applies changes, then --accept setting-checks.`,
      },
    });
    const harm = `What the source has set for a server, a database or a role does not come along: there a CHECK is asked with ${Object.entries(
      defaultSessionSettings,
    )
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`;
    if (broken.length > 0) {
      return fail(['continuous', 'dump'], observed, {
        ...more(broken),
        detail: `${harm}, and rows that fit here violate it, which ends the copy, each time it is tried: "new row for relation … violates check constraint ${broken[0]!.name}".${unlistedNote(broken)}`,
      });
    }
    if (own.length === 0) return pass(observed);
    const unseen = found.filter(({ rows }) => rows === 'unseen');
    const detail = `${harm}.`;
    if (unseen.length > 0) {
      return { ...unknown(`${observed}: nobody looked whether every row fits`), ...more(unseen), detail };
    }
    return warn(observed, {
      ...more(found),
      detail: `${detail} Every row fits so as well; one that is written before the cut-over and does not stops the replication.${unlistedNote(found)}`,
    });
  },
});

interface ZonedUse extends FunctionUse {
  readonly signature: string;
}

/** What is made of rows again on the target: a value, a key or the choice of a partition. */
function usesByZone(uses: readonly FunctionUse[], bodies: readonly FunctionBody[]): readonly ZonedUse[] {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const zoned = (calls: string): FunctionBody | undefined => {
    // Each is looked at once, however many call it; it grows while it is walked through.
    const reached = new Set([calls]);
    for (const oid of reached) {
      const body = byOid.get(oid);
      // One with a zone of its own gives it to all that it calls.
      if (body === undefined || body.hasZone) continue;
      if (dependsOnTimeZone(`${body.text} ${body.bound}`, body.types)) return body;
      for (const one of body.calls) reached.add(one);
    }
    return undefined;
  };
  return uses.flatMap((use) => {
    const body = zoned(use.calls);
    return body !== undefined && use.filled && !made.has(use.kind) ? [{ ...use, signature: body.signature }] : [];
  });
}

/** What is made in another order, or not at all, and of which no row is another. */
const made: ReadonlySet<FunctionUse['kind']> = new Set(['index', 'support', 'trigger', 'event']);

function otherwise(uses: readonly ZonedUse[], zone: string): CheckOutcome {
  const asked = uses.every(({ kind }) => kind === 'check' || kind === 'domain');
  const observed = `${countText(uses.length, 'use')} of functions that go by TimeZone ${zone}`;
  const more = {
    required: 'functions that name their zone',
    detail: `They are said to be immutable, and give another result in another time zone. The zone of the source does not come along, so that the target makes other values, keys or partitions of the same rows: they differ in silence, or "duplicate key value violates unique constraint", "new row for relation … violates partition constraint".${unlistedNote(uses)}`,
    objects: firstObjects(uses).map(({ signature, name }) => `${signature} (${name})`),
    fix: {
      by: 'the owner of the functions',
      text: `Let them name the zone that they mean: … AT TIME ZONE '${zone}' for a time with its zone. What is stored stays as it is. A function with SET timezone will do as well.`,
    },
  };
  return asked ? { ...unknown(observed), ...more } : fail(['continuous', 'dump'], observed, more);
}

/** Those that differ from what a target has. A value that our own session hides counts as one. */
function ownSettings(
  database: string,
  settings: ServerSettings,
  glued: readonly RoleSetting[],
  facts: PostgresqlSourceFacts,
): readonly { readonly name: string; readonly value: string }[] {
  return settingNamesIn(defaultSessionSettings).flatMap((name) => {
    const value = effectiveSettings(name, settings, glued, { ...facts, databases: [database] })[0]?.value;
    return value === undefined || (usual[name] ?? /^$/).test(value) ? [] : [{ name, value }];
  });
}

const usual: Readonly<Record<string, RegExp>> = {
  TimeZone: /^(Etc\/)?(UTC|UCT|GMT|Universal|Zulu|Greenwich|GMT[+-]?0)$/i,
  DateStyle: /^(ISO(, *MDY)?|MDY, *ISO)$/i,
  IntervalStyle: /^postgres$/i,
};
