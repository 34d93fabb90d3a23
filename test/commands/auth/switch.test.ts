import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, stableText } from '../run-cloudctl.ts';

it('auth switch changes the current profile and nothing else', async () => {
  const host = testHost();
  host.writeConfig({ later: 1, current: 'a', profiles: { a: { scope: 'read' }, b: {} } });
  const ran = await runCloudctl(host, ['auth', 'switch', 'b']);
  expect(ran).toMatchObject({ code: 0, out: '' });
  expectGolden('auth', stableText(ran));
  expect(host.readConfig().raw).toEqual({ later: 1, current: 'b', profiles: { a: { scope: 'read' }, b: {} } });
});

it('auth switch without any profile shows the command that creates one', async () => {
  const ran = await runCloudctl(testHost(), ['auth', 'switch', 'work', '-o', 'json']);
  expect(ran.error()).toMatchObject({
    code: 'profile_unknown',
    hint: expect.stringContaining('`cloudctl auth setup --profile work`'),
  });
});

it.each(['switch', 'remove'])('auth %s of a name that is misspelled suggests the profile', async (verb) => {
  const host = testHost();
  host.writeConfig({ current: 'a', profiles: { a: {}, second: {} } });
  const ran = await runCloudctl(host, ['auth', verb, 'secnd']);
  expect(ran.code).toBe(2);
  expectGolden('auth', stableText(ran));
});

it.each([
  ['an unknown profile', ['auth', 'switch', 'c'], 'profile_unknown', 'a'],
  ['no profile', ['auth', 'switch'], 'usage', ''],
])('auth switch to %s is exit 2 and changes nothing', async (_what, words, code, detail) => {
  const host = testHost();
  host.writeConfig({ current: 'a', profiles: { a: {} } });
  const ran = await runCloudctl(host, [...words, '-o', 'json']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.error()).toMatchObject({ code });
  expect(ran.err).toContain(detail);
  expect(host.readConfig().current).toBe('a');
});
