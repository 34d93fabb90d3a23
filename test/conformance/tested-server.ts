import { Secret } from '../../src/base/secret.ts';
import { CHOICES } from '../../src/sandbox/choices.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import type { Report } from './report.ts';
import { type Choice, runStatements } from './run.ts';
import { connectAdmin, readPeople } from './sandbox.ts';
import { sendOverHttp } from './send.ts';
import { type Server, type ServerOptions, testedServer } from './server.ts';
import { allProbes, allStatements } from './statements.ts';

/** The sandbox as a server under test, with every permission; `changes` replaces options. */
export async function testedSandbox({ ready }: SandboxServers, changes: Partial<ServerOptions> = {}): Promise<Server> {
  const admin = connectAdmin(ready.admin_url, new Secret(ready.admin_token, '[admin token]'));
  return testedServer({
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
    people: await readPeople(admin),
    send: sendOverHttp,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ...changes,
  });
}

/** The counts of a report about the sandbox: a row that can be tested holds, and a choice that a request shows is observed. */
export function countSandboxResults(): Report['counts'] {
  const untestable = allStatements.filter((one) => 'untestable' in one).length;
  const unobserved = CHOICES.filter((one) => 'unobserved' in one).length;
  return {
    holds: allStatements.length - untestable,
    differs: 0,
    open_choice: CHOICES.length - unobserved,
    not_testable: untestable + unobserved,
  };
}

/** Plays every statement, or those with these numbers and ids. */
export function playStatements(server: Server, only?: readonly string[]): Promise<Report> {
  const isWanted = (id: string): boolean => only === undefined || only.includes(id);
  const choices: readonly Choice[] = CHOICES;
  return runStatements({
    server,
    statements: allStatements.filter(({ number }) => isWanted(number)),
    probes: allProbes,
    choices: choices.filter(({ id }) => isWanted(id)),
  });
}
