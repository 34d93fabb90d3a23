import { fail, info, type Outcome, pass } from '../finding.ts';
import {
  type ClockCheck,
  clockChecks,
  type LooserColumn,
  looserColumns,
  type Unvalidated,
  unvalidated,
} from './asks/constraints.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const notValid = databaseCheck({
  id: 'not-valid',
  title: 'every constraint was validated',
  asks: { unvalidated, looserColumns },
  judge({ unvalidated, looserColumns }, database) {
    if (looserColumns.length > 0) return looser(looserColumns, unvalidated, database);
    if (unvalidated.length === 0) return pass('all');
    const observed = count(unvalidated.length, 'constraint');
    const holding = unvalidated.filter(({ filled, foreignKey }) => filled && !foreignKey);
    const objects = shown([...holding, ...unvalidated.filter((one) => !holding.includes(one))]).map(
      ({ name, owner }) => `${name} on ${owner}`,
    );
    if (holding.length === 0) {
      return info(observed, {
        detail: `Rows from before were never checked against them. They are NOT VALID on the target too, and nothing looks at a foreign key while rows are copied.${unlisted(unvalidated)}`,
        objects,
      });
    }
    const drops = holding
      .filter(({ inArrays }) => inArrays)
      .map(({ name, owner }) => `ALTER DOMAIN ${owner} DROP CONSTRAINT ${name}`);
    const nested =
      drops.length === 0 ? '' : ` What a domain in arrays wants cannot be validated: ${shown(drops).join('; ')}.`;
    return fail(['continuous', 'dump'], observed, {
      required: 'no CHECK, NOT NULL or domain with NOT VALID where there are rows',
      detail: `Rows from before were never checked against them. On the target they hold for every row that comes, and an old one that violates one ends the copy, each time it is tried: ${told(holding[0]!)}.${unlisted(unvalidated)}`,
      objects,
      fix: {
        sql: holding
          .filter(({ inArrays }) => !inArrays)
          .map(
            ({ name, owner, ofDomain }) =>
              `ALTER ${ofDomain ? 'DOMAIN' : 'TABLE'} ${owner} VALIDATE CONSTRAINT ${name}`,
          ),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Validate them: each table is read once, and goes on being written to. Where the server refuses ("is violated by some row"), mend those rows first, or DROP CONSTRAINT until the cut-over.${nested} There is nothing to undo.`,
      },
    });
  },
});

function told({ name, owner, ofDomain }: Unvalidated): string {
  return ofDomain
    ? `"value for domain ${owner} violates check constraint ${bareName(name)}"`
    : `"new row for relation … violates check constraint ${bareName(name)}"`;
}

/** Restored, a table that inherits has the NOT NULL of its parent again. */
function looser(found: readonly LooserColumn[], unvalidated: readonly Unvalidated[], database: string): Outcome {
  const turn = (how: string) =>
    found.map(({ table, column }) => `ALTER TABLE ${table} ALTER COLUMN ${column} ${how} NOT NULL`);
  const others = unvalidated.length === 0 ? '' : ` Beside them: ${count(unvalidated.length, 'constraint')} NOT VALID.`;
  return fail(['continuous', 'dump'], `${count(found.length, 'column')} without the NOT NULL of the parent`, {
    required: 'NOT NULL in every table that inherits it',
    detail: `The restore gives it to them again, and a row with NULL ends the copy, each time it is tried: "null value in column ${bareName(found[0]!.column)} of relation … violates not-null constraint".${others}${unlisted(found)}`,
    objects: shown(found).map(({ table, column }) => `${column} of ${table}`),
    fix: {
      sql: turn('SET'),
      undo: turn('DROP'),
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Each table is read once, and is locked meanwhile. Where the server refuses ("contains null values"), mend those rows, or DROP NOT NULL of the parent.',
    },
  });
}

export const timeChecks = databaseCheck({
  id: 'time-checks',
  title: 'no CHECK wants a time that has not come',
  asks: { clockChecks },
  judge({ clockChecks }, database) {
    const found = clockChecks.filter(wantsFuture);
    if (found.length === 0) return pass(clockChecks.length === 0 ? 'none' : 'those that ask the clock look back');
    return fail(['continuous', 'dump'], count(found.length, 'constraint'), {
      required: 'none, where there are rows',
      detail: `A CHECK holds for a row when it is written, here and again on the target: a row whose time has come meanwhile ends the copy, each time it is tried: "new row for relation … violates check constraint ${bareName(found[0]!.name)}".${unlisted(found)}`,
      objects: shown(found).map(({ name, table, definition }) => `${name} on ${table} ${definition}`),
      fix: {
        sql: found.map(({ name, table }) => `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`),
        undo: found.map(
          ({ name, table, definition }) =>
            `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${withoutNotValid(definition)} NOT VALID`,
        ),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or for good in favour of a trigger, which does not fire while rows are copied. Where every row lies in the future and stays there for two weeks, --accept time-checks.',
      },
    });
  },
});

/** As the server writes it: the clock is what the other side is greater than. Written the other way round it looks back. */
function wantsFuture({ definition }: ClockCheck): boolean {
  return new RegExp(`>=? *\\(*${clock}|${clock}(?:(?!\\b(?:AND|OR)\\b)[^<>=])*<=?(?![>@])`).test(definition);
}

const clock =
  '(?:(?:now|(?:transaction|statement|clock)_timestamp)\\(\\)|\\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME(?:STAMP)?)\\b)';

/** In double quotes, as messages have it. */
function bareName(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}

function withoutNotValid(definition: string): string {
  return definition.replace(/ NOT VALID$/, '');
}
