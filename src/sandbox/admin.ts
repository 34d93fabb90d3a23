import type { IncomingMessage } from 'node:http';
import { decodeFault } from './faults/decode-fault.ts';
import type { SandboxHandlerContext, SandboxRequestHandler, SandboxSettings } from './handler-context.ts';
import { emptyReply, jsonReply, type SandboxHttpReply } from './http/reply.ts';
import { isJsonObject, parseJsonWithDuplicateKeys, type SandboxHttpRequest } from './http/request.ts';
import { DEFAULT_BODY_LIMIT } from './http/server.ts';
import type { LiveSandboxState } from './live-sandbox-state.ts';
import { buildSandboxGrantOfAuthorization } from './oauth/authorize.ts';
import { parseSandboxOAuthScope } from './oauth/rules.ts';
import { renderTokenResponse } from './oauth/token.ts';
import { equalSecrets } from './random.ts';
import type { AuthorizationConsentMode, IssuedTokenPair, SandboxPerson } from './records.ts';
import { SPEC_GAPS } from './spec-gaps.ts';
import { decodeSandboxSnapshot, takeSandboxSnapshot } from './state/snapshot.ts';
import {
  advanceVirtualClock,
  freezeVirtualClock,
  parseSandboxDurationToMilliseconds,
  resumeVirtualClock,
} from './virtual-clock.ts';

/** Whether the request has the admin token and the exact Host header, which no page in a browser can send together. */
export function isAuthenticatedAdminRequest(request: SandboxHttpRequest, { settings }: SandboxHandlerContext): boolean {
  const tokens = request.header('x-admin-token');
  if (!settings.adminAuthorities.has(request.authority) || tokens.length !== 1) return false;
  return equalSecrets(tokens[0] ?? '', settings.adminToken);
}

/**
 * Whether the request may see the control panel. On a sandbox with a public name, the control panel requires the admin token
 * as the password of Basic authentication (RFC 7617), for which browsers prompt.
 */
export function mayUsePanel(request: SandboxHttpRequest, service: SandboxHandlerContext): boolean {
  const { settings } = service;
  if (!settings.panelNeedsAdminToken || isAuthenticatedAdminRequest(request, service)) return true;
  const [value = '', ...more] = request.header('authorization');
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(value) ?? [];
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const mark = credentials.indexOf(':');
  return more.length === 0 && mark >= 0 && equalSecrets(credentials.slice(mark + 1), settings.adminToken);
}

export function buildAdminErrorReply(status: number, message: string): SandboxHttpReply {
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
export function determineRequestBodyLimit(
  message: IncomingMessage,
  settings: Pick<SandboxSettings, 'adminToken'>,
): number {
  if (message.url !== '/_sandbox/restore') return DEFAULT_BODY_LIMIT;
  const tokens = message.headersDistinct['x-admin-token'] ?? [];
  return tokens.length === 1 && equalSecrets(tokens[0] ?? '', settings.adminToken)
    ? SNAPSHOT_LIMIT
    : DEFAULT_BODY_LIMIT;
}

/** Responds with the ready line, which the sandbox also prints after its start. */
export const handleGetSandboxDescription: SandboxRequestHandler = (_request, { ready }) => jsonReply(200, ready);

/** Responds as soon as the sandbox serves requests, and with the error of the state folder when it no longer does. */
export function handleHealth(): SandboxHttpReply {
  return jsonReply(200, { status: 'ok' }, { 'cache-control': 'no-store' });
}

export function handleGetUnspecifiedBehaviors(): SandboxHttpReply {
  return jsonReply(200, { choices: SPEC_GAPS });
}

export function handleGetClock(_request: SandboxHttpRequest, { world }: SandboxHandlerContext): SandboxHttpReply {
  return jsonReply(200, clockView(world));
}

/**
 * Changes the virtual clock. The members of the body `{freeze?: true, advance?: "10m", resume?: true}` are applied in the order
 * freeze, advance, resume.
 */
export function handleChangeClock(request: SandboxHttpRequest, { world }: SandboxHandlerContext): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const step = body.has('advance') ? parseSandboxDurationToMilliseconds(body.get('advance')) : 0;
  if (step === undefined) {
    return buildAdminErrorReply(
      422,
      'advance must be a duration such as 30s, 10m, 2h or 30d, or a number of milliseconds; the maximum is 36525d.',
    );
  }
  const invalid = ['freeze', 'resume'].find((name) => body.has(name) && body.get(name) !== true);
  if (invalid !== undefined) return buildAdminErrorReply(422, `${invalid} must be true.`);
  if (body.has('freeze')) world.setClock(freezeVirtualClock);
  world.setClock((clock) => advanceVirtualClock(clock, step));
  if (body.has('resume')) world.setClock(resumeVirtualClock);
  return jsonReply(200, clockView(world));
}

