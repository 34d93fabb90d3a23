import { describe, expect, test } from 'vitest';
import { doctorReport } from '../../../src/auth/doctor/finding.ts';
import { checkLoginProfile, checkSecret } from '../../../src/auth/doctor/profile.ts';
import type { ProfileSettings } from '../../../src/config/settings.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const whole: ProfileSettings = {
  profileName: 'work',
  profile: profileNamed('work'),
  isProfileStored: true,
  isProfileNamed: true,
  values: {
    auth_url: 'https://cloud.example',
    base_url: 'https://api.example',
    client_id: 'c',
    callback_urls: ['http://127.0.0.1:8765/callback'],
  },
  clientSecret: undefined,
  accessToken: undefined,
  isAccessTokenIgnored: false,
  storedBaseUrl: undefined,
};

describe('the profile', () => {
  test('a complete profile passes and shows its settings with defaults', () => {
    const finding = checkLoginProfile(whole);
    expect(finding).toMatchObject({ id: 'profile', status: 'ok' });
    for (const fact of ['work', 'https://cloud.example', 'https://api.example', 'flow code', 'scope read'])
      expect(finding.observed).toContain(fact);
  });

  test.each(['auth_url', 'base_url', 'client_id', 'callback_urls'] as const)('without %s the check fails', (key) => {
    const { [key]: _, ...values } = whole.values;
    const finding = checkLoginProfile({ ...whole, values });
    expect(finding.status).toBe('failed');
    expect(finding.hint).toContain('`cloudctl auth setup --profile work`');
    expect(finding.observed).toContain(key);
  });
});

describe('the client secret', () => {
  test.each([
    ['code', 'variable', 'ok'],
    ['code', 'stored', 'ok'],
    ['code', 'missing', 'failed'],
    ['implicit', 'missing', 'ok'],
  ] as const)('flow %s, %s: %s', (flow, known, status) => {
    expect(checkSecret({ ...whole, values: { ...whole.values, flow } }, known).status).toBe(status);
  });
});

test('a report is ok if no check failed', () => {
  const ok = { id: 'a', status: 'ok', observed: '' } as const;
  expect(doctorReport([ok, { ...ok, status: 'warning' }, { ...ok, status: 'skipped' }]).ok).toBe(true);
  expect(doctorReport([ok, { ...ok, status: 'failed' }]).ok).toBe(false);
});
