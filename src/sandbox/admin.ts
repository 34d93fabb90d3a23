import type { IncomingMessage } from 'node:http';
import { CHOICES } from './choices.ts';
import { decodeFault } from './faults/decode-fault.ts';
import { emptyReply, jsonReply, type Reply } from './http/reply.ts';
import { type HttpRequest, isJsonObject, parseJson } from './http/request.ts';
import { BODY_LIMIT } from './http/server.ts';
import { grantOf } from './oauth/authorize.ts';
import { parseOAuthScope } from './oauth/rules.ts';
import { renderTokenResponse } from './oauth/token.ts';
import { equalSecrets } from './random.ts';
import type { ConsentMode, Person, TokenPair } from './records.ts';
import type { PublicHandler, SandboxSettings, Service } from './service.ts';
import { decodeSnapshot, takeSnapshot } from './state/snapshot.ts';
import { advanceClock, freezeClock, isClockTime, parseDuration, resumeClock } from './virtual-clock.ts';
import type { World } from './world.ts';

/** Whether the request has the admin token and the exact Host header, which no page in a browser can send together. */
export function isAdmin(request: HttpRequest, { settings }: Service): boolean {
  const tokens = request.header('x-admin-token');
  if (!settings.adminAuthorities.has(request.authority) || tokens.length !== 1) return false;
  return equalSecrets(tokens[0] ?? '', settings.adminToken);
}

/**
 * Whether the request may see the control panel. On a sandbox with a public name, the control panel requires the admin token
 * as the password of Basic authentication (RFC 7617), for which browsers prompt.
 */
export function mayUsePanel(request: HttpRequest, service: Service): boolean {
  const { settings } = service;
  if (!settings.panelNeedsAdminToken || isAdmin(request, service)) return true;
  const [value = '', ...more] = request.header('authorization');
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(value) ?? [];
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const mark = credentials.indexOf(':');
  return more.length === 0 && mark >= 0 && equalSecrets(credentials.slice(mark + 1), settings.adminToken);
}

export function adminError(status: number, message: string): Reply {
  return jsonReply(status, { id: IDS.get(status) ?? 'error', message });
}

const IDS: ReadonlyMap<number, string> = new Map([
  [400, 'bad_request'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'timeout'],
  [409, 'conflict'],
  [413, 'payload_too_large'],
  [422, 'unprocessable_entity'],
  [500, 'server_error'],
]);

const SNAPSHOT_LIMIT = 512 * 1024 * 1024;

/** Maximum size of a request body in bytes. Requests with the admin token that restore a snapshot may be larger. */
export function bodyLimit(message: IncomingMessage, settings: Pick<SandboxSettings, 'adminToken'>): number {
  if (message.url !== '/_sandbox/restore') return BODY_LIMIT;
  const tokens = message.headersDistinct['x-admin-token'] ?? [];
  return tokens.length === 1 && equalSecrets(tokens[0] ?? '', settings.adminToken) ? SNAPSHOT_LIMIT : BODY_LIMIT;
}

/** Responds with the ready line, which the sandbox also prints after its start. */
export const describeSandbox: PublicHandler = (_request, { ready }) => jsonReply(200, ready);

/** Responds as soon as the sandbox serves requests, and with the error of the state folder when it no longer does. */
export function health(): Reply {
  return jsonReply(200, { status: 'ok' }, { 'cache-control': 'no-store' });
}

export function listChoices(): Reply {
  return jsonReply(200, { choices: CHOICES });
}

export function getClock(_request: HttpRequest, { world }: Service): Reply {
  return jsonReply(200, clockView(world));
}

/**
 * Changes the virtual clock. The members of the body `{freeze?: true, advance?: "10m", resume?: true}` are applied in the order
 * freeze, advance, resume.
 */
export function changeClock(request: HttpRequest, { world }: Service): Reply {
  const body = readAdminBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? parseDuration(body.get('advance')) : 0;
  if (step === undefined) {
    return adminError(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds; the maximum is 36525d.',
    );
  }
  if (!isClockTime(world.now() + step)) return adminError(422, 'The clock ends with the year 9998.');
  const invalid = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (invalid !== undefined) return adminError(422, `${invalid} must be true.`);
  if (body.has('freeze')) world.setClock(freezeClock);
  world.setClock((clock) => advanceClock(clock, step));
  if (body.has('resume')) world.setClock(resumeClock);
  return jsonReply(200, clockView(world));
}

