import { expect, test } from 'vitest';
import { extensionsCheck } from '../../../../src/preflight/postgresql/checks/extensions.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { has: ['hstore'], told: undefined, verdict: 'unknown' },
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
