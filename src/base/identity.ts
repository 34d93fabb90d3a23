/**
 * Who sends requests to a service: the account, its context (personal or team), the application, and the servers. An absent
 * property means "unknown": it neither equals nor differs from another value.
 */
export interface ActorIdentity extends TeamAccount {
  /** Origin of the authorization server. */
  readonly authOrigin?: string | undefined;
  /** Origin of the resource API. */
  readonly baseOrigin?: string | undefined;
  readonly clientId?: string | undefined;
}

/**
 * The account and its context (docs/service.md S2.10). The same account can act in a personal context and in the context of
 * each of its teams.
 */
export interface TeamAccount {
  readonly accountUuid?: string | undefined;
  /** UUID of the team, or `personal`. */
  readonly team?: string | undefined;
}

export const personalTeam = 'personal';

/** A context is `personal` or a UUID (RFC 9562 §4). */
export function isTeam(text: string): boolean {
  return text === personalTeam || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/**
 * Two identities are the `same` only when account and team are known on both sides and equal. UUIDs are compared without case
 * (RFC 9562 §4).
 */
export type AccountComparison = 'same' | 'different' | 'unknown';

/**
 * Whether two identities own the same droplets and migrations. The client ID is not compared, because an application may be
 * registered again under another client ID.
 */
export function compareIdentities(one: ActorIdentity, other: ActorIdentity): AccountComparison {
  const results = [
    compareKnown(one.baseOrigin, other.baseOrigin),
    compareKnown(one.authOrigin, other.authOrigin),
    compareAccounts(one, other),
  ];
  if (results.includes('different')) return 'different';
  // CLOUDCTL_ACCESS_TOKEN names no authorization server, so the accounts are compared instead.
  return results[2] ?? 'unknown';
}

export function compareAccounts(one: TeamAccount, other: TeamAccount): AccountComparison {
  const results = [
    compareKnown(one.accountUuid?.toLowerCase(), other.accountUuid?.toLowerCase()),
    compareKnown(one.team?.toLowerCase(), other.team?.toLowerCase()),
  ];
  if (results.includes('different')) return 'different';
  return results.includes('unknown') ? 'unknown' : 'same';
}

/** Describes an identity in a message, such as `account 1b4e…, team 9c2f… at https://api.example.com`. */
export function describeIdentity(identity: ActorIdentity): string {
  const at = identity.baseOrigin === undefined ? '' : ` at ${identity.baseOrigin}`;
  return `${describeAccount(identity)}${at}`;
}

export function describeAccount({ accountUuid, team }: TeamAccount): string {
  const account = accountUuid === undefined ? 'an unknown account' : `account ${accountUuid}`;
  return `${account}, ${describeTeam(team)}`;
}

export function describeTeam(team: string | undefined): string {
  if (team === undefined) return 'unknown context';
  return team === personalTeam ? 'personal context' : `team ${team}`;
}

function compareKnown(one: string | undefined, other: string | undefined): AccountComparison {
  if (one === undefined || other === undefined) return 'unknown';
  return one === other ? 'same' : 'different';
}
