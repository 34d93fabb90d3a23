import { expect, test } from 'vitest';
import { customFiles } from '../../../../../src/db/preflight/postgresql/checks/dictionaries.ts';
import { detectTimeDependence } from '../../../../../src/db/preflight/postgresql/checks/generated-columns.ts';
import { withoutTypeNames } from '../../../../../src/db/preflight/postgresql/checks/reading-functions.ts';
import { dependsOnNumber } from '../../../../../src/db/preflight/postgresql/checks/table-oids.ts';
import { futureDemand } from '../../../../../src/db/preflight/postgresql/checks/time-checks.ts';
import { hasWordRange } from '../../../../../src/db/preflight/postgresql/expression-results.ts';
import { findReferences } from '../../../../../src/db/preflight/postgresql/function-body/names.ts';
import {
  findLegacyZones,
  findQuotedZones,
  usesZone,
} from '../../../../../src/db/preflight/postgresql/function-body/time-zone.ts';

test.each([
  { text: 'SELECT $1::date', types: ['timestamptz'], goes: true },
  { text: 'SELECT CAST($1 AS date)', types: ['timestamptz'], goes: true },
  { text: 'SELECT $1 :: timestamp', types: ['timestamptz'], goes: true },
  { text: "BEGIN RETURN to_char(a, 'YYYY'); END", types: ['int4', 'timestamptz'], goes: true },
  { text: "SELECT date_trunc('day', $1)", types: ['timestamptz'], goes: true },
  { text: 'SELECT extract(hour FROM $1)', types: ['timestamptz'], goes: true },
  { text: 'SELECT $1::timestamptz', types: ['timestamp'], goes: true },
  { text: 'SELECT $1::timestamp with time zone', types: ['date'], goes: true },
  { text: "SELECT date_trunc('day', $1)", types: ['timestamp'], goes: false },
  { text: "SELECT date_trunc('day', $1, 'UTC')", types: ['timestamptz'], goes: false },
  { text: "SELECT ($1 AT TIME ZONE 'UTC')::date", types: ['timestamptz'], goes: false },
  { text: "SELECT timezone('UTC', $1)::date", types: ['timestamptz'], goes: false },
  { text: 'SELECT extract(epoch FROM $1)', types: ['timestamptz'], goes: false },
  { text: 'SELECT $1::timestamp with time zone', types: ['timestamptz'], goes: false },
  { text: 'SELECT $1 -- ::date', types: ['timestamptz'], goes: false },
  { text: 'SELECT $1::date', types: ['timestamp'], goes: false },
  { text: 'SELECT lower($1)', types: ['text'], goes: false },
])('$text of $types: $goes', ({ text, types, goes }) => {
  expect(usesZone(text, types)).toBe(goes);
});

test.each([
  { text: "SELECT $1 AT TIME ZONE 'us/pacific'", legacy: ['US/Pacific'] },
  { text: "SELECT $1 at /* the */ time\n zone ('PRC'::text)", legacy: ['PRC'] },
  { text: "SELECT $1 AT TIME ZONE text 'Japan'", legacy: ['Japan'] },
  { text: "SELECT $1 AT TIME ZONE coalesce(u.tz, 'Asia/Saigon')", legacy: ['Asia/Saigon'] },
  { text: "SELECT $1 AT TIME ZONE CASE WHEN a THEN 'GB' ELSE 'UTC' END", legacy: ['GB'] },
  { text: "SELECT pg_catalog.timezone('Hongkong', $1)", legacy: ['Hongkong'] },
  { text: "SELECT timezone('UTC', f('Japan'))", legacy: [] },
  { text: "SELECT date_trunc('day', $1, 'NZ')", legacy: ['NZ'] },
  { text: "SELECT make_timestamptz(2026, 1, 1, 0, 0, 0, 'Iran')", legacy: ['Iran'] },
  { text: "SELECT set_config('TimeZone', 'Eire', true), set_config('app.country', 'Cuba', true)", legacy: ['Eire'] },
  { text: 'SET LOCAL timezone TO Japan', legacy: ['Japan'] },
  { text: 'SET TIME ZONE "US/Eastern"', legacy: ['US/Eastern'] },
  { text: "ALTER ROLE app SET timezone = 'Turkey'", legacy: ['Turkey'] },
  { text: "SELECT '2026-01-01 00:00:00 US/Hawaii'::timestamptz", legacy: ['US/Hawaii'] },
  { text: "EXECUTE 'SET timezone TO ''Poland'''", legacy: ['Poland'] },
  { text: "EXECUTE format($q$SELECT %I AT TIME ZONE 'Egypt' FROM t$q$, c)", legacy: ['Egypt'] },
  { text: "DECLARE z text := 'US/Central'; BEGIN RETURN $1 AT TIME ZONE z; END", legacy: ['US/Central'] },
  { text: "SELECT $1 AT TIME ZONE 'right/UTC'", legacy: ['right/UTC'] },
  { text: "SELECT $1 = 'US/Pacific' OR country = 'Japan'", legacy: [] },
  { text: "SELECT $1 AT TIME ZONE 'UTC' -- AT TIME ZONE 'Japan'", legacy: [] },
  { text: "SELECT $1 AT TIME ZONE 'Zulu' AT TIME ZONE 'EST5EDT' AT TIME ZONE 'Europe/Berlin'", legacy: [] },
  { text: "UPDATE t SET zone = 'Japan', timezones = 'PRC'", legacy: [] },
])('zones that a target may lack, in $text: $legacy', ({ text, legacy }) => {
  expect(findLegacyZones(text).legacy).toEqual(legacy);
});

test('in another language a quoted name with a folder, or one after the word of a time zone', () => {
  const body = `x = plpy.execute("SELECT now() AT TIME ZONE 'Japan'"); z = ZoneInfo('US/Pacific'); country = "PRC"`;
  expect(findQuotedZones(body).legacy).toEqual(['US/Pacific', 'Japan']);
});

// Quadratic work on so many characters takes minutes, and some of it years, recursion overflows the stack.
const many = (part: string): string => part.repeat(Math.ceil(100_000 / part.length));
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'names of a SQL body': (text) => findReferences(text, 'sql'),
  'names of a PL/pgSQL body': (text) => findReferences(`begin return true; end US/Pacific ${text}`, 'plpgsql'),
  'time zones': (text) => findLegacyZones(`select a at time zone ${text}`),
  'time zones of other languages': (text) => findQuotedZones(`time zone${text}`),
  'uses of the time zone': (text) => usesZone(text, ['timestamptz', 'timestamp']),
  'uses of the time': detectTimeDependence,
  'names of types': withoutTypeNames,
  'ranges of a regular expression': hasWordRange,
  'files of a dictionary': (text) => customFiles({ template: 'ispell', options: text }),
  'numbers of tables': (definition) => dependsOnNumber({ definition }),
  'times in the future': (definition) => futureDemand({ definition }),
};

test.each(Object.keys(readers))('a hostile text of many signs does not stop the reading of %s', (name) => {
  const parts = ['+', '-+', '+/**/', '/*', ' ', "'", '"', '(', '[', '$', '\\', "''", '""', 'a', 'a.', "e'", 'now() '];
  for (const part of [...parts, 'timezone(', 'case ', 'at time zone case ', "time zone ' "])
    readers[name]?.(many(part));
  const nested = Array.from({ length: 8_000 }, (_, at) => `$a${at}$ time zone `).join('');
  for (const text of [nested, `'${'x'.repeat(5_000_000)}'`, `E'${'\\n'.repeat(2_000_000)}'`]) readers[name]?.(text);
});
