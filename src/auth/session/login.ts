import type { AccountDetails } from '../../api/account-details.ts';
import { CliError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { forgetNames } from '../../config/known-names.ts';
import { commandFor, type ProfileReference } from '../../config/settings.ts';
import { type HeldLock, tryAcquire } from '../../platform/locks.ts';
import { createDeferred } from '../../platform/waiting.ts';
import type { LoginOutcome } from '../loopback/index.ts';
import {
  type AuthorizationResult,
  accountAndTeam,
  assumedLifetime,
  needsInteraction,
  type OAuthClient,
  scopeWords,
  type TokenGrant,
} from '../oauth/index.ts';
import { accountFromGrant, readAccount, type StoredAccount, storeAccount } from './account.ts';
import {
  type Attempt,
  createAttempt,
  type LoginDialog,
  type LoginRequest,
  type LoginResult,
  openReceiver,
  type Receiver,
  receiveResponse,
  requireReachable,
} from './authorize.ts';
import { confirmScope, exchangeCode, requireAccount, requireGrant } from './grant.ts';
import { followsSpec, loginRetries, type RetryCommands } from './hints.ts';
import { type Interruption, listenForSignals } from './interrupt.ts';
import { revokeAndThrow, revokeReplaced } from './logout.ts';
import { belongsTo, decodeRecord, type SessionRecord, unknownExpiry } from './record.ts';
import type { SessionRun } from './run.ts';
import { type OpenStore, removeLeftovers, requireAvailable, unavailableError } from './store.ts';
import { readNewest, requireLength, writeRecord } from './stored.ts';

/** What a login has, from its beginning to its end. */
interface Login {
  readonly run: SessionRun;
  readonly request: LoginRequest;
  readonly dialog: LoginDialog;
  /** Read before the browser is opened, because the keychain may be locked later. */
  readonly client: OAuthClient;
  readonly retry: RetryCommands;
  readonly interruption: Interruption;
  /** Aborted when the login has ended: requests in progress would keep the process running until their own deadline. */
  readonly ended: AbortSignal;
}

/**
 * Logs in through the browser (https://www.rfc-editor.org/rfc/rfc8252): one login has one state parameter, one code exchange
 * and one stored session. Throws a CliError, in which case no session is stored.
 */
export async function logIn(run: SessionRun, request: LoginRequest, dialog: LoginDialog): Promise<LoginResult> {
  run.requireSafe();
  const lock = requireLoginLock(run);
  const ended = new AbortController();
  const retry = loginRetries(run.settings.profile, request, request.profileFlow, request.typed);
  let receiver: Receiver | undefined;
  let interruption: Interruption | undefined;
  try {
    await requireUsableStore(run);
    const client = await run.client();
    const attempt = createAttempt(run, request);
    receiver = await openReceiver(run, request, dialog, attempt, run.settings.values.callback_urls ?? []);
    // A user who sees the URL may press Ctrl-C. Before that, a signal ends the program, also while the keychain waits for a user.
    interruption = listenForSignals(run.host);
    const login: Login = { run, request, dialog, client, retry, interruption, ended: ended.signal };
    let answered: AnsweredAttempt = { attempt, receiver, result: await awaitResponse(login, attempt, receiver, false) };
    if (dialog.canContinue && needsPerson(answered.result, request)) {
      answered = await continueWithPerson(login, receiver, (next) => {
        receiver = next;
      });
    }
    const grant = await obtainGrant(login, answered);
    const stored = await storeGrant(login, grant, answered.receiver);
    answered.receiver.showOutcome(signedInOutcome(grant));
    // The new session is stored, also if it cannot be reported.
    const revocation = { ...run, client, isSpecServer: () => isSpec(login) };
    await dialog.report(stored).finally(() => revokeReplaced(revocation, stored));
    interruption.throwIfInterrupted();
    await answered.receiver.closed;
    return stored;
  } catch (error) {
    receiver?.showOutcome(failureOutcome(error));
    interruption?.throwIfInterrupted();
    // The login waits for the browser tab only if a tab sent the accepted response.
    if (receiver?.isAccepted() === true && !(error instanceof CliError && error.code === 'cancelled'))
      await receiver.closed;
    throw error;
  } finally {
    ended.abort();
    interruption?.close();
    await receiver?.close();
    lock.release();
  }
}

interface AnsweredAttempt {
  readonly attempt: Attempt;
  readonly receiver: Receiver;
  readonly result: AuthorizationResult;
}

/** Milliseconds for a person to sign in after a login without a page was refused. */
const personLimitMs = 300_000;

/** A login without a page continues in the same browser tab with the sign-in page. */
async function continueWithPerson(
  login: Login,
  refused: Receiver,
  onReceiver: (next: Receiver) => void,
): Promise<AnsweredAttempt> {
  const { run, dialog, request } = login;
  const withPerson = { ...request, prompt: undefined, limit: Math.max(request.limit, personLimitMs) };
  const attempt = createAttempt(run, withPerson);
  refused.showOutcome({ kind: 'continue', url: attempt.authorizationUrl(refused.callbackUrl) });
  await refused.closed;
  const receiver = await openReceiver(run, withPerson, dialog, attempt, [refused.callbackUrl]);
  onReceiver(receiver);
  const result = await awaitResponse({ ...login, request: withPerson }, attempt, receiver, true);
  return { attempt, receiver, result };
}

/** For how many milliseconds the instructions wait for a connection to the server; a refused one is known earlier. */
const instructionsLimitMs = 5_000;

async function awaitResponse(
  { run, request, dialog, retry, interruption, ended }: Login,
  attempt: Attempt,
  receiver: Receiver,
  isContinued: boolean,
): Promise<AuthorizationResult> {
  const receive = async (): Promise<AuthorizationResult> => {
    const other = createDeferred<void>();
    const reached = requireReachable(run, ended, undefined, ({ kind, isFinal }) => {
      if (kind !== 'refused' && !isFinal) other.resolve();
    });
    const unreachable = reached.then(() => new Promise<never>(() => {}));
    unreachable.catch(() => undefined);
    // The user is not sent to a server that refuses connections. Another failure may be of this machine alone, and take long.
    await Promise.race([
      reached,
      other.promise,
      run.host.clock.sleep(Math.min(instructionsLimitMs, request.limit / 2), ended),
    ]);
    const response = receiveResponse(dialog, request, receiver, attempt, { isContinued, signal: ended });
    return Promise.race([response, unreachable]);
  };
  return interruption.orInterrupt(receive(), request.limit, () => loginTimeoutError(retry, run.settings.profile));
}

/** Whether a login without a page failed because a person must sign in or authorize the application (docs/service.md S4.10, S4.11). */
function needsPerson(result: AuthorizationResult, { prompt }: LoginRequest): boolean {
  return prompt === 'none' && result.kind === 'error' && needsInteraction(result.error);
}

function requireLoginLock({ store, settings }: SessionRun): HeldLock {
  const lock = tryAcquire(store.place.loginLock);
  if (lock !== undefined) return lock;
  throw new CliError('busy', `another login of profile "${settings.profileName}" is in progress`, {
    hint: 'finish or interrupt the other login first',
  });
}

/** A locked or missing keychain is reported before the user signs in in the browser. */
async function requireUsableStore({ store, settings }: SessionRun): Promise<void> {
  requireAvailable(await store.withItems((items) => items.read('credential')), settings.profile);
  const failure = store.checkWritable();
  if (failure !== undefined) throw unavailableError(failure, settings.profile);
}

async function obtainGrant(login: Login, { attempt, receiver, result }: AnsweredAttempt): Promise<TokenGrant> {
  const { run, request, client, retry, interruption, ended: signal } = login;
  const authorized = requireGrant(result, { request, retry });
  if ('grant' in authorized) return authorized.grant;
  const { callbackUrl: redirectUri } = receiver;
  const isSpecServer = (): boolean => isSpec(login);
  const exchange = { ...authorized, client, retry, isSpecServer, redirectUri, pkce: attempt.pkce, signal };
  return interruption.withGrace(exchangeCode(run, exchange), {
    detail: 'the token request was abandoned 5 s after the signal; tokens that it may have issued are not stored',
    hint: `start again with ${retry.sameRequest}`,
  });
}

/** Stores the grant, or revokes it if it is not what was asked for. */
async function storeGrant(
  { run, request, dialog, client, retry, interruption }: Login,
  grant: TokenGrant,
  { showOutcome }: Receiver,
): Promise<LoginResult> {
  const { signal } = interruption;
  const revoke = (error: unknown): Promise<never> => revokeAndThrow({ ...run, client }, grant, error);
  const confirm = async (): Promise<string> => {
    requireAccount(grant, request, { retry, known: readAccount(run.host.folders.config, run.settings.profileName) });
    const { onOtherScope } = dialog;
    const onQuestion = (): void => showOutcome({ kind: 'unfinished' });
    return confirmScope(grant, { request, retry, onOtherScope, onQuestion, signal });
  };
  const scope = await confirm().catch(revoke);
  return interruption.withGrace(storeLogin(run, grant, { scope, flow: request.flow }).catch(revoke), {
    detail: 'the session was being stored, and may be stored',
    hint: `see ${commandFor(run.settings.profile, 'auth status --check')}`,
  });
}

/** Only a server that follows docs/service.md has named the account whose complete UUID is expected (S2.10). */
function isSpec({ run, request }: Login): boolean {
  const { host, settings, binding } = run;
  return request.accountUuid !== undefined || followsSpec(host.folders, settings.profileName, binding.authOrigin);
}

function signedInOutcome({ info }: TokenGrant): LoginOutcome {
  return { kind: 'signed_in', name: info?.name, email: info?.email, team: info?.teamName };
}

function failureOutcome(error: unknown): LoginOutcome {
  if (!(error instanceof CliError))
    return { kind: 'failed', reason: 'The program failed; the terminal shows the error' };
  if (error.code === 'access_denied') return { kind: 'access_denied' };
  if (error.code === 'state_mismatch') return { kind: 'state_mismatch' };
  return { kind: 'failed', reason: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}` };
}

function loginTimeoutError({ sameRequest }: RetryCommands, profile: ProfileReference): CliError {
  return new CliError('login_timeout', 'could not log in: no response from the browser in time', {
    detail: `if the page shows an error about the redirect URI or the scope, compare client_id, callback_urls and scope of ${commandFor(profile, 'config list')} with the registered application`,
    hint: `start again with ${sameRequest}, or allow more time with --login-timeout 15m`,
  });
}

/**
 * Stores a grant as a new session, which replaces the stored one. Throws `keychain_unavailable` or `busy` when the session
 * cannot be stored.
 */
export async function storeLogin(
  run: SessionRun,
  grant: TokenGrant,
  { scope, flow }: { readonly scope: string; readonly flow: LoginRequest['flow'] },
): Promise<LoginResult> {
  const record = newRecord(run, grant, scope);
  const account = accountFromGrant(record.sid, grant.info, record.scope, flow);
  const replaced = await storeRecord(run, record, account);
  return {
    record,
    replaced,
    account,
    isScopeAssumed: grant.scope === undefined,
    isLifetimeAssumed: grant.expiresIn === undefined,
    isAccountKnown: grant.info !== undefined,
  };
}

/** The access token of `auth login --with-token`, and the account that the resource API returned for it. */
interface GivenToken {
  readonly accessToken: Secret;
  readonly account: AccountDetails;
  /** The scope that the user stated; empty if it is not known. */
  readonly scope: string;
}

/**
 * Stores the access token of `auth login --with-token` as a new session, which cannot be renewed (docs/sessions.md), reports it,
 * and revokes the session that it replaces.
 */
export async function storeGivenToken(
  run: SessionRun,
  { accessToken, account: { accountUuid, team, name, email, teamName }, scope }: GivenToken,
  report: (result: LoginResult) => Promise<void>,
): Promise<void> {
  const { host, settings, binding } = run;
  // Whether the server follows docs/service.md is read from the account file before the login replaces the file.
  const isSpecServer = followsSpec(host.folders, settings.profileName, binding.authOrigin);
  const known = { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
  const record = {
    ...newRecord(run, { accessToken }, scope),
    scope,
    ...known,
    expiresAt: unknownExpiry,
    isGivenToken: true as const,
  };
  // The account file gets no UUID: a UUID gives the file a `hint`, which means that a grant named the account
  // (followsSpec).
  const names = Object.entries({ name, email, teamName }).filter(([, value]) => value !== undefined);
  const account = accountFromGrant(record.sid, Object.fromEntries(names), record.scope, 'token');
  const replaced = await storeRecord(run, record, account);
  const isAccountKnown = accountUuid !== undefined;
  const result = { record, replaced, account, isScopeAssumed: false, isLifetimeAssumed: false, isAccountKnown };
  const { authOrigin, clientId } = binding;
  const client = { authOrigin, clientId, tokenParams: settings.values.token_params ?? 'query' };
  // The new session is stored, also if it cannot be reported.
  await report(result).finally(() => revokeReplaced({ ...run, client, isSpecServer: () => isSpecServer }, result));
}

/** Returns the session that was replaced, if it was at the same servers. */
async function storeRecord(
  run: SessionRun,
  record: SessionRecord,
  account: StoredAccount,
): Promise<SessionRecord | undefined> {
  requireLength(run.store, record);
  const lock = await run.lock();
  try {
    const replaced = await run.store.withItems((items) => replaceStoredRecord(run, items, record), lock);
    writeAccountOrSkip(run, account);
    return replaced;
  } finally {
    lock.release();
  }
}

/**
 * The account file is used for display only. The session is already stored, so a config folder that cannot be written must not
 * end the login with an error.
 */
function writeAccountOrSkip({ host, settings }: SessionRun, account: StoredAccount): void {
  try {
    // The cached names for completion belong to the account of the previous session.
    forgetNames(host.folders.state, settings.profileName);
    storeAccount(host.folders.config, settings.profileName, account);
  } catch {
    // Without the account file, `auth status` and `auth list` show only the UUID.
  }
}

function newRecord({ host, binding }: SessionRun, grant: TokenGrant, scope: string): SessionRecord {
  const now = Math.floor(host.clock.now() / 1000);
  return {
    sid: Buffer.from(host.random(8)).toString('hex'),
    gen: 1,
    journalKey: new Secret(Buffer.from(host.random(32)).toString('base64url')),
    accessToken: grant.accessToken,
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    expiresAt: now + (grant.expiresIn ?? assumedLifetime),
    obtainedAt: now,
    scope: scopeWords(scope).join(' '),
    ...accountAndTeam(grant.info),
    ...binding,
  };
}

/** Replacing the item deletes the key of the previous session's journal, so its journal is removed as well. */
async function replaceStoredRecord(
  { store, binding, host }: SessionRun,
  items: OpenStore,
  record: SessionRecord,
): Promise<SessionRecord | undefined> {
  const before = await items.read('credential');
  requireAvailable(await writeRecord(store, items, record), store.profile);
  const old = before.kind === 'found' ? decodeRecord(before.value) : undefined;
  const isOurs = old !== undefined && belongsTo(old, binding);
  const replaced = isOurs ? (await readNewest(store, old)).record : undefined;
  if (old !== undefined)
    await store
      .journal(old.sid)
      .remove()
      .catch(() => undefined);
  removeLeftovers(store, record.sid, host.clock.now());
  return replaced;
}
