import { CliError } from '../errors.ts';
import type { PageOutcome } from '../loopback/pages.ts';
import type { Judgement } from '../oauth/authorization-response.ts';
import { assumedLife, type Grant } from '../oauth/grant.ts';
import { sameScope, scopeWords } from '../oauth/scope.ts';
import type { Clock } from '../platform/host.ts';
import type { HeldLock } from '../platform/lock.ts';
import { Secret } from '../secret.ts';
import { type Account, accountOf } from './account.ts';
import { requireFits, writeRecord } from './current.ts';
import { type ExchangeDeps, grantOf, revokeGrant } from './login-exchange.ts';
import type { LoginRequest } from './login-request.ts';
import { type Binding, type CredentialRecord, decodeRecord } from './record.ts';
import { type CredentialStore, type Items, requireAvailable } from './store.ts';

export interface SettleDeps extends ExchangeDeps {
  readonly binding: Binding;
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
  readonly scopeAssumed: boolean;
  /** Nor how long it lives, so that of spec.md §8 is. */
  readonly lifeAssumed: boolean;
  readonly accountKnown: boolean;
}

export interface Settlement {
  /** What the tab is told. */
  readonly page: PageOutcome;
  /** Ends the login in the terminal: asks if there is something to ask, and gives the stored session. */
  readonly conclude: (signal: AbortSignal) => Promise<LoginResult>;
}

/** From a judged response to a stored session: exchange, account, scope, commit. A grant that is not kept is revoked. */
export async function settleLogin(deps: SettleDeps, judgement: Judgement, redirectUri: string): Promise<Settlement> {
  const grant = await grantOf(deps, judgement, redirectUri);
  try {
    requireAccount(deps, grant);
    const requested = deps.request.scope ?? 'read';
    const granted = grant.scope ?? requested;
    if (!sameScope(requested, granted) && deps.onOtherScope !== 'accept') {
      if (deps.onOtherScope === 'refuse') throw otherScope(deps, requested, granted);
      const ask = deps.onOtherScope;
      return {
        page: { kind: 'unfinished' },
        conclude: (signal) => askThenCommit(deps, grant, granted, () => ask(requested, granted, signal)),
      };
    }
    const result = await commit(deps, grant, granted);
    return { page: signedIn(grant), conclude: async () => result };
  } catch (error) {
    return discard(deps, grant, error);
  }
}

async function askThenCommit(
  deps: SettleDeps,
  grant: Grant,
  granted: string,
  ask: () => Promise<boolean>,
): Promise<LoginResult> {
  try {
    if (!(await ask())) throw otherScope(deps, deps.request.scope ?? 'read', granted);
    return await commit(deps, grant, granted);
  } catch (error) {
    return discard(deps, grant, error);
  }
}

/** Revokes what will not be kept, and says truly whether the server was told. */
async function discard(deps: SettleDeps, grant: Grant, error: unknown): Promise<never> {
  const revoked = await revokeGrant(deps, grant);
  if (!(error instanceof CliError)) throw error;
  const fate = revoked
    ? 'the grant was revoked and nothing was kept'
    : 'nothing was kept, but the grant could not be revoked; the control panel can do it under the applications';
  const detail = error.detail === undefined ? fate : `${error.detail}; ${fate}`;
  throw new CliError(error.code, error.message, { ...error, detail, cause: error });
}

async function commit(deps: SettleDeps, grant: Grant, scope: string): Promise<LoginResult> {
  const now = Math.floor(deps.clock.now() / 1000);
  const record: CredentialRecord = {
    sid: Buffer.from(deps.random(8)).toString('hex'),
    gen: 1,
    seal: new Secret(Buffer.from(deps.random(32)).toString('base64url')),
    accessToken: grant.accessToken,
    ...(grant.refreshToken === undefined ? {} : { refreshToken: grant.refreshToken }),
    expiresAt: now + (grant.expiresIn ?? assumedLife),
    obtainedAt: now,
    scope: scopeWords(scope).join(' '),
    ...(grant.info?.uuid === undefined ? {} : { accountUuid: grant.info.uuid }),
    ...deps.binding,
  };
  requireFits(deps.store, record);
  const account = accountOf(record.sid, grant.info, record.scope, deps.request.flow);
  const lock = await deps.lock();
  try {
    await deps.store.visit((items) => replace(deps, items, record), lock);
    deps.writeAccount(account);
  } finally {
    lock.release();
  }
  return {
    record,
    account,
    scopeAssumed: grant.scope === undefined,
    lifeAssumed: grant.expiresIn === undefined,
    accountKnown: grant.info !== undefined,
  };
}

/** The session that was stored before ends here, and with its item the key of whatever it has left beside it. */
async function replace({ store }: SettleDeps, items: Items, record: CredentialRecord): Promise<void> {
  const before = await items.read('credential');
  requireAvailable(await writeRecord(store, items, record), store.profile);
  const old = before.kind === 'found' ? decodeRecord(before.value.reveal()) : undefined;
  if (old !== undefined) store.journal.forget(old.sid);
}

function requireAccount(deps: SettleDeps, grant: Grant): void {
  const hint = deps.request.accountHint?.toLowerCase();
  const uuid = grant.info?.uuid?.toLowerCase();
  const whole = deps.request.accountUuid?.toLowerCase();
  const isExpected = hint === undefined || uuid === undefined || uuid.startsWith(hint);
  if (isExpected && (whole === undefined || whole === uuid)) return;
  throw new CliError('login_required', 'the browser is signed in to another account than expected', {
    detail: `expected an account UUID that begins with ${hint}`,
    hint: `log in without --prompt none: ${deps.login.same}`,
  });
}

function otherScope(deps: SettleDeps, requested: string, granted: string): CliError {
  return new CliError('scope_mismatch', `the granted scope is "${deps.clean(granted)}", not "${requested}"`, {
    hint: `keep what is granted with ${deps.login.anyGrant}`,
  });
}

function signedIn(grant: Grant): PageOutcome {
  return { kind: 'signed_in', name: grant.info?.name, email: grant.info?.email, team: grant.info?.teamName };
}
