import { CliError } from '../errors.ts';
import type { LoginOutcome } from '../loopback/outcome-page.ts';
import type { AuthorizationResult } from '../oauth/authorization-response.ts';
import { sameScope, scopeWords } from '../oauth/scope.ts';
import { assumedLifetimeSeconds, type TokenGrant } from '../oauth/token-grant.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { Clock } from '../platform/host.ts';
import { Secret } from '../secret.ts';
import { type Account, accountFromGrant } from './account.ts';
import { type CredentialRecord, decodeRecord, type SessionBinding } from './credential-record.ts';
import { type CredentialItems, type CredentialStore, requireAvailable } from './credential-store.ts';
import { type ExchangeDeps, obtainGrant, revokeGrant } from './exchange-code.ts';
import type { LoginRequest } from './login-request.ts';
import { requireRecordFits, writeCredentialRecord } from './stored-session.ts';

export interface CompleteLoginDeps extends ExchangeDeps {
  readonly binding: SessionBinding;
  readonly store: CredentialStore;
  /** The profile's session lock: taken around the commit alone. */
  readonly lock: () => Promise<HeldLock>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly writeAccount: (account: Account) => void;
  readonly request: LoginRequest;
  /** What to do with another scope than the requested one. */
  readonly onOtherScope:
    | 'accept'
    | 'refuse'
    | ((requested: string, granted: string, signal: AbortSignal) => Promise<boolean>);
}

export interface LoginResult {
  readonly record: CredentialRecord;
  readonly account: Account;
  /** The grant did not name a scope, so the requested one is assumed. */
  readonly isScopeAssumed: boolean;
  /** Nor how long it lives, so that of spec.md §8 is. */
  readonly isLifetimeAssumed: boolean;
  readonly isAccountKnown: boolean;
}

export interface LoginCompletion {
  /** What the tab is told. */
  readonly page: LoginOutcome;
  /** Ends the login in the terminal: asks if there is something to ask, and gives the stored session. */
  readonly conclude: (signal: AbortSignal) => Promise<LoginResult>;
}

/** From a judged response to a stored session: exchange, account, scope, commit. A grant that is not kept is revoked. */
export async function completeLogin(
  deps: CompleteLoginDeps,
  judgement: AuthorizationResult,
  redirectUri: string,
): Promise<LoginCompletion> {
  const grant = await obtainGrant(deps, judgement, redirectUri);
  try {
    requireAccount(deps, grant);
    const requested = deps.request.scope ?? 'read';
    const granted = grant.scope ?? requested;
    if (!sameScope(requested, granted) && deps.onOtherScope !== 'accept') {
      if (deps.onOtherScope === 'refuse') throw scopeMismatchError(deps, requested, granted);
      const ask = deps.onOtherScope;
      return {
        page: { kind: 'unfinished' },
        conclude: (signal) => askThenCommit(deps, grant, granted, () => ask(requested, granted, signal)),
      };
    }
    const result = await storeSession(deps, grant, granted);
    return { page: signedInOutcome(grant), conclude: async () => result };
  } catch (error) {
    return revokeAndFail(deps, grant, error);
  }
}

async function askThenCommit(
  deps: CompleteLoginDeps,
  grant: TokenGrant,
  granted: string,
  ask: () => Promise<boolean>,
): Promise<LoginResult> {
  try {
    if (!(await ask())) throw scopeMismatchError(deps, deps.request.scope ?? 'read', granted);
    return await storeSession(deps, grant, granted);
  } catch (error) {
    return revokeAndFail(deps, grant, error);
  }
}

/** Revokes what will not be kept, and says truly whether the server was told. */
async function revokeAndFail(deps: CompleteLoginDeps, grant: TokenGrant, error: unknown): Promise<never> {
  const revoked = await revokeGrant(deps, grant);
  if (!(error instanceof CliError)) throw error;
  const fate = revoked
    ? 'the grant was revoked and nothing was kept'
    : 'nothing was kept, but the grant could not be revoked; the control panel can do it under the applications';
  const detail = error.detail === undefined ? fate : `${error.detail}; ${fate}`;
  throw new CliError(error.code, error.message, { ...error, detail, cause: error });
}

async function storeSession(deps: CompleteLoginDeps, grant: TokenGrant, scope: string): Promise<LoginResult> {
  const now = Math.floor(deps.clock.now() / 1000);
  const record: CredentialRecord = {
    sid: Buffer.from(deps.random(8)).toString('hex'),
    gen: 1,
    journalKey: new Secret(Buffer.from(deps.random(32)).toString('base64url')),
    accessToken: grant.accessToken,
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    expiresAt: now + (grant.expiresIn ?? assumedLifetimeSeconds),
    obtainedAt: now,
    scope: scopeWords(scope).join(' '),
    ...(grant.info?.uuid === undefined ? {} : { accountUuid: grant.info.uuid }),
    ...deps.binding,
  };
  requireRecordFits(deps.store, record);
  const account = accountFromGrant(record.sid, grant.info, record.scope, deps.request.flow);
  const lock = await deps.lock();
  try {
    await deps.store.withItems((items) => replaceStoredRecord(deps, items, record), lock);
    deps.writeAccount(account);
  } finally {
    lock.release();
  }
  return {
    record,
    account,
    isScopeAssumed: grant.scope === undefined,
    isLifetimeAssumed: grant.expiresIn === undefined,
    isAccountKnown: grant.info !== undefined,
  };
}

/** The session that was stored before ends here, and with its item the key of whatever it has left beside it. */
async function replaceStoredRecord(
  { store }: CompleteLoginDeps,
  items: CredentialItems,
  record: CredentialRecord,
): Promise<void> {
  const before = await items.read('credential');
  requireAvailable(await writeCredentialRecord(store, items, record), store.profile);
  const old = before.kind === 'found' ? decodeRecord(before.value.reveal()) : undefined;
  if (old !== undefined) store.journal.removeSession(old.sid);
}

function requireAccount(deps: CompleteLoginDeps, grant: TokenGrant): void {
  const hint = deps.request.accountHint?.toLowerCase();
  const uuid = grant.info?.uuid?.toLowerCase();
  const whole = deps.request.accountUuid?.toLowerCase();
  const isExpected = hint === undefined || uuid === undefined || uuid.startsWith(hint);
  if (isExpected && (whole === undefined || whole === uuid)) return;
  throw new CliError('login_required', 'the browser is signed in to another account than expected', {
    detail: `expected an account UUID that begins with ${hint}`,
    hint: `log in without --prompt none: ${deps.loginCommands.sameRequest}`,
  });
}

function scopeMismatchError(deps: CompleteLoginDeps, requested: string, granted: string): CliError {
  return new CliError('scope_mismatch', `the granted scope is "${deps.sanitize(granted)}", not "${requested}"`, {
    hint: `keep what is granted with ${deps.loginCommands.acceptAnyScope}`,
  });
}

function signedInOutcome(grant: TokenGrant): LoginOutcome {
  return { kind: 'signed_in', name: grant.info?.name, email: grant.info?.email, team: grant.info?.teamName };
}
