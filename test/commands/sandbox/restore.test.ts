import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lastSandbox } from '../../../src/config/sandboxes.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl, stableText } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

const token = ['sandbox', 'token', '--user', 'maya@example.com'];

it('sandbox restore brings back the saved state: later changes are gone', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const clock = async () => (await runCloudctl(host, ['sandbox', 'clock'])).out;
  await runCloudctl(host, ['sandbox', 'clock', 'freeze']);
  const before = await clock();
  const file = join(host.place.home, 'state.json');
  await runCloudctl(host, ['sandbox', 'snapshot', file]);
  await runCloudctl(host, ['sandbox', 'clock', '+10m']);
  expect(await clock()).not.toBe(before);
  expect(await runCloudctl(host, ['sandbox', 'restore', file])).toMatchObject({ code: 0, out: '' });
  expect(await clock()).toBe(before);
});

it('sandbox restore of another sandbox records its client ID', async () => {
  const [one, other] = [testHost(), testHost()];
  await startSandboxCommand(one, ['--seed', '1']);
  await startSandboxCommand(other, ['--seed', '2']);
  const file = join(one.place.home, 'state.json');
  await runCloudctl(one, ['sandbox', 'snapshot', file]);
  const ran = await runCloudctl(other, ['sandbox', 'restore', file]);
  expect(ran.code).toBe(0);
  const [saved, restored] = [one, other].map(({ folders }) => lastSandbox(folders.state)?.client_id);
  expect(restored).toBe(saved);
  expect((await runCloudctl(other, token)).code).toBe(0);
  expectGolden('sandbox', stableText(ran).replaceAll(file, 'FILE'));
});

it.each([
  ['text', 'no JSON'],
  ['an array', '[]'],
  ['another file', '{"profiles":{}}'],
])('sandbox restore of %s is exit 2', async (_, content) => {
  const host = testHost();
  await startSandboxCommand(host);
  const file = join(host.place.home, 'bad.json');
  writeFileSync(file, content);
  const ran = await runCloudctl(host, ['sandbox', 'restore', file]);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expectGolden('sandbox', stableText(ran).replaceAll(file, 'FILE'));
});
