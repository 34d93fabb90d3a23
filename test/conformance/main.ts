import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { escapeUnprintable } from '../../src/base/sanitize.ts';
import { Secret } from '../../src/base/secret.ts';
import { CHOICES } from '../../src/sandbox/choices.ts';
import { startServers } from '../../src/sandbox/sandbox.ts';
import { findUnknownClient } from './grants.ts';
import { describeResult, type Report, renderJunit } from './report.ts';
import { runStatements } from './run.ts';
import { connectAdmin, readPeople } from './sandbox.ts';
import { sendOverHttp } from './send.ts';
import { type Client, type Server, testedServer } from './server.ts';
import { allProbes, allStatements } from './statements.ts';
import { visitInBrowser } from './visit.ts';

const usage = `usage: npm run conformance                            tests the sandbox
       npm run conformance -- --auth-url URL --base-url URL [--client-id ID --callback-url URL] [OPTIONS]
  --allow-writes        also create and delete droplets, start and stop migrations, request and revoke tokens
  --browser             print URLs at which a person authorizes; needs --allow-writes
  --visit-limit N       time limit of one visit in the browser, in seconds (default: 300)
  --cluster UUID        cluster for the tests of migrations, whose source does not exist
  --token-params WHERE  where the token endpoint reads its parameters: query, body or basic (default: query)
  --pkce                send a PKCE challenge
  --admin-url URL       the server is a sandbox with this admin API; needs CLOUDCTL_SANDBOX_ADMIN_TOKEN
  --report FILE         write the report; the name ends in .json or .xml (JUnit); may be repeated
Secrets are read from CLOUDCTL_CLIENT_SECRET, CLOUDCTL_ACCESS_TOKEN (never used up) and CLOUDCTL_REFRESH_TOKEN (used up).
Exit codes: 0 nothing differs, 2 usage, 3 a statement differs, 6 the server was not reached.`;

class UsageError extends Error {}
class UnreachableError extends Error {}

