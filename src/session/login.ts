import { CliError } from '../errors.ts';
import type { PageOutcome } from '../loopback/pages.ts';
import { judgePaste } from '../loopback/paste.ts';
import { type Loopback, startLoopback } from '../loopback/server.ts';
import { authorizationUrl, createState } from '../oauth/authorization-request.ts';
import { type Judgement, judgeResponse } from '../oauth/authorization-response.ts';
import { createPkce } from '../oauth/pkce.ts';
import type { Clock, SignalName, Signals } from '../platform/host.ts';
import type { HeldLock } from '../platform/lock.ts';
import { interrupted } from './defer-signals.ts';
import { raceLogin } from './login-race.ts';
import type { LoginRequest } from './login-request.ts';
import { type LoginResult, type SettleDeps, type Settlement, settleLogin } from './login-settle.ts';
import { requireAvailable } from './store.ts';

export interface LoginDeps extends Omit<SettleDeps, 'pkce' | 'request' | 'abandon'> {
  readonly callbackUrls: readonly string[];
  readonly issuer: string | undefined;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly signals: Signals;
  /** Held for the whole login; undefined when another login of this profile is running. */
  readonly tryLoginLock: () => HeldLock | undefined;
  readonly requireSafe: () => void;
  /** Says where to go and opens the browser if it may; called once the listener stands. */
  readonly invite: (invitation: Invitation) => Promise<void>;
  /** Lines a person pastes; ends with the signal. */
  readonly pastes: (signal: AbortSignal) => AsyncIterable<string>;
  /** Tells the person how it ended, before the tab was told as well. */
  readonly report: (result: LoginResult) => Promise<void>;
  readonly notePaste: (kind: 'incomplete' | 'unreadable') => Promise<void>;
}

export interface Invitation {
  readonly authorizationUrl: string;
  /** One-time address for the opener, whose arguments others can see; absent without a listener. */
  readonly startUrl: string | undefined;
  readonly callbackUrl: string;
}

/** Logs in by the browser (docs/login.md): one login, one state, one exchange, one stored session. */
export async function login(deps: LoginDeps, request: LoginRequest): Promise<LoginResult> {
  deps.requireSafe();
  const lock = deps.tryLoginLock();
  if (lock === undefined) {
    throw new CliError('busy', `another login of profile "${deps.profile}" is running`, {
      hint: 'finish or interrupt that one first',
    });
  }
  try {
    // A keychain that is locked or missing must be known before a person goes through the browser.
    requireAvailable(await deps.store.visit((items) => items.read('credential')), deps.profile);
    return await loginUnlocked(deps, request);
  } finally {
    lock.release();
  }
}

async function loginUnlocked(deps: LoginDeps, request: LoginRequest): Promise<LoginResult> {
  const state = createState(deps.random);
  const pkce = request.pkce && request.flow === 'code' ? createPkce(deps.random) : undefined;
  const abandon = new AbortController();
  const settle: SettleDeps = { ...deps, pkce, request, abandon: abandon.signal };
  const settlement = deferred<Settlement>();
  const judge = (parameters: ReadonlyMap<string, string>, place: 'query' | 'fragment'): Judgement | undefined =>
    judgeResponse(parameters, place, { state, flow: request.flow, issuer: deps.issuer });
  const target = (redirectUri: string): string =>
    authorizationUrl({
      authOrigin: deps.client.authOrigin,
      clientId: deps.client.clientId,
      redirectUri,
      flow: request.flow,
      scope: request.scope,
      state,
      prompt: request.prompt,
      accountHint: request.accountHint,
      challenge: pkce?.challenge,
    });
  const finish =
    (redirectUri: () => string) =>
    async (judgement: Judgement): Promise<PageOutcome> => {
      const settled = settleLogin(settle, judgement, redirectUri());
      settlement.resolve(settled);
      return settled.then((done) => done.page, failurePage);
    };
  let receiver: Receiver;
  if (request.listen) {
    const loopback: Loopback<Judgement> = await startLoopback<Judgement>({
      callbackUrls: deps.callbackUrls,
      flow: request.flow,
      authorizationOrigin: deps.client.authOrigin,
      judge,
      startTarget: target,
      finish: (judgement) => finish(() => loopback.callbackUrl)(judgement),
      random: deps.random,
      clock: deps.clock,
    });
    receiver = loopback;
  } else {
    receiver = pasteOnly(deps.callbackUrls, target, finish);
  }
  const pasting = new AbortController();
  let taken = false;
  void receiver.taken.then(() => {
    taken = true;
  });
  try {
    const invited = deferred<void>();
    const finished = invited.promise.then(() => {
      const pasted = listenToPastes(deps, receiver, judge, pasting.signal);
      pasted.catch(() => undefined);
      // Without a listener nothing else can come; with one, a terminal that cannot be read stops nobody.
      return request.listen ? settlement.promise : Promise.race([settlement.promise, pasted.then(unlessTaken)]);
    });
    const race = raceLogin(
      { clock: deps.clock, signals: deps.signals, limit: request.limit, timeoutError: () => timeOver(deps) },
      receiver.taken,
      finished,
    );
    // Only now: whoever can see the address may send a signal, and it must be heard.
    invited.resolve(deps.invite(receiver));
    const { value: settled, signal } = await race;
    pasting.abort();
    const result = await heeding(deps.signals, signal, settled.conclude);
    await deps.report(result);
    if (signal !== undefined) throw interrupted(signal);
    // The tab is still to be told: the port stays until its page was fetched.
    await receiver.closed;
    return result;
  } catch (error) {
    // Only a tab that brought a response waits to be told; nobody waits at a login that was never taken.
    if (taken && !(error instanceof CliError && error.code === 'cancelled')) await receiver.closed;
    throw error;
  } finally {
    pasting.abort();
    // An exchange that is still under way would keep the process alive for as long as its own deadline allows.
    abandon.abort();
    await receiver.close();
  }
}