function clockView(world: LiveSandboxState): object {
  const { offset, frozenAt } = world.clock;
  return { now: new Date(world.now()).toISOString(), frozen: frozenAt !== null, offset_ms: offset };
}

export const handleGetAuthorizationConsentMode: SandboxRequestHandler = (_request, { world }) => {
  return jsonReply(200, scriptView(world));
};

/**
 * Sets the consent script from the body `{mode: "ask"}`, `{mode: "deny"}` or `{mode: "approve", user, team?}`. With `lasting:
 * true` the consent script also applies after a reset.
 */
export const handleChangeAuthorizationConsentMode: SandboxRequestHandler = (request, { world }) => {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const problem = changeConsentMode(body, world);
  return problem === undefined ? jsonReply(200, scriptView(world)) : buildAdminErrorReply(422, problem);
};

/** Sets the consent script from the members of that body; the result is the error message for one member. */
export function changeConsentMode(body: ReadonlyMap<string, unknown>, world: LiveSandboxState): string | undefined {
  const script = decodeScript(body, world);
  if (typeof script === 'string') return script;
  if (body.get('lasting') === true) world.firstConsent = script;
  world.consent = script;
  return undefined;
}

function decodeScript(body: ReadonlyMap<string, unknown>, world: LiveSandboxState): AuthorizationConsentMode | string {
  const mode = body.get('mode');
  if (mode === 'ask' || mode === 'deny') return { mode };
  if (mode !== 'approve') return 'mode must be approve, deny or ask.';
  const personInTeam = decodeRequestedPersonInTeam(body, world);
  return typeof personInTeam === 'string' ? personInTeam : { mode, ...personInTeam };
}

function scriptView(world: LiveSandboxState): object {
  const script = world.consent;
  if (script.mode !== 'approve') return { mode: script.mode };
  return { mode: script.mode, user: world.registry.person(script.person)?.email, team: script.team };
}

export interface SandboxPersonInTeam {
  /** UUID. */
  readonly person: string;
  /** The UUID of a team to which the person belongs; absent for the person's own account. */
  readonly team?: string;
}

/** Decodes the members `user` and `team?` of a request body; if the result is a string, it is the error message. */
export function decodeRequestedPersonInTeam(
  body: ReadonlyMap<string, unknown>,
  world: LiveSandboxState,
): SandboxPersonInTeam | string {
  const user = nonEmptyTextMember(body, 'user') ?? '';
  const person = world.registry.personByEmail(user) ?? world.registry.person(user);
  if (person === undefined) return 'user must be the e-mail address or UUID of a person of this sandbox.';
  const text = nonEmptyTextMember(body, 'team');
  if (text === undefined) return { person: person.uuid };
  const team = findTeam(world, person, text);
  if (team === undefined) return 'team must be the UUID or name of a team of the user.';
  return { person: person.uuid, team };
}

function findTeam(world: LiveSandboxState, person: SandboxPerson, text: string): string | undefined {
  return person.teams.find((uuid) => uuid === text || world.registry.team(uuid)?.name === text);
}

export function handleListFaults(_request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  return jsonReply(200, { faults: faults.list() });
}

/**
 * Adds a fault from the body `{match: {method?, path?, grant_type?}, action, nth?, times?, delay?, status?}`, and responds with
 * the fault and its counters.
 */
export function handleAddFault(request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const spec = decodeFault(body);
  return typeof spec === 'string' ? buildAdminErrorReply(422, spec) : jsonReply(201, faults.add(spec));
}

export function handleClearFaults(_request: SandboxHttpRequest, { faults }: SandboxHandlerContext): SandboxHttpReply {
  faults.clear();
  return emptyReply(204);
}

const MAX_WAIT_MS = 30_000;

/** The parameter `endpoint=METHOD path` filters the logged requests; `wait=N` waits until N of them were logged, for at most 30 s. */
export function handleListLoggedRequests(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
): SandboxHttpReply | Promise<SandboxHttpReply> {
  const endpoint = request.parameters().get('endpoint');
  const wait = request.parameters().get('wait');
  if (wait === undefined) return logView(service, endpoint);
  if (!/^\d{1,5}$/.test(wait)) return buildAdminErrorReply(422, 'wait must be a number of requests from 0 to 99999.');
  return waitFor(request, service, endpoint, Number(wait));
}

export function handleClearRequestLog(_request: SandboxHttpRequest, { log }: SandboxHandlerContext): SandboxHttpReply {
  log.clear();
  return emptyReply(204);
}

