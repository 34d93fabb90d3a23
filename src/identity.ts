/**
 * Who acts at a service: which account, in which context, by which application at which servers. An absent property is not
 * known, which is no proof of anything: it neither equals nor differs from another value.
 */
export interface Identity extends AccountContext {
  /** Origin of the authorization server. */
  readonly authOrigin?: string | undefined;
  /** Origin of the resource API. */
  readonly baseOrigin?: string | undefined;
  readonly clientId?: string | undefined;
}

/** The account and its context (spec.md §2, info object). The same person acts in a personal context and in those of teams. */
export interface AccountContext {
  readonly accountUuid?: string | undefined;
  /** UUID of the team, or `personal`. */
  readonly team?: string | undefined;
}

export const personalAccountContext = 'personal';

/** `same` only when account and team are known on both sides and equal. UUIDs are compared without case (RFC 9562 §4). */
export type IdentityComparison = 'same' | 'different' | 'unknown';

/** Whether both own the same droplets and migrations. The client ID does not decide that, and may be registered again. */
export function compareIdentities(one: Identity, other: Identity): IdentityComparison {
  const results = [
    compareKnown(one.baseOrigin, other.baseOrigin),
    compareKnown(one.authOrigin, other.authOrigin),
    compareAccounts(one, other),
  ];
  if (results.includes('different')) return 'different';
  // CLOUDCTL_ACCESS_TOKEN names no authorization server, which the account makes up for.
  return results[2] ?? 'unknown';
}

export function compareAccounts(one: AccountContext, other: AccountContext): IdentityComparison {
  const results = [
    compareKnown(one.accountUuid?.toLowerCase(), other.accountUuid?.toLowerCase()),
    compareKnown(one.team?.toLowerCase(), other.team?.toLowerCase()),
  ];
  if (results.includes('different')) return 'different';
  return results.includes('unknown') ? 'unknown' : 'same';
}

/** For messages, such as `account 1b4e…, team 9c2f… at https://api.example.com`. */
export function describeIdentity(identity: Identity): string {
  const at = identity.baseOrigin === undefined ? '' : ` at ${identity.baseOrigin}`;
  return `${describeAccount(identity)}${at}`;
}

export function describeAccount({ accountUuid, team }: AccountContext): string {
  const account = accountUuid === undefined ? 'an unknown account' : `account ${accountUuid}`;
  return `${account}, ${describeTeam(team)}`;
}

export function describeTeam(team: string | undefined): string {
  if (team === undefined) return 'unknown context';
  return team === personalAccountContext ? 'personal context' : `team ${team}`;
}

function compareKnown(one: string | undefined, other: string | undefined): IdentityComparison {
  if (one === undefined || other === undefined) return 'unknown';
  return one === other ? 'same' : 'different';
}
