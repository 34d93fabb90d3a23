import { expect, test } from 'vitest';
import { workerProcessesCheck } from '../../../../../src/db/preflight/postgresql/checks/worker-processes.ts';
import { expectText } from '../expect-text.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const three = sourceFacts({ databases: ['a', 'b', 'c'] });

test.each([
  { preloaded: '', max: '1', verdict: 'pass' },
  { preloaded: 'pg_stat_statements, pglogical', max: '3', verdict: 'warn' },
  { preloaded: 'pglogical', max: '4', verdict: 'pass' },
])('$max workers with "$preloaded" preloaded: $verdict', ({ preloaded, max, verdict }) => {
  const facts = { settings: settings({ max_worker_processes: max, shared_preload_libraries: preloaded }) };
  expect(short(workerProcessesCheck.evaluate(facts, three, preflightOptions()))).toBe(verdict);
});

test('too few names the number and the setting', () => {
  const facts = { settings: settings({ max_worker_processes: '3', shared_preload_libraries: 'pglogical' }) };
  expectText(workerProcessesCheck.evaluate(facts, three, preflightOptions()).headline);
});
