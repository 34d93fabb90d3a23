import { expect, test } from 'vitest';
import { securityLabelsCheck } from '../../../../src/preflight/postgresql/checks/security-labels.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

const labelProviders = [{ provider: 'selinux', object: 'public.t' }];

test.each([
  { what: 'no label', labels: [], targetExtensions: undefined, verdict: 'pass' },
  { what: 'extensions of the target unknown', labels: labelProviders, targetExtensions: undefined, verdict: 'warn' },
  { what: 'a target with the provider', labels: labelProviders, targetExtensions: ['selinux'], verdict: 'warn' },
  {
    what: 'a target without the provider',
    labels: labelProviders,
    targetExtensions: ['hstore'],
    verdict: 'fail continuous+dump',
  },
])('$what: $verdict', ({ labels, targetExtensions, verdict }) => {
  const options = preflightOptions({ targetExtensions });
  expect(short(securityLabelsCheck.evaluate({ labelProviders: labels }, 'd1', sourceFacts(), options))).toBe(verdict);
});