function clockView(world: World): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}

export const getConsent: PublicHandler = (_request, { world }) => {
  return jsonReply(200, scriptView(world));
};

/**
 * Sets the consent script from the body `{mode: "ask"}`, `{mode: "deny"}` or `{mode: "approve", user, team?}`. With `lasting:
 * true` the consent script also applies after a reset.
 */
export const changeConsent: PublicHandler = (request, { world }) => {
  const body = readAdminBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const problem = setConsentMode(body, world);
  return problem === undefined ? jsonReply(200, scriptView(world)) : adminError(422, problem);
};

/** Sets the consent script from the members of that body; the result is the error message for one member. */
export function setConsentMode(body: ReadonlyMap<string, unknown>, world: World): string | undefined {
  const script = decodeScript(body, world);
  if (typeof script === 'string') return script;
  if (body.get('lasting') === true) world.firstConsent = script;
  world.consent = script;
  return undefined;
}

function decodeScript(body: ReadonlyMap<string, unknown>, world: World): ConsentMode | string {
  const mode = body.get('mode');
  if (mode === 'ask' || mode === 'deny') return { mode };
  if (mode !== 'approve') return 'mode must be approve, deny or ask.';
  const personInTeam = decodePerson(body, world);
  return typeof personInTeam === 'string' ? personInTeam : { mode, ...personInTeam };
}

function scriptView(world: World): object {
  const script = world.consent;
  if (script.mode !== 'approve') return { mode: script.mode };
  return { mode: script.mode, user: world.registry.person(script.person)?.email, team: script.team };
}

export interface PersonInTeam {
  /** UUID. */
  readonly person: string;
  /** The UUID of a team to which the person belongs; absent for the person's own account. */
  readonly team?: string;
}

/** Decodes the members `user` and `team?` of a request body; if the result is a string, it is the error message. */
export function decodePerson(body: ReadonlyMap<string, unknown>, world: World): PersonInTeam | string {
  const user = textMember(body, 'user') ?? '';
  const person = world.registry.personByEmail(user) ?? world.registry.person(user);
  if (person === undefined) return 'user must be the e-mail address or UUID of a person of this sandbox.';
  const text = textMember(body, 'team');
  if (text === undefined) return { person: person.uuid };
  const team = findTeam(world, person, text);
  if (team === undefined) return 'team must be the UUID or name of a team of the user.';
  return { person: person.uuid, team };
}

function findTeam(world: World, person: Person, text: string): string | undefined {
  return person.teams.find((uuid) => uuid === text || world.registry.team(uuid)?.name === text);
}

export function listFaults(_request: HttpRequest, { faults }: Service): Reply {
  return jsonReply(200, { faults: faults.list() });
}

/**
 * Adds a fault from the body `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`, and responds with
 * the fault and its counters.
 */
export function addFault(request: HttpRequest, { faults }: Service): Reply {
  const body = readAdminBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? adminError(422, spec) : jsonReply(201, faults.add(spec));
}

export function clearFaults(_request: HttpRequest, { faults }: Service): Reply {
  faults.clear();
  return emptyReply(204);
}

const MAX_WAIT_MS = 30_000;

/** The parameter `endpoint=METHOD path` filters the logged requests; `wait=N` waits until N of them were logged, for at most 30 s. */
export function listRequests(request: HttpRequest, service: Service): Reply | Promise<Reply> {
  const endpoint = request.parameters().get('endpoint');
  const wait = request.parameters().get('wait');
  if (wait === undefined) return logView(service, endpoint);
  if (!/^\d{1,5}$/.test(wait)) return adminError(422, 'wait must be a number of requests from 0 to 99999.');
  return waitFor(request, service, endpoint, Number(wait));
}

export function clearRequests(_request: HttpRequest, { log }: Service): Reply {
  log.clear();
  return emptyReply(204);
}

async function waitFor(
  request: HttpRequest,
  service: Service,
  endpoint: string | undefined,
  count: number,
): Promise<Reply> {
  const timeLimit = new AbortController();
  // In Node 20 a garbage collection removes an `AbortSignal.timeout` to which only `AbortSignal.any` refers. This timer keeps its
  // signal.
  const timer = setTimeout(() => timeLimit.abort(), MAX_WAIT_MS);
  const signal = AbortSignal.any([timeLimit.signal, service.closing, request.disconnected()]);
  await service.log.waitFor(endpoint, count, signal);
  clearTimeout(timer);
  const seen = service.log.list(endpoint).length;
  if (seen >= count) return logView(service, endpoint);
  return adminError(408, `${seen} of ${count} requests were logged within ${MAX_WAIT_MS / 1000} s.`);
}

