import { createHash } from 'node:crypto';
import { secretFingerprint } from './grant-store.ts';
import type { Reply } from './http/reply.ts';
import { asciiQuery, type HttpRequest, readParameters } from './http/request.ts';
import { findSession } from './panel/panel-session.ts';
import type { AuthorizationCode, TokenPair } from './records.ts';
import type { LoggedRequest, LoginCorrelation, RequestOfLogin } from './request-log.ts';
import type { Service } from './service.ts';

/** The steps of one login by one person with one application, from the authorization request to the last API call. */
export interface Timeline {
  /** The time of the login in ISO 8601, by the virtual clock. */
  readonly at: string;
  /** Whether the request log contains the authorization request of this login. */
  readonly hasAuthorizationRequest: boolean;
  /** Fingerprint of its code or first access token; undefined before the consent. */
  readonly chain: string | undefined;
  /** The UUID of the person who logs in; undefined before the sign-in. */
  readonly person: string | undefined;
  readonly steps: readonly TimelineStep[];
}

export interface TimelineStep {
  readonly at: string;
  readonly description: string;
  /** The logged request of the step, or one of several equal requests; absent for a redirect, which the browser follows. */
  readonly entry?: LoggedRequest;
  readonly count: number;
}

/**
 * Groups the requests of an application by login, newest first. A request with a code or a token belongs to the login that
 * the code or token comes from, also after later logins; tokens of no logged login, such as those of the admin API, have a
 * timeline of their own.
 */
export function buildTimelines(requests: readonly RequestOfLogin[], clientId: string): readonly Timeline[] {
  const logins: LoginDraft[] = [];
  const byChain = new Map<string, LoginDraft>();
  for (const { entry, trace } of requests) {
    if (trace?.clientId !== clientId) continue;
    const login =
      trace.login === undefined
        ? (byChain.get(trace.chain ?? '') ?? addLogin(logins, entry, trace))
        : openLogin(logins, entry, trace);
    if (trace.chain !== undefined) {
      login.chain ??= trace.chain;
      byChain.set(trace.chain, login);
    }
    login.person ??= trace.person;
    appendStep(login.steps, entry, trace);
    if (trace.redirect !== undefined) login.isAnswered = true;
  }
  return logins.reverse();
}

interface LoginDraft {
  readonly at: string;
  readonly key: string | undefined;
  readonly hasAuthorizationRequest: boolean;
  chain: string | undefined;
  person: string | undefined;
  isAnswered: boolean;
  readonly steps: TimelineStep[];
}

/**
 * Finds or adds the login of a logged request. Entries with the same authorization request belong to one login until that
 * login is answered; later entries start a new login.
 */
function openLogin(logins: LoginDraft[], entry: LoggedRequest, trace: LoginCorrelation): LoginDraft {
  const known = logins.findLast((one) => one.key === trace.login);
  return known !== undefined && (!known.isAnswered || entry.method === 'POST') ? known : addLogin(logins, entry, trace);
}

function addLogin(logins: LoginDraft[], { at }: LoggedRequest, { login: key }: LoginCorrelation): LoginDraft {
  const login: LoginDraft = {
    at,
    key,
    hasAuthorizationRequest: key !== undefined,
    chain: undefined,
    person: undefined,
    isAnswered: false,
    steps: [],
  };
  logins.push(login);
  return login;
}

/** Consecutive equal API calls become one step with a count, because a script can send hundreds of them. */
function appendStep(steps: TimelineStep[], entry: LoggedRequest, trace: LoginCorrelation): void {
  const description = describeStep(entry, trace);
  const previous = steps.at(-1);
  if (previous?.entry !== undefined && entry.path.startsWith('/v2/') && isEqualRequest(previous.entry, entry)) {
    steps[steps.length - 1] = { ...previous, count: previous.count + 1 };
    return;
  }
  steps.push({ at: entry.at, description, entry, count: 1 });
  if (trace.redirect !== undefined) {
    const { host, outcome } = trace.redirect;
    steps.push({
      at: entry.at,
      description: `Redirect to ${host} ${OUTCOMES.get(outcome) ?? `with the error ${outcome}`}`,
      count: 1,
    });
  }
}

function isEqualRequest(one: LoggedRequest, other: LoggedRequest): boolean {
  return (
    one.method === other.method && one.path === other.path && one.status === other.status && one.fault === other.fault
  );
}

function describeStep(
  { method, path, status, grant_type }: LoggedRequest,
  { redirect, person }: LoginCorrelation,
): string {
  const isRefused = status >= 400;
  switch (`${method} ${path}`) {
    case 'GET /v1/oauth/authorize':
      if (isRefused) return 'Authorization request refused with a page';
      if (redirect !== undefined) return 'Authorization request, answered without a page';
      return `Authorization request, ${person === undefined ? 'sign-in page' : 'consent page'} shown`;
    case 'POST /panel/sign-in':
      return isRefused ? 'Sign-in refused' : 'Signed in';
    case 'POST /v1/oauth/authorize':
      if (redirect === undefined) return isRefused ? 'Consent form refused' : 'Another account requested';
      return redirect.outcome === 'access_denied' ? 'Consent denied' : 'Consent given';
    case 'POST /v1/oauth/token':
      if (grant_type === 'refresh_token') return isRefused ? 'Refresh refused' : 'Tokens refreshed';
      return isRefused ? 'Code refused' : 'Code exchanged for tokens';
    case 'POST /v1/oauth/revoke':
      return isRefused ? 'Revocation refused' : 'Token revoked';
    default:
      return isRefused ? 'API call refused' : 'API call';
  }
}

const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ['code', 'with a code'],
  ['token', 'with an access token'],
]);

/** Finds the application and the login to which a request belongs. */
export type LoginFinder = (request: HttpRequest, service: Service) => LoginCorrelation | undefined;

/** The record that connects the requests of one login in the panel, for a request whose query is an authorization request. */
export function loginOfAuthorization(
  request: HttpRequest,
  query: string,
  service: Service,
): LoginCorrelation | undefined {
  const clientId = readParameters(query, '', '').get('client_id');
  if (clientId === undefined) return undefined;
  const person = findSession(request, service)?.person.uuid;
  const login = createHash('sha256').update(asciiQuery(query)).digest('base64url').slice(0, 16);
  return { clientId, login, ...(person === undefined ? {} : { person }) };
}

/** The login correlation of a request with an authorization code. */
export function loginOfCode(code: AuthorizationCode | undefined): LoginCorrelation | undefined {
  if (code === undefined) return undefined;
  return { clientId: code.clientId, person: code.person, chain: secretFingerprint(code.code) };
}

/** The login correlation of a request with an access token or a refresh token. */
export function loginOfPair(pair: TokenPair | undefined): LoginCorrelation | undefined {
  return pair === undefined ? undefined : { clientId: pair.clientId, person: pair.person, chain: pair.issue.chain };
}

/** Adds the redirect in the reply to the login correlation. */
export function addRedirect(
  trace: LoginCorrelation | undefined,
  { headers: { location } }: Reply,
): LoginCorrelation | undefined {
  if (trace?.login === undefined || location === undefined || location.startsWith('/')) return trace;
  const url = new URL(location);
  const token = new URLSearchParams(url.hash.slice(1)).get('access_token');
  const error = url.searchParams.get('error');
  const secret = error === null ? (token ?? url.searchParams.getAll('code').at(-1)) : undefined;
  const outcome = error ?? (token === null ? 'code' : 'token');
  return {
    ...trace,
    ...(secret === undefined ? {} : { chain: secretFingerprint(secret) }),
    redirect: { host: url.host || url.protocol, outcome },
  };
}