/** What a login needs of its receiver; the loopback helper is one, pasting alone another. */
type Receiver = Pick<
  Loopback<Judgement>,
  'callbackUrl' | 'authorizationUrl' | 'taken' | 'take' | 'closed' | 'close'
> & { readonly startUrl: string | undefined };

function pasteOnly(
  callbackUrls: readonly string[],
  target: (redirectUri: string) => string,
  finish: (redirectUri: () => string) => (judgement: Judgement) => Promise<PageOutcome>,
): Receiver {
  const callbackUrl = callbackUrls[0];
  if (callbackUrl === undefined)
    throw new CliError('usage', 'callback_urls is missing', { hint: '`cloudctl auth setup`' });
  const taken = deferred<Judgement>();
  let done = false;
  return {
    callbackUrl,
    authorizationUrl: target(callbackUrl),
    startUrl: undefined,
    taken: taken.promise,
    take: (judgement) => {
      if (done) return false;
      done = true;
      taken.resolve(judgement);
      void finish(() => callbackUrl)(judgement);
      return true;
    },
    closed: Promise.resolve(),
    close: async () => undefined,
  };
}

/** True when a pasted response was taken; false when the input ended. */
async function listenToPastes(
  deps: LoginDeps,
  receiver: Receiver,
  judge: (parameters: ReadonlyMap<string, string>, place: 'query' | 'fragment') => Judgement | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const line of deps.pastes(signal)) {
    if (line.trim() === '') continue;
    const pasted = judgePaste(line, judge);
    if (pasted.kind === 'accepted') {
      return receiver.take(pasted.accepted);
    }
    await deps.notePaste(pasted.kind);
  }
  return false;
}

function unlessTaken(taken: boolean): Promise<never> {
  if (taken) return new Promise<never>(() => {});
  throw new CliError('usage', 'no address was pasted: the input has ended', {
    hint: 'run the command again and paste the whole address of the page you end on',
  });
}

/** A signal ends a question that is being asked; what hangs on the answer is undone before the program ends. */
async function heeding<T>(
  signals: Signals,
  before: SignalName | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController();
  let caught = before;
  if (before !== undefined) leaving.abort();
  const stop = signals.listen((signal) => {
    caught ??= signal;
    leaving.abort();
  });
  try {
    return await work(leaving.signal);
  } catch (error) {
    throw caught === undefined ? error : interrupted(caught);
  } finally {
    stop();
  }
}

function failurePage(error: unknown): PageOutcome {
  if (!(error instanceof CliError)) return { kind: 'failed', reason: 'The program failed; the terminal says how' };
  if (error.code === 'access_denied') return { kind: 'access_denied' };
  if (error.code === 'state_mismatch') return { kind: 'state_mismatch' };
  return { kind: 'failed', reason: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}` };
}

function timeOver(deps: LoginDeps): CliError {
  return new CliError('login_timeout', 'no answer came from the browser in time', {
    detail:
      'if the page complained of the redirect uri or the scope, compare client_id, callback_urls and scope with the registered application',
    hint: `start again with ${deps.login.same}, or allow more time with --login-timeout 15m`,
  });
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T | Promise<T>) => void } {
  let resolve: (value: T | Promise<T>) => void = () => {};
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  // Awaited in a race; a failure that comes after the race was decided is not a failure of the program.
  promise.catch(() => undefined);
  return { promise, resolve };
}
