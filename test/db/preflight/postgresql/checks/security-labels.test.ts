import { expect, test } from 'vitest';
import { securityLabelsCheck } from '../../../../../src/db/preflight/postgresql/checks/security-labels.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

const labelProviders = [{ provider: 'selinux', object: 'public.t' }];

function read(settings: Readonly<Record<string, string>>) {
  return {
    host: 'staging',
    port: 5432,
    postgresql: postgresqlTarget({ settings: new Map(Object.entries(settings)) }),
  };
}

test.each([
  { what: 'no label', labels: [], options: {}, verdict: 'pass' },
  { what: 'a target that was not read', labels: labelProviders, options: {}, verdict: 'unknown' },
  { what: 'the name', labels: labelProviders, options: { targetExtensions: ['selinux'] }, verdict: 'warn' },
  { what: 'another name', labels: labelProviders, options: { targetExtensions: ['hstore'] }, verdict: 'unknown' },
  {
    what: 'a target with the provider',
    labels: labelProviders,
    options: { target: read({ shared_preload_libraries: 'sepgsql', session_preload_libraries: '' }) },
    verdict: 'pass',
  },
  {
    what: 'a target without the provider',
    labels: labelProviders,
    options: { target: read({ shared_preload_libraries: 'pgaudit', session_preload_libraries: '' }) },
    verdict: 'fail continuous+dump',
  },
  { what: 'a target that hides it', labels: labelProviders, options: { target: read({}) }, verdict: 'unknown' },
])('$what: $verdict', ({ labels, options, verdict }) => {
  const outcome = securityLabelsCheck.evaluate(
    { labelProviders: labels },
    'd1',
    sourceFacts(),
    preflightOptions(options),
  );
  expect(short(outcome)).toBe(verdict);
});
