import { chmodSync, lstatSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../../src/auth/doctor/finding.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { sandboxFor } from '../../sandbox/requests.ts';
import { runCloudctl } from '../run-cloudctl.ts';

async function seeded() {
  const sandbox = await sandboxFor();
  const host = testHost({ env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
  const { place } = await seedSession(host, sandbox);
  const run = (...words: readonly string[]) => runCloudctl(host, [...words, '-o', 'json']);
  const statusOf = async (id: string): Promise<unknown> => {
    const findings = (await run('doctor')).json<DoctorReport>().findings;
    return findings.find((one) => one.id === id)?.status;
  };
  return { host, place, run, statusOf };
}

describe.skipIf(process.platform === 'win32')('a credential file', () => {
  it('that others can read is refused, and doctor says so', async () => {
    const { place, run, statusOf } = await seeded();
    expect((await run('actions', 'list')).code).toBe(0);
    expect(await statusOf('credential-file')).toBe('ok');
    chmodSync(place.credentialFile, 0o644);
    const ran = await run('actions', 'list');
    expect([ran.code, ran.error()]).toMatchObject([1, { code: 'keychain_unavailable' }]);
    expect(ran.error()).toMatchObject({ hint: expect.stringContaining(`chmod 600 ${place.credentialFile}`) });
    expect(await statusOf('credential-file')).toBe('failed');
  });

  it('that is a symbolic link is neither used nor overwritten by a login', async () => {
    const { host, place, run, statusOf } = await seeded();
    const victim = join(dirname(host.folders.state), 'victim');
    writeFileSync(victim, readFileSync(place.credentialFile), { mode: 0o600 });
    const before = readFileSync(victim, 'utf8');
    unlinkSync(place.credentialFile);
    symlinkSync(victim, place.credentialFile);
    expect((await run('actions', 'list')).code).toBe(1);
    const login = await run('auth', 'login', '--no-browser', '--force');
    expect([login.code, login.error()]).toMatchObject([1, { code: 'keychain_unavailable' }]);
    expect(await statusOf('credential-file')).toBe('failed');
    expect([readFileSync(victim, 'utf8'), lstatSync(place.credentialFile).isSymbolicLink()]).toEqual([before, true]);
  });

  it('in a folder that others can write to is refused, and doctor says so', async () => {
    const { place, run, statusOf } = await seeded();
    for (const folder of [place.folder, dirname(place.folder)]) {
      chmodSync(folder, 0o777);
      const ran = await run('actions', 'list');
      expect([ran.code, ran.error()]).toMatchObject([2, { code: 'config_invalid' }]);
      expect(await statusOf('state-folder')).toBe('failed');
      chmodSync(folder, 0o700);
    }
    expect((await run('actions', 'list')).code).toBe(0);
  });

  it('is not used with a config folder that others can write to', async () => {
    const { host, run } = await seeded();
    mkdirSync(host.folders.config, { recursive: true });
    chmodSync(host.folders.config, 0o777);
    expect((await run('actions', 'list')).code).toBe(2);
  });
});
