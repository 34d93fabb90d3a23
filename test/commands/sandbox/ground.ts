import { onTestFinished } from 'vitest';
import type { TestHost } from '../../fixtures/host.ts';
import { type Started, start } from '../ground.ts';

export type Ready = Readonly<Record<string, string>> & { readonly users: readonly { readonly email: string }[] };

/** A sandbox that ends with the test. */
export async function started(host: TestHost, words: readonly string[] = []): Promise<Started & { ready: Ready }> {
  const sandbox = start(host, ['sandbox', 'start', '-o', 'json', ...words]);
  onTestFinished(async () => {
    sandbox.host.signal('SIGTERM');
    await sandbox.ended.catch(() => undefined);
  });
  const [line] = await sandbox.says(/^\{.*\}$/m);
  return { ...sandbox, ready: JSON.parse(line) };
}
