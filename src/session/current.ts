import { CliError } from '../errors.ts';
import { commandFor, scopeOption, widerScopeOption } from './command-for.ts';
import {
  type Binding,
  type CredentialRecord,
  decodeRecord,
  encodeRecord,
  isBoundTo,
  refreshMargin,
  secondsLeft,
} from './record.ts';
import {
  type CredentialStore,
  type Items,
  type ItemWritten,
  keychainError,
  requireAvailable,
  type StoreUnavailable,
} from './store.ts';

/** What the store holds for a profile, seen against what the profile points to now. */
export type Stored =
  | Found
  /** `orphaned`: a refresh was on its way, and the item it was for is gone. */
  | { readonly kind: 'absent'; readonly orphaned?: boolean }
  | { readonly kind: 'damaged' }
  /** A session of other servers or another client id; it is left alone and never sent here. */
  | { readonly kind: 'elsewhere'; readonly record: CredentialRecord }
  | StoreUnavailable;

export interface Found {
  readonly kind: 'found';
  /** The newest of the item and what its journal holds. */
  readonly record: CredentialRecord;
  /** It is not in the item yet. */
  readonly pending: boolean;
  /** A refresh of it was prepared, and no answer is known. */
  readonly inDoubt: boolean;
  /** The next command has something to do under the lock: promote, find out, or tidy. */
  readonly unsettled: boolean;
}

/** The current record, by the one rule that every reader follows (docs/sessions.md). Needs no lock. */
export async function readStored(store: CredentialStore, items: Items, binding: Binding): Promise<Stored> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  try {
    if (item.kind === 'absent') return store.journal.isOrphaned() ? { kind: 'absent', orphaned: true } : item;
    const record = decodeRecord(item.value.reveal());
    if (record === undefined) return { kind: 'damaged' };
    if (!isBoundTo(record, binding)) return { kind: 'elsewhere', record };
    const { untidy, ...seen } = store.journal.look(record);
    const unsettled = untidy || seen.inDoubt || (seen.pending && fits(store, seen.record));
    return { kind: 'found', ...seen, unsettled };
  } catch (error) {
    // A folder that cannot be listed may hold a newer record: that is not the same as none.
    return { kind: 'unavailable', why: 'file', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** What was found, or the error that tells why there is nothing. */
export function requireFound(stored: Stored, profile: string, place: string): Found {
  const known = requireAvailable(stored, profile);
  switch (known.kind) {
    case 'found':
      return known;
    case 'absent':
      if (known.orphaned === true) throw needsLogin(profile, `its item is gone from the store: ${place}`);
      throw new CliError('not_logged_in', `profile "${profile}" is not logged in`, { hint: loginCommand(profile) });
    case 'damaged':
      throw new CliError('not_logged_in', 'the stored session is damaged or of a newer version', {
        detail: `it was left as it is: ${place}`,
        hint: loginCommand(profile),
      });
    case 'elsewhere':
      throw new CliError('not_logged_in', `profile "${profile}" is logged in to other servers`, {
        detail: `its session belongs to ${known.record.authOrigin} with ${known.record.baseOrigin}, and is never sent elsewhere`,
        hint: `log in under a profile of its own: \`cloudctl auth login --profile NAME\``,
      });
    default:
      return known satisfies never;
  }
}

export function requireRecord(stored: Stored, profile: string, place: string): CredentialRecord {
  return requireFound(stored, profile, place).record;
}

/** Writes and reads back; `unavailable` leaves what was stored before. */
export async function writeRecord(
  store: CredentialStore,
  items: Items,
  record: CredentialRecord,
): Promise<ItemWritten> {
  return fits(store, record) ? items.write('credential', encodeRecord(record)) : tooLong(store, record);
}

/** Measured before anything is written: a keychain may cut off what it cannot hold. */
export function requireFits(store: Limited & Pick<CredentialStore, 'profile'>, record: CredentialRecord): void {
  if (!fits(store, record)) throw keychainError(tooLong(store, record), store.profile);
}

type Limited = Pick<CredentialStore, 'limit'>;

function fits({ limit = Number.POSITIVE_INFINITY }: Limited, record: CredentialRecord): boolean {
  return encodeRecord(record).reveal().length <= limit;
}

function tooLong({ limit }: Limited, record: CredentialRecord): StoreUnavailable {
  const length = encodeRecord(record).reveal().length;
  return {
    kind: 'unavailable',
    why: 'too_long',
    reason: `the record has ${length} characters, a keychain item holds ${limit}`,
  };
}

export type Freshness = 'valid' | 'expires_soon' | 'expired';

export function freshness(record: CredentialRecord, nowMs: number): Freshness {
  const left = secondsLeft(record, nowMs);
  if (left <= 0) return 'expired';
  return left < refreshMargin ? 'expires_soon' : 'valid';
}

/**
 * `session` is what was stored: the hint then leads back to the same account and scope without a page, where that can be.
 * `flow`: the words that name its flow (`flowAgain`).
 */
export function needsLogin(
  profile: string,
  detail: string,
  session?: LastSession,
  flow: readonly string[] = [],
): CliError {
  return new CliError('needs_login', `the session of profile "${profile}" has ended`, {
    detail,
    hint: wayBack(profile, session, flow),
  });
}

/** What is known of a session that has ended. */
export interface LastSession {
  readonly scope: string;
  readonly accountUuid?: string;
}

/** The command that logs in again, with the same scope. Only the code flow names its account, and only there a login without a page exists (spec.md §4.1). */
function wayBack(profile: string, session: LastSession | undefined, flow: readonly string[]): string {
  const hint = accountHint(session?.accountUuid);
  if (session === undefined || hint === undefined) return loginCommand(profile, session?.scope, flow);
  const words = ['auth login', ...flow, '--prompt none', `--account-hint ${hint}`, ...scopeOption(session.scope)];
  return commandFor(profile, words.join(' '));
}

/** The first 6 characters of an account's UUID (spec.md §4.1, parameter i). */
export function accountHint(uuid: string | undefined): string | undefined {
  const hint = uuid?.slice(0, 6).toLowerCase();
  return hint !== undefined && /^[0-9a-f]{6}$/.test(hint) ? hint : undefined;
}

/** `scope`: what was asked for; one that is wider than the default has to be asked for again. */
export function loginCommand(profile: string, scope?: string, flow: readonly string[] = []): string {
  return commandFor(profile, ['auth login', ...flow, ...widerScopeOption(scope)].join(' '));
}

export async function readOnce(store: CredentialStore, binding: Binding): Promise<Stored> {
  return store.visit((items) => readStored(store, items, binding));
}
