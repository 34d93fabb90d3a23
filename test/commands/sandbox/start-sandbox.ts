import { onTestFinished } from 'vitest';
import type { TestHost } from '../../fixtures/host.ts';
import { type StartedRun, startCloudctl } from '../run-cloudctl.ts';

export type StartedSandboxReady = Readonly<Record<string, string>> & {
  readonly users: readonly { readonly email: string; readonly password: string }[];
};

/** A sandbox that ends with the test. */
export async function startSandboxCommand(
  host: TestHost,
  words: readonly string[] = [],
): Promise<StartedRun & { ready: StartedSandboxReady }> {
  const sandbox = startCloudctl(host, ['sandbox', 'start', '-o', 'json', ...words]);
  onTestFinished(async () => {
    sandbox.host.signal('SIGTERM');
    await sandbox.ended.catch(() => undefined);
  });
  const [line] = await sandbox.waitForOutput(/^\{.*\}$/m);
  return { ...sandbox, ready: JSON.parse(line) };
}