function logView({ log }: Service, endpoint: string | undefined): Reply {
  return jsonReply(200, { requests: log.list(endpoint), counts: log.counts() });
}

export function postReset(_request: HttpRequest, service: Service): Reply {
  resetSandbox(service);
  return emptyReply(204);
}

/** Restores tokens, sessions, droplets, clock, consent script, request log and faults. People, applications and secrets stay. */
export function resetSandbox({ world, log, limiter, faults, planes }: Service): void {
  planes.stopAll();
  world.reset();
  limiter.reset();
  log.clear();
  faults.clear();
}

/** Responds with the whole state of the sandbox, including its secrets. */
export const getSnapshot: PublicHandler = (_request, { world }) => {
  return jsonReply(200, takeSnapshot(world));
};

/**
 * Replaces the state, including the virtual time, with a snapshot; changes nothing when the snapshot is invalid. Restoring a
 * snapshot does not change the faults and the request log. Responds with the ready line, because people and applications may
 * have changed.
 */
export const restoreSnapshot: PublicHandler = (request, service) => {
  const snapshot = decodeSnapshot(parseOrUndefined(request.body));
  if (typeof snapshot === 'string') return adminError(422, snapshot);
  service.planes.stopAll();
  service.world.restore(snapshot.seed, snapshot.world, snapshot.now);
  service.limiter.reset();
  return jsonReply(200, service.ready);
};

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Body: `{user, scope?, team?, client_id?}`. The reply is the same as from the token endpoint; the request also counts as an
 * approval by the person.
 */
export const issueTokens: PublicHandler = (request, { world }) => {
  const body = readAdminBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const personInTeam = decodePerson(body, world);
  if (typeof personInTeam === 'string') return adminError(422, personInTeam);
  const scopeText = body.has('scope') ? body.get('scope') : '';
  const scope = typeof scopeText === 'string' ? parseOAuthScope(scopeText) : undefined;
  if (scope === undefined) return adminError(422, 'scope must be read or read write.');
  const clientId = textMember(body, 'client_id') ?? world.seed.applications[0]?.clientId ?? '';
  if (world.registry.application(clientId) === undefined) {
    return adminError(422, 'client_id must be the client ID of a registered application.');
  }
  const authorization = world.grants.authorize({ ...personInTeam, clientId, scope });
  return renderTokenResponse(world.grants.issuePair(grantOf(authorization, scope), 'admin_issue'), world);
};

/** Body: `{token}`. Sets the expiry of the access token to the current time; the refresh token stays valid. */
export const expireToken: PublicHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.grants.expire(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Revokes the access token and the refresh token. */
export const revokeTokens: PublicHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.grants.revoke(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Refreshes the token pair as another client with the same tokens would, and responds with the new pair. */
export const refreshTokens: PublicHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    const state = world.grants.pairState(pair);
    if (pair.refreshToken === undefined) return adminError(409, 'The implicit flow issues no refresh token.');
    if (state === 'refreshed' || state === 'revoked') return adminError(409, `The token pair is ${state}.`);
    return renderTokenResponse(world.grants.refresh(pair, { by: 'admin_refresh' }), world);
  });
};

function withTokenPair(request: HttpRequest, world: World, act: (pair: TokenPair) => Reply): Reply {
  const body = readAdminBody(request);
  const value = body === undefined ? undefined : textMember(body, 'token');
  if (value === undefined) return adminError(422, 'token must be an access token or a refresh token.');
  const pair = world.grants.pair(value) ?? world.grants.pairByRefreshToken(value);
  return pair === undefined ? adminError(404, 'The token is unknown.') : act(pair);
}

/** The members of the JSON object in the request body: empty for an empty body, undefined if the body is not a JSON object. */
export function readAdminBody(request: HttpRequest): ReadonlyMap<string, unknown> | undefined {
  if (request.body.trim() === '') return new Map();
  const value = parseJson(request.body)?.value;
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** Returns a member that must be a non-empty string; undefined when it is absent or has another type. */
export function textMember(body: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = body.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