export interface Run {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Prints what is no result: URLs for a person, errors. */
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Tests a server by the statements, prints the report and resolves with the exit code. */
export async function main(run: Run): Promise<number> {
  try {
    const { values, reports } = readOptions(run.words);
    const report = values['auth-url'] === undefined ? await testSandbox(run) : await testOther(run, values);
    for (const file of reports) writeFileSync(file, renderReport(file, report));
    return show(run, report);
  } catch (error) {
    if (error instanceof UsageError) run.note(`${error.message}\n${usage}`);
    else if (error instanceof UnreachableError) run.note(error.message);
    else throw error;
    return error instanceof UsageError ? 2 : 6;
  }
}

type Options = ReturnType<typeof parse>;

function parse(words: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const { values } = parseArgs({
      args: [...words],
      options: {
        ...{ 'auth-url': text, 'base-url': text, 'client-id': text, 'callback-url': text, 'admin-url': text },
        ...{ 'visit-limit': text, 'token-params': text, cluster: text },
        ...{ 'allow-writes': flag, browser: flag, pkce: flag },
        report: { type: 'string', multiple: true },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readOptions(words: readonly string[]): { readonly values: Options; readonly reports: readonly string[] } {
  const values = parse(words);
  const { report: reports = [], ...others } = values;
  for (const file of reports) requireReportFile(file);
  const hasServer = values['auth-url'] !== undefined && values['base-url'] !== undefined;
  if (!hasServer && Object.keys(others).length > 0) throw new UsageError('--auth-url and --base-url are needed');
  for (const name of ['auth-url', 'base-url', 'callback-url', 'admin-url'] as const)
    if (values[name] !== undefined && !URL.canParse(values[name])) throw new UsageError(`--${name} is not a URL`);
  return { values, reports };
}

function requireReportFile(file: string): void {
  if (!/\.(json|xml)$/i.test(file)) throw new UsageError(`the report format of ${file} is unknown`);
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch {
    throw new UsageError(`cannot write to the folder of ${file}`);
  }
}

async function testSandbox({ signal }: Run): Promise<Report> {
  const sandbox = await startServers();
  try {
    const { ready } = sandbox;
    const admin = connectAdmin(ready.admin_url, new Secret(ready.admin_token, '[admin token]'));
    const people = await readPeople(admin);
    const [client] = people.applications;
    const urls = { authUrl: ready.auth_url, baseUrl: ready.base_url };
    return await play(testedServer({ ...defaults, ...urls, client, allowWrites: true, admin, people, signal }));
  } finally {
    await sandbox.close();
  }
}

const defaults = {
  accessToken: undefined,
  refreshToken: undefined,
  tokenParams: 'query',
  pkce: false,
  cluster: undefined,
  visit: undefined,
  send: sendOverHttp,
  timeoutMs: 30_000,
} as const;

async function testOther(run: Run, values: Options): Promise<Report> {
  const server = await otherServer(run, values);
  await requireResponses(server);
  const noClient = server.admin === undefined ? await findUnknownClient(server) : undefined;
  if (noClient === undefined) return play(server);
  return play(testedServer({ ...server, client: undefined, visit: undefined, noClient }));
}

async function otherServer({ env, note, signal }: Run, values: Options): Promise<Server> {
  const { 'admin-url': adminUrl, 'token-params': tokenParams = 'query', 'allow-writes': allowWrites = false } = values;
  if (tokenParams !== 'query' && tokenParams !== 'body' && tokenParams !== 'basic')
    throw new UsageError('--token-params is not query, body or basic');
  const secret = (name: string, shown: string): Secret | undefined =>
    env[name] === undefined || env[name] === '' ? undefined : new Secret(env[name], shown);
  const adminToken = secret('CLOUDCTL_SANDBOX_ADMIN_TOKEN', '[admin token]');
  if (adminUrl !== undefined && adminToken === undefined)
    throw new UsageError('--admin-url needs CLOUDCTL_SANDBOX_ADMIN_TOKEN');
  const admin =
    adminUrl === undefined || adminToken === undefined ? undefined : connectAdmin(origin(adminUrl), adminToken);
  const client = readClient(values, secret('CLOUDCTL_CLIENT_SECRET', '[client secret]'));
  const people = admin === undefined ? undefined : await readPeople(admin);
  return testedServer({
    ...defaults,
    authUrl: origin(values['auth-url'] ?? ''),
    baseUrl: origin(values['base-url'] ?? ''),
    client: client ?? people?.applications[0],
    accessToken: secret('CLOUDCTL_ACCESS_TOKEN', '[access token]'),
    refreshToken: secret('CLOUDCTL_REFRESH_TOKEN', '[refresh token]'),
    tokenParams,
    pkce: values.pkce ?? false,
    cluster: readCluster(values.cluster),
    allowWrites,
    visit: values.browser === true ? visitOf(values, client, { note, signal }) : undefined,
    admin,
    people,
    signal,
  });
}

function origin(url: string): string {
  return new URL(url).origin;
}

function readClient(values: Options, secret: Secret | undefined): Client | undefined {
  const { 'client-id': id, 'callback-url': callbackUrl } = values;
  if ((id === undefined) !== (callbackUrl === undefined))
    throw new UsageError('--client-id and --callback-url are given together');
  if (/:0+(?=[/?]|$)/.test(callbackUrl ?? '')) throw new UsageError('--callback-url has no fixed port');
  return id === undefined || callbackUrl === undefined ? undefined : { id, callbackUrl, secret };
}

function readCluster(text: string | undefined): string | undefined {
  if (text === undefined || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new UsageError('--cluster is not a UUID');
}

function visitOf(values: Options, client: Client | undefined, { note, signal }: Pick<Run, 'note' | 'signal'>) {
  if (values['allow-writes'] !== true) throw new UsageError('--browser needs --allow-writes');
  if (client === undefined) throw new UsageError('--browser needs --client-id and --callback-url');
  const limit = Number(values['visit-limit'] ?? '300');
  if (!(limit > 0)) throw new UsageError('--visit-limit is not a number of seconds');
  return visitInBrowser({
    callbackUrl: client.callbackUrl,
    limitMs: limit * 1000,
    signal,
    show: (url, request) =>
      note(`Open this URL and ${request === 'deny' ? 'deny the request' : 'authorize the application'}:\n${url}`),
  });
}

async function requireResponses(server: Server): Promise<void> {
  const requests = [
    { method: 'GET', path: '/v1/oauth/authorize' },
    { origin: 'api', method: 'GET', path: '/v2/actions' },
  ] as const;
  for (const request of requests) {
    const { status, received } = await server.request(request);
    if (status === 0) throw new UnreachableError(received);
  }
}

function play(server: Server): Promise<Report> {
  return runStatements({ server, statements: allStatements, probes: allProbes, choices: CHOICES });
}

function renderReport(file: string, report: Report): string {
  if (file.toLowerCase().endsWith('.xml')) return renderJunit(report);
  return `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`;
}

function show({ print, note }: Run, { results, counts, left, ok }: Report): number {
  for (const result of results) {
    const detail = describeResult(result);
    const { id, rule, status, text } = result;
    print(`${id.padEnd(26)} ${rule.padEnd(5)} ${status.padEnd(12)} ${text}${detail === '' ? '' : ` (${detail})`}`);
  }
  if (left.length > 0) note(`could not remove: ${left.join(', ')}`);
  print(
    `${counts.holds} statements hold, ${counts.differs} differ, ${counts.open_choice} are open choices, ${counts.not_testable} were not tested.`,
  );
  return ok ? 0 : 3;
}
