import { redactSecrets } from '../../src/base/redact.ts';
import { sanitizeLine } from '../../src/base/sanitize.ts';
import { writeToken } from './grants.ts';
import type { Report, Result, Status } from './report.ts';
import { DifferenceError, NotTestableError } from './response.ts';
import { requireAdmin } from './sandbox.ts';
import type { Server } from './server.ts';
import type { Need, Observations, Probe, Statement } from './statement.ts';

/** A question that the rules leave open, with the behaviour of the sandbox (docs/open-choices.md). */
export interface Choice {
  readonly id: string;
  readonly rule: string;
  readonly question: string;
  /** What the sandbox does in each case that a request shows; otherwise `unobserved` says why no request shows it. */
  readonly observed?: Observations;
  readonly unobserved?: string;
}

export interface RunOptions {
  readonly server: Server;
  readonly statements: readonly Statement[];
  readonly probes: readonly Probe[];
  readonly choices: readonly Choice[];
  readonly onProgress?: (done: number, total: number) => void;
}

/** Tests every statement, one after the other, and restores the state of the sandbox at the end. */
export async function runStatements(options: RunOptions): Promise<Report> {
  const { server, statements, probes, choices, onProgress } = options;
  const startedAt = Date.now();
  const results: Result[] = [];
  const total = statements.length + choices.length;
  const add = (result: Result): void => {
    results.push(result);
    onProgress?.(results.length, total);
  };
  await keepSandboxState(server, async () => {
    // Tokens for several tests are obtained first, before a test advances the virtual clock.
    if (server.admin !== undefined && server.allowWrites) await writeToken(server).catch(() => undefined);
    for (const statement of statements.toSorted((one, other) => turnOf(one) - turnOf(other)))
      add(await playStatement(server, statement));
    for (const choice of choices)
      add(
        await observeChoice(
          server,
          choice,
          probes.find(({ id }) => id === choice.id),
        ),
      );
  });
  const order = [...statements.map(({ number }) => number), ...choices.map(({ id }) => id)];
  results.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
  const counts: Record<Status, number> = { holds: 0, differs: 0, open_choice: 0, not_testable: 0 };
  for (const { status } of results) counts[status] += 1;
  return {
    auth_url: server.authUrl,
    base_url: server.baseUrl,
    ok: counts.differs === 0,
    writes: server.allowWrites,
    counts,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: Date.now() - startedAt,
    results: results.map((result) => withoutSecrets(server, result)),
    left: server.left,
  };
}

function turnOf(statement: Statement): number {
  return 'turn' in statement ? (statement.turn ?? 0) : 0;
}

async function playStatement(server: Server, statement: Statement): Promise<Result> {
  const { number: id, rule, text } = statement;
  if ('untestable' in statement) return { id, rule, text, status: 'not_testable', reason: statement.untestable };
  return settle(server, { id, rule, text }, { needs: statement.needs, isChoice: false }, async () => {
    await statement.play(server);
    return { status: 'holds' };
  });
}

async function observeChoice(
  server: Server,
  { id, rule, question: text, observed: expected = {}, unobserved = 'no request shows the behaviour' }: Choice,
  probe: Probe | undefined,
): Promise<Result> {
  const row = { id, rule, text };
  if (probe === undefined) return { ...row, status: 'not_testable', reason: unobserved };
  return settle(server, row, { needs: probe.needs, isChoice: true }, async () => {
    const observed = await probe.observe(server);
    const unlike = Object.keys(expected).filter((name) => observed[name] !== expected[name]);
    const found = { observed, unlike_sandbox: unlike };
    // The sandbox must behave as docs/open-choices.md says. For any other server, every behaviour is allowed.
    if (server.admin === undefined || unlike.length === 0) return { status: 'open_choice', ...found };
    const list = (values: Observations): string => unlike.map((name) => `${name}: ${values[name]}`).join('; ');
    return { status: 'differs', ...found, expected: list(expected), sent: 'see the cases', received: list(observed) };
  });
}

