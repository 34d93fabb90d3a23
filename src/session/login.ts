import { CliError } from '../errors.ts';
import { type LoopbackServer, startLoopbackServer } from '../loopback/loopback-server.ts';
import type { LoginOutcome } from '../loopback/outcome-page.ts';
import { evaluatePaste } from '../loopback/pasted-response.ts';
import { type AuthorizationResult, validateAuthorizationResponse } from '../oauth/authorization-response.ts';
import { authorizationUrl, createOAuthState } from '../oauth/authorization-url.ts';
import { createPkce } from '../oauth/pkce.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { Clock, SignalName, Signals } from '../platform/host.ts';
import { type CompleteLoginDeps, completeLogin, type LoginCompletion, type LoginResult } from './complete-login.ts';
import { requireAvailable } from './credential-store.ts';
import type { LoginRequest } from './login-request.ts';
import { waitForLogin } from './wait-for-login.ts';

export interface LoginDeps extends Omit<CompleteLoginDeps, 'pkce' | 'request' | 'abandon'> {
  readonly callbackUrls: readonly string[];
  readonly issuer: string | undefined;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly signals: Signals;
  /** Held for the whole login; undefined when another login of this profile is running. */
  readonly tryLoginLock: () => HeldLock | undefined;
  readonly requireSafe: () => void;
  /** Says where to go and opens the browser if it may; called once the listener stands. */
  readonly showInstructions: (invitation: LoginAddresses) => Promise<void>;
  /** Lines a person pastes; ends with the signal. */
  readonly pastedLines: (signal: AbortSignal) => AsyncIterable<string>;
  /** Tells the person how it ended, before the tab was told as well. */
  readonly report: (result: LoginResult) => Promise<void>;
  readonly reportRejectedPaste: (kind: 'incomplete' | 'unreadable') => Promise<void>;
}

export interface LoginAddresses {
  readonly authorizationUrl: string;
  /** One-time address for the opener, whose arguments others can see; absent without a listener. */
  readonly startUrl: string | undefined;
  readonly callbackUrl: string;
}

/** Logs in by the browser (docs/login.md): one login, one state, one exchange, one stored session. */
export async function performLogin(deps: LoginDeps, request: LoginRequest): Promise<LoginResult> {
  deps.requireSafe();
  const lock = deps.tryLoginLock();
  if (lock === undefined) {
    throw new CliError('busy', `another login of profile "${deps.profile}" is running`, {
      hint: 'finish or interrupt that one first',
    });
  }
  try {
    // A keychain that is locked or missing must be known before a person goes through the browser.
    requireAvailable(await deps.store.withItems((items) => items.read('credential')), deps.profile);
    return await performLockedLogin(deps, request);
  } finally {
    lock.release();
  }
}

