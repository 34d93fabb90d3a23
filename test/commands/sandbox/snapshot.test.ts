import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { startSandboxCommand } from './start-sandbox.ts';

it('sandbox snapshot writes one JSON object with mode 0600, or prints it', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const file = join(host.place.home, 'state.json');
  expect(await runCloudctl(host, ['sandbox', 'snapshot', file])).toMatchObject({ code: 0, out: '' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const printed = await runCloudctl(host, ['sandbox', 'snapshot', '-']);
  expect(printed.code).toBe(0);
  expect(Object.keys(printed.json<object>())).toEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))));
});

it('sandbox snapshot into a folder that does not exist is exit 2', async () => {
  const host = testHost();
  await startSandboxCommand(host);
  const ran = await runCloudctl(host, ['sandbox', 'snapshot', join(host.place.home, 'none', 'state.json')]);
  expect(ran).toMatchObject({ code: 2, out: '' });
});