async function settle(
  server: Server,
  row: Pick<Result, 'id' | 'rule' | 'text'>,
  { needs, isChoice }: { readonly needs: readonly Need[]; readonly isChoice: boolean },
  play: () => Promise<Omit<Result, 'id' | 'rule' | 'text'>>,
): Promise<Result> {
  const missing = unmetNeed(server, needs);
  if (missing !== undefined) return { ...row, status: 'not_testable', reason: missing };
  try {
    /**
     * Several statements change the clock or the control panel, so the state of the sandbox is restored after each
     * statement.
     */
    const played = needs.includes('sandbox') ? keepSandboxState(server, play) : play();
    return { ...row, ...(await played) };
  } catch (error) {
    if (error instanceof NotTestableError) return { ...row, status: 'not_testable', reason: error.message };
    if (!(error instanceof DifferenceError)) throw error;
    const { expected, sent, received } = error;
    // Only the sandbox has a documented behaviour for an open choice, so another server cannot differ from it.
    if (isChoice && server.admin === undefined)
      return { ...row, status: 'not_testable', reason: `expected ${expected}, received ${received}` };
    const earlier = server.differences.get(error);
    if (earlier !== undefined)
      return { ...row, status: 'not_testable', reason: `depends on ${earlier}, which differs` };
    server.differences.set(error, row.id);
    return { ...row, status: 'differs', expected, sent, received };
  }
}

/** The first unmet condition of a statement, such as `needs --cluster`; undefined when the statement can be tested. */
export function unmetNeed(server: Server, needs: readonly Need[]): string | undefined {
  const { client, noClient, allowWrites, admin, visit, accessToken, refreshToken, cluster, people } = server;
  const canAuthorize = client?.secret !== undefined && (admin !== undefined || visit !== undefined);
  const changes = needs.some((need) => ['writes', 'consent', 'grant', 'sandbox'].includes(need));
  const unmet: Readonly<Record<Need, string | undefined>> = {
    client: client === undefined ? (noClient ?? 'needs --client-id and --callback-url') : undefined,
    secret: client?.secret === undefined ? 'needs CLOUDCTL_CLIENT_SECRET' : undefined,
    writes: allowWrites ? undefined : 'needs --allow-writes',
    consent: admin === undefined && visit === undefined ? 'needs --browser and a person who authorizes' : undefined,
    grant: canAuthorize || refreshToken !== undefined ? undefined : 'needs --browser, or CLOUDCTL_REFRESH_TOKEN',
    token: accessToken !== undefined || (allowWrites && canAuthorize) ? undefined : 'needs CLOUDCTL_ACCESS_TOKEN',
    cluster: cluster !== undefined || people !== undefined ? undefined : 'needs --cluster',
    sandbox: admin === undefined ? 'needs the admin API of the sandbox: a clock and a control panel' : undefined,
  };
  if (changes && !allowWrites) return unmet.writes;
  return needs.map((need) => unmet[need]).find((reason) => reason !== undefined);
}

/** Restores the state of a sandbox, its consent script and its clock after `play`. */
async function keepSandboxState<T>(server: Server, play: () => Promise<T>): Promise<T> {
  if (server.admin === undefined || !server.allowWrites) return play();
  const admin = requireAdmin(server);
  const snapshot = await admin.call('GET', '/snapshot');
  try {
    return await play();
  } finally {
    if (typeof snapshot === 'object' && snapshot !== null) await admin.call('POST', '/restore', snapshot);
  }
}

/** Redacts every known secret in the texts of a result, and removes characters that control a terminal. */
function withoutSecrets(server: Server, result: Result): Result {
  const secrets = [...server.secrets];
  const clean = (text: string): string => sanitizeLine(redactSecrets(text, secrets), 1000);
  const { reason, expected, sent, received, observed } = result;
  return {
    ...result,
    ...(reason === undefined ? {} : { reason: clean(reason) }),
    ...(expected === undefined ? {} : { expected: clean(expected) }),
    ...(sent === undefined ? {} : { sent: clean(sent) }),
    ...(received === undefined ? {} : { received: clean(received) }),
    ...(observed === undefined
      ? {}
      : { observed: Object.fromEntries(Object.entries(observed).map(([name, value]) => [name, clean(value)])) }),
  };
}
