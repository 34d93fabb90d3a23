import { randomBytes } from 'node:crypto';
import { createSandboxAdminClient } from '../../src/api/sandbox-admin.ts';
import { Secret } from '../../src/base/secret.ts';
import type { ConformanceReport } from '../../src/conformance/conformance-report.ts';
import { runConformance, type SpecGapWithSandboxChoice } from '../../src/conformance/run-conformance.ts';
import { readSandboxTestResources } from '../../src/conformance/sandbox-people.ts';
import {
  createServerUnderTestClient,
  type ServerUnderTest,
  type ServerUnderTestOptions,
} from '../../src/conformance/server-under-test.ts';
import { conformanceStatements, specGapProbes } from '../../src/conformance/statements.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createUndiciSender } from '../../src/platform/undici-sender.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { SPEC_GAPS } from '../../src/sandbox/spec-gaps.ts';

/** The sandbox as a server under test, with every permission; `changes` replaces options. */
export async function testedSandbox(
  { ready }: SandboxServers,
  changes: Partial<ServerUnderTestOptions> = {},
): Promise<ServerUnderTest> {
  const send = await createUndiciSender({ env: {} });
  const admin = createSandboxAdminClient(send, ready.admin_url, ready.admin_token);
  return createServerUnderTestClient({
    authUrl: ready.auth_url,
    baseUrl: ready.base_url,
    client: {
      id: ready.client_id,
      secret: new Secret(ready.client_secret, '[client secret]'),
      callbackUrl: ready.callback_url,
    },
    accessToken: undefined,
    refreshToken: undefined,
    tokenParams: 'query',
    pkce: false,
    cluster: undefined,
    allowWrites: true,
    visit: undefined,
    admin,
    people: await readSandboxTestResources(admin),
    send,
    timeoutMs: 10_000,
    random: randomBytes,
    signal: new AbortController().signal,
    ...changes,
  });
}

/** Plays every statement, or those with these numbers and ids. */
export function playStatements(server: ServerUnderTest, only?: readonly string[]): Promise<ConformanceReport> {
  const isWanted = (id: string): boolean => only === undefined || only.includes(id);
  const choices: readonly SpecGapWithSandboxChoice[] = SPEC_GAPS;
  return runConformance({
    server,
    statements: conformanceStatements.filter(({ number }) => isWanted(number)),
    probes: specGapProbes,
    choices: choices.filter(({ id }) => isWanted(id)),
    clock: systemClock,
  });
}
