import { expect, it } from 'vitest';
import { noNames, writeNames } from '../../src/config/known-names.ts';
import { completionNames } from '../../src/context/completion.ts';
import { testHost } from '../fixtures/host.ts';

const [first, second] = ['http://127.0.0.1:8081', 'https://api.example.com'];

function hostWithNames() {
  const host = testHost();
  host.writeConfig({ current: 'work', profiles: { work: { base_url: first }, home: { base_url: second } } });
  writeNames(host.folders.state, 'work', first, {
    ...noNames,
    droplets: [{ value: 'web' }],
  });
  writeNames(host.folders.state, 'home', second, {
    ...noNames,
    clusters: [{ value: 'c', description: 'orders' }],
  });
  return host;
}

it('names are those of the profile and the server that the command line selects', async () => {
  const host = hostWithNames();
  const names = (from: string, typed: Readonly<Record<string, string>> = {}, env = {}) =>
    completionNames({ ...host, env: { ...host.env, ...env } }, from, new Map(Object.entries(typed)));
  expect(await names('profile')).toEqual([{ value: 'work' }, { value: 'home' }]);
  expect(await names('droplet')).toEqual([{ value: 'web' }]);
  expect(await names('droplet', { profile: 'home' })).toEqual([]);
  expect(await names('droplet', { 'base-url': second })).toEqual([]);
  expect(await names('cluster', { profile: 'home' })).toEqual([{ value: 'c', description: 'orders' }]);
  expect(await names('cluster', {}, { CLOUDCTL_PROFILE: 'home' })).toHaveLength(1);
  expect(await names('constructor')).toEqual([]);
});

it('the checks are those of the program', async () => {
  const checks = await completionNames(testHost(), 'check', new Map());
  expect(checks.map(({ value }) => value)).toContain('wal-level');
});

it('a wrong configuration suggests nothing', async () => {
  const host = hostWithNames();
  expect(await completionNames(host, 'droplet', new Map([['profile', 'A B']]))).toEqual([]);
  host.writeConfig('{');
  for (const from of ['profile', 'droplet']) expect(await completionNames(host, from, new Map())).toEqual([]);
});
