import { runCliCommandLine } from '../../src/main.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { type TestHost, type TestHostOptions, testHost } from '../fixtures/host.ts';
import { expectSchemas } from '../fixtures/output-schemas.ts';
import { profileOf } from '../fixtures/session.ts';
import { admin, MAYA, send } from '../sandbox/requests.ts';

export interface RunResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly host: TestHost;
  /** Standard output as JSON; the test's own assertions check the shape. */
  json<T>(): T;
  /** The error on standard error as JSON. */
  error(): {
    readonly code: string;
    readonly exit_code: number;
    readonly message: string;
    readonly detail?: string;
    readonly hint?: string;
  };
}

/** One run of the program on the machine of `base`: the same folders, keychain, clock and environment. */
export async function runCloudctl(
  base: TestHost,
  argv: readonly string[],
  options: TestHostOptions = {},
): Promise<RunResult> {
  const host = testHost({ beside: base, ...options });
  return runResult(host, argv, await runCliCommandLine(argv, host));
}

export interface StartedRun {
  readonly host: TestHost;
  readonly ended: Promise<RunResult>;
  /** The first match on standard error. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The same without waiting for its end. */
export function startCloudctl(base: TestHost, argv: readonly string[], options: TestHostOptions = {}): StartedRun {
  const host = testHost({ beside: base, ...options });
  let over = false;
  const ended = runCliCommandLine(argv, host).then((code) => {
    over = true;
    return runResult(host, argv, code);
  });
  return {
    host,
    ended,
    waitForOutput: async (pattern) => {
      for (;;) {
        const found = pattern.exec(host.err()) ?? pattern.exec(host.out());
        if (found !== null) return found;
        if (over) throw new Error(`it ended before it said ${pattern}:\n${host.err()}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** The authorization URL, alone on its line. */
export const authorizationLine = /^(https?:\/\/\S+\/v1\/oauth\/authorize\?\S+)$/m;

const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** The cookie of each origin, as a browser has it: the sandbox needs it to know who is signed in. */
const cookies = new Map<string, string>();

/** Goes where a browser would go; fetch would say that it is no navigation. */
export async function followRedirects(url: string): Promise<void> {
  for (let at: string | undefined = url; at !== undefined; ) {
    const { origin, pathname, search } = new URL(at);
    const cookie = cookies.get(origin);
    const headers = { ...navigation, ...(cookie === undefined ? {} : { cookie }) };
    const answer = await send(origin, `${pathname}${search}`, { headers });
    const [set] = answer.headers['set-cookie']?.split(';') ?? [];
    if (set !== undefined) cookies.set(origin, set);
    at = answer.headers.location === undefined ? undefined : new URL(answer.headers.location, at).href;
  }
}

/** `auth login` with a browser that only follows redirects; `visit` gets the authorization URL. */
export async function runLogin(
  base: TestHost,
  argv: readonly string[] = [],
  options: TestHostOptions & { readonly visit?: (url: string) => Promise<unknown> } = {},
): Promise<RunResult> {
  const started = startCloudctl(base, ['auth', 'login', ...argv], options);
  const [, url = ''] = await started.waitForOutput(authorizationLine);
  await (options.visit ?? followRedirects)(url);
  return started.ended;
}

/** A machine whose profile `default` points to the sandbox, with nobody logged in; consent is given by itself. */
export async function createSandboxHost(sandbox: SandboxServers, options: TestHostOptions = {}): Promise<TestHost> {
  const host = testHost(options);
  host.writeConfig({ current: 'default', profiles: { default: profileOf(sandbox) } });
  await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
  return host;
}

/** The environment alone, without a profile, as CI gives it. */
export function sandboxEnvironment({ ready }: SandboxServers): Readonly<Record<string, string>> {
  return {
    CLOUDCTL_AUTH_URL: ready.auth_url,
    CLOUDCTL_BASE_URL: ready.base_url,
    CLOUDCTL_CLIENT_ID: ready.client_id,
    CLOUDCTL_CLIENT_SECRET: ready.client_secret,
    CLOUDCTL_CALLBACK_URL: ready.callback_url,
    CLOUDCTL_CREDENTIAL_STORE: 'file',
  };
}

/** What a sandbox was asked for. */
export async function recordedRequests(sandbox: SandboxServers): Promise<readonly string[]> {
  const answer = await admin(sandbox, 'GET', '/_sandbox/requests');
  const { requests }: { requests: { method: string; path: string }[] } = JSON.parse(answer.body);
  return requests.map(({ method, path }) => `${method} ${path}`).filter((line) => !line.includes('/_sandbox'));
}

function runResult(host: TestHost, argv: readonly string[], code: number): RunResult {
  expectSchemas(argv, host.out(), host.err());
  return {
    code,
    host,
    out: host.out(),
    err: host.err(),
    json: host.json,
    error: () => JSON.parse(host.err().trim().split('\n').at(-1) ?? '').error,
  };
}

/**
 * What a run printed to standard error, for golden files: without folders, ports, dates and account ids of the run.
 * With `pattern` only the lines that match.
 */
export function stableText({ err, host }: RunResult, pattern = /^/): string {
  return err
    .split('\n')
    .filter((line) => pattern.test(line))
    .join('\n')
    .replaceAll(host.place.home, '/HOME')
    .replaceAll(host.folders.config, '/CONFIG')
    .replaceAll(host.folders.state, '/STATE')
    .replace(/^https?:\S+\/v1\/oauth\/authorize\?\S+$/gm, 'AUTHORIZATION_URL')
    .replace(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
    .replace(/\bport(-| )\d{4,5}\b/g, 'port$1PORT')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
    .replace(/\bfor \d+ d \(\d+ [A-Z][a-z]{2}( \d{4})?\)/g, 'for N d (DAY)')
    .replace(/\bfor (?:\d+ (?:d|h|min|s) )+\(until \d\d:\d\d\)/g, 'for TIME (until TIME)')
    .replace(/\b(default|work)#[\w-]+/g, '$1#ID');
}