async function performLockedLogin(deps: LoginDeps, request: LoginRequest): Promise<LoginResult> {
  const state = createOAuthState(deps.random);
  const pkce = request.pkce && request.flow === 'code' ? createPkce(deps.random) : undefined;
  const abandon = new AbortController();
  const settle: CompleteLoginDeps = { ...deps, pkce, request, abandon: abandon.signal };
  const settlement = deferred<LoginCompletion>();
  const judge = (
    parameters: ReadonlyMap<string, string>,
    place: 'query' | 'fragment',
  ): AuthorizationResult | undefined =>
    validateAuthorizationResponse(parameters, place, { state, flow: request.flow, issuer: deps.issuer });
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
    async (judgement: AuthorizationResult): Promise<LoginOutcome> => {
      const settled = completeLogin(settle, judgement, redirectUri());
      settlement.resolve(settled);
      return settled.then((done) => done.page, failureOutcome);
    };
  let receiver: ResponseReceiver;
  if (request.listen) {
    const loopback: LoopbackServer<AuthorizationResult> = await startLoopbackServer<AuthorizationResult>({
      callbackUrls: deps.callbackUrls,
      flow: request.flow,
      authorizationOrigin: deps.client.authOrigin,
      validate: judge,
      authorizationUrl: target,
      finish: (judgement) => finish(() => loopback.callbackUrl)(judgement),
      random: deps.random,
      clock: deps.clock,
    });
    receiver = loopback;
  } else {
    receiver = createPasteReceiver(deps.callbackUrls, target, finish);
  }
  const pasting = new AbortController();
  let taken = false;
  void receiver.taken.then(() => {
    taken = true;
  });
  try {
    const invited = deferred<void>();
    const finished = invited.promise.then(() => {
      const pasted = readPastedResponses(deps, receiver, judge, pasting.signal);
      pasted.catch(() => undefined);
      // Without a listener nothing else can come; with one, a terminal that cannot be read stops nobody.
      return request.listen ? settlement.promise : Promise.race([settlement.promise, pasted.then(failUnlessTaken)]);
    });
    const race = waitForLogin(
      { clock: deps.clock, signals: deps.signals, limit: request.limit, timeoutError: () => loginTimeoutError(deps) },
      receiver.taken,
      finished,
    );
    // Only now: whoever can see the address may send a signal, and it must be heard.
    invited.resolve(deps.showInstructions(receiver));
    const { value: settled, signal } = await race;
    pasting.abort();
    const result = await runInterruptibly(deps.signals, signal, settled.conclude);
    await deps.report(result);
    if (signal !== undefined) throw interruptedError(signal);
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
type ResponseReceiver = Pick<
  LoopbackServer<AuthorizationResult>,
  'callbackUrl' | 'authorizationUrl' | 'taken' | 'take' | 'closed' | 'close'
> & { readonly startUrl: string | undefined };

function createPasteReceiver(
  callbackUrls: readonly string[],
  target: (redirectUri: string) => string,
  finish: (redirectUri: () => string) => (judgement: AuthorizationResult) => Promise<LoginOutcome>,
): ResponseReceiver {
  const callbackUrl = callbackUrls[0];
  if (callbackUrl === undefined)
    throw new CliError('usage', 'callback_urls is missing', { hint: '`cloudctl auth setup`' });
  const taken = deferred<AuthorizationResult>();
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
async function readPastedResponses(
  deps: LoginDeps,
  receiver: ResponseReceiver,
  judge: (parameters: ReadonlyMap<string, string>, place: 'query' | 'fragment') => AuthorizationResult | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const line of deps.pastedLines(signal)) {
    if (line.trim() === '') continue;
    const pasted = evaluatePaste(line, judge);
    if (pasted.kind === 'accepted') {
      return receiver.take(pasted.accepted);
    }
    await deps.reportRejectedPaste(pasted.kind);
  }
  return false;
}

function failUnlessTaken(taken: boolean): Promise<never> {
  if (taken) return new Promise<never>(() => {});
  throw new CliError('usage', 'no address was pasted: the input has ended', {
    hint: 'run the command again and paste the whole address of the page you end on',
  });
}

/** A signal ends a question that is being asked; what hangs on the answer is undone before the program ends. */
async function runInterruptibly<T>(
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
    throw caught === undefined ? error : interruptedError(caught);
  } finally {
    stop();
  }
}

function failureOutcome(error: unknown): LoginOutcome {
  if (!(error instanceof CliError)) return { kind: 'failed', reason: 'The program failed; the terminal says how' };
  if (error.code === 'access_denied') return { kind: 'access_denied' };
  if (error.code === 'state_mismatch') return { kind: 'state_mismatch' };
  return { kind: 'failed', reason: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}` };
}

function loginTimeoutError(deps: LoginDeps): CliError {
  return new CliError('login_timeout', 'no answer came from the browser in time', {
    detail:
      'if the page complained of the redirect uri or the scope, compare client_id, callback_urls and scope with the registered application',
    hint: `start again with ${deps.loginCommands.sameRequest}, or allow more time with --login-timeout 15m`,
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
