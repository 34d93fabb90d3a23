import { expect, test } from 'vitest';
import { extensionsCheck } from '../../../../src/preflight/postgresql/checks/extensions.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { has: ['postgis'], told: undefined, verdict: 'unknown' },
  { has: ['plpgsql'], told: undefined, verdict: 'pass' },
  { has: [], told: [], verdict: 'pass' },
  { has: ['hstore', 'PostGIS'], told: ['hstore', 'postgis'], verdict: 'pass' },
  { has: ['hstore', 'postgis'], told: ['hstore'], verdict: 'fail continuous+dump' },
])('extensions $has, --target-extensions $told: $verdict', ({ has, told, verdict }) => {
  const extensions = has.map((name) => ({ name, version: '1.0' }));
  const outcome = extensionsCheck.evaluate(
    { extensions },
    'd1',
    sourceFacts(),
    preflightOptions({ targetExtensions: told }),
  );
  expect(short(outcome)).toBe(verdict);
});

test.each([
  { has: ['citext'], from: 150_000, target: undefined, verdict: 'pass' },
  { has: ['citext', 'postgis'], from: 150_000, target: '17', verdict: 'unknown' },
  { has: ['postgres_fdw'], from: 150_000, target: '17', verdict: 'unknown' },
  { has: ['adminpack'], from: 150_000, target: undefined, verdict: 'unknown' },
  { has: ['adminpack'], from: 150_000, target: '16', verdict: 'unknown' },
  { has: ['adminpack', 'citext'], from: 150_000, target: '17', verdict: 'fail continuous+dump' },
  { has: ['citext'], from: 150_000, target: '19', verdict: 'unknown' },
  { has: ['citext'], from: 190_000, target: undefined, verdict: 'unknown' },
  { has: ['citext'], from: 110_000, target: '12', verdict: 'unknown' },
])('extensions $has of $from, --target-version $target: $verdict', ({ has, from, target, verdict }) => {
  const extensions = has.map((name) => ({ name, version: '1.0' }));
  const facts = sourceFacts({ connection: connected({ version: from }) });
  const outcome = extensionsCheck.evaluate(
    { extensions },
    'd1',
    facts,
    preflightOptions({ targetVersion: target, targetExtensions: undefined }),
  );
  expect(short(outcome)).toBe(verdict);
});
