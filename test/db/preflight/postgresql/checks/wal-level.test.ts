import { expect, test } from 'vitest';
import { walLevelCheck } from '../../../../../src/db/preflight/postgresql/checks/wal-level.ts';
import { connected, preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const quiet = { activity: [] };

test.each([
  { value: 'logical', verdict: 'pass' },
  { value: 'replica', verdict: 'fail continuous' },
  { value: 'minimal', verdict: 'fail continuous' },
])('wal_level $value: $verdict', ({ value, verdict }) => {
  expect(
    short(
      walLevelCheck.evaluate({ settings: settings({ wal_level: value }), ...quiet }, sourceFacts(), preflightOptions()),
    ),
  ).toBe(verdict);
});

test.each([
  { version: 160_014, words: 'logical decoding requires wal_level >= logical' },
  { version: 170_010, words: 'logical decoding requires "wal_level" >= "logical"' },
])('the words are those of version $version', ({ version, words }) => {
  const facts = { settings: settings({ wal_level: 'replica' }), ...quiet };
  expect(
    walLevelCheck.evaluate(facts, sourceFacts({ connection: connected({ version }) }), preflightOptions()).detail,
  ).toContain(words);
});
