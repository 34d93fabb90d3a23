import { expect, test } from 'vitest';
import { hasFunctionTimeZoneDependency } from '../../../../src/preflight/postgresql/function-body/time-zone.ts';

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
  expect(hasFunctionTimeZoneDependency(text, types)).toBe(goes);
});
