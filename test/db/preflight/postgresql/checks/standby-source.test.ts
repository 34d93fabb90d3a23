import { expect, test } from 'vitest';
import { standbySourceCheck } from '../../../../../src/db/preflight/postgresql/checks/standby-source.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, settings, short, sourceFacts } from '../facts.ts';

test('a standby is no source for replication, and a dump from it may be cancelled', () => {
  const facts = { settings: settings({ max_standby_streaming_delay: '30000', hot_standby_feedback: 'off' }) };
  expect(short(standbySourceCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('pass');
  const standby = standbySourceCheck.evaluate(
    facts,
    sourceFacts({ connection: connected({ inRecovery: true, version: 150_018 }) }),
    preflightOptions(),
  );
  expect(short(standby)).toBe('fail continuous');
  expectText(standby.detail);
  expect(standby.detail).toMatch(/canceling statement .*conflict/);
});