async function waitFor(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  endpoint: string | undefined,
  count: number,
): Promise<SandboxHttpReply> {
  const timeLimit = new AbortController();
  // In Node 20 a garbage collection removes an `AbortSignal.timeout` to which only `AbortSignal.any` refers. This timer keeps its
  // signal.
  const timer = setTimeout(() => timeLimit.abort(), MAX_WAIT_MS);
  const signal = AbortSignal.any([timeLimit.signal, service.closing, request.disconnected()]);
  await service.log.waitFor(endpoint, count, signal);
  clearTimeout(timer);
  const seen = service.log.list(endpoint).length;
  if (seen >= count) return logView(service, endpoint);
  return buildAdminErrorReply(408, `${seen} of ${count} requests were logged within ${MAX_WAIT_MS / 1000} s.`);
}

function logView({ log }: SandboxHandlerContext, endpoint: string | undefined): SandboxHttpReply {
  return jsonReply(200, { requests: log.list(endpoint), counts: log.counts() });
}

export function handleResetSandbox(_request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  resetSandboxState(service);
  return emptyReply(204);
}

/** Restores tokens, sessions, droplets, clock, consent script, request log and faults. People, applications and secrets stay. */
export function resetSandboxState({ world, log, limiter, faults, planes }: SandboxHandlerContext): void {
  planes.stopAll();
  world.reset();
  limiter.reset();
  log.clear();
  faults.clear();
}

/** Responds with the whole state of the sandbox, including its secrets. */
export const handleGetSandboxSnapshot: SandboxRequestHandler = (_request, { world }) => {
  return jsonReply(200, takeSandboxSnapshot(world));
};

/**
 * Replaces the state, including the virtual time, with a snapshot; changes nothing when the snapshot is invalid. Restoring a
 * snapshot does not change the faults and the request log. Responds with the ready line, because people and applications may
 * have changed.
 */
export const handleRestoreSandboxSnapshot: SandboxRequestHandler = (request, service) => {
  const snapshot = decodeSandboxSnapshot(parseOrUndefined(request.body));
  if (typeof snapshot === 'string') return buildAdminErrorReply(422, snapshot);
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
export const handleAdminIssueTokenPair: SandboxRequestHandler = (request, { world }) => {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const personInTeam = decodeRequestedPersonInTeam(body, world);
  if (typeof personInTeam === 'string') return buildAdminErrorReply(422, personInTeam);
  const scopeText = body.has('scope') ? body.get('scope') : '';
  const scope = typeof scopeText === 'string' ? parseSandboxOAuthScope(scopeText) : undefined;
  if (scope === undefined) return buildAdminErrorReply(422, 'scope must be read or read write.');
  const clientId = nonEmptyTextMember(body, 'client_id') ?? world.seed.applications[0]?.clientId ?? '';
  if (world.registry.application(clientId) === undefined) {
    return buildAdminErrorReply(422, 'client_id must be the client ID of a registered application.');
  }
  const authorization = world.grants.authorize({ ...personInTeam, clientId, scope });
  return renderTokenResponse(
    world.grants.issuePair(buildSandboxGrantOfAuthorization(authorization, scope), 'admin_issue'),
    world,
  );
};

/** Body: `{token}`. Sets the expiry of the access token to the current time; the refresh token stays valid. */
export const handleAdminExpireAccessToken: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.grants.expire(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Revokes the access token and the refresh token. */
export const handleAdminRevokeTokenPair: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.grants.revoke(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Refreshes the token pair as another client with the same tokens would, and responds with the new pair. */
export const handleAdminRefreshAsOtherClient: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    const state = world.grants.pairState(pair);
    if (pair.refreshToken === undefined) return buildAdminErrorReply(409, 'The implicit flow issues no refresh token.');
    if (state === 'refreshed' || state === 'revoked') return buildAdminErrorReply(409, `The token pair is ${state}.`);
    return renderTokenResponse(world.grants.refresh(pair, { by: 'admin_refresh' }), world);
  });
};

function withTokenPair(
  request: SandboxHttpRequest,
  world: LiveSandboxState,
  act: (pair: IssuedTokenPair) => SandboxHttpReply,
): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  const value = body === undefined ? undefined : nonEmptyTextMember(body, 'token');
  if (value === undefined) return buildAdminErrorReply(422, 'token must be an access token or a refresh token.');
  const pair = world.grants.pair(value) ?? world.grants.pairByRefreshToken(value);
  return pair === undefined ? buildAdminErrorReply(404, 'The token is unknown.') : act(pair);
}

/** The members of the JSON object in the request body: empty for an empty body, undefined if the body is not a JSON object. */
export function readAdminJsonBody(request: SandboxHttpRequest): ReadonlyMap<string, unknown> | undefined {
  if (request.body.trim() === '') return new Map();
  const value = parseJsonWithDuplicateKeys(request.body)?.value;
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** Returns a member that must be a non-empty string; undefined when it is absent or has another type. */
export function nonEmptyTextMember(body: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = body.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
