import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { hintOf, type Subject, type Trace } from '../log.ts';
import type { Service } from '../service.ts';
import { traceOfMandate } from '../trace.ts';
import { authenticateClient, type Client, claimedClientId } from './client-authentication.ts';
import { invalidRequest, oauthError } from './errors.ts';
import { exchangeCode } from './exchange.ts';
import { refreshPair } from './refresh.ts';
import { unreadable } from './unreadable.ts';

/** The token endpoint (RFC 6749 §3.2). Credentials, where they are sent, are judged before anything else they come with. */
export function token(request: Request, service: Service): Reply {
  const problem = unreadable(request, PARAMETERS);
  if (problem !== undefined) return problem;
  const client = authenticateClient(request, service.world);
  if (client.kind === 'refused') return client.reply;
  const type = request.parameters().get('grant_type');
  if (type === undefined) return invalidRequest(`The parameter grant_type is missing.${bodyRemark(request)}`);
  const grant = GRANTS.get(type);
  if (grant === undefined) {
    return oauthError(400, 'unsupported_grant_type', 'The grant type must be authorization_code or refresh_token.');
  }
  return grant(request, service, client);
}

export function exchangeSubject(request: Request): Subject {
  const parameters = request.parameters();
  const clientId = claimedClientId(request);
  const grantType = parameters.get('grant_type');
  const hint = hintOf(parameters.get('refresh_token') ?? '');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId.slice(0, 100) }),
    ...(grantType === undefined ? {} : { grant_type: grantType.slice(0, 100) }),
    ...(hint === undefined ? {} : { token_hint: hint }),
  };
}

export function exchangeTrace(request: Request, { world }: Service): Trace | undefined {
  const parameters = request.parameters();
  return traceOfMandate(
    world.code(parameters.get('code') ?? '') ?? world.pairByRefreshToken(parameters.get('refresh_token') ?? ''),
  );
}

type Grant = (request: Request, service: Service, client: Exclude<Client, { kind: 'refused' }>) => Reply;

const GRANTS: ReadonlyMap<string, Grant> = new Map<string, Grant>([
  ['authorization_code', exchangeCode],
  ['refresh_token', refreshPair],
]);

const PARAMETERS = [
  'grant_type',
  'code',
  'client_id',
  'client_secret',
  'redirect_uri',
  'refresh_token',
  'code_verifier',
];

function bodyRemark(request: Request): string {
  return request.body === '' ? '' : ' A body is read only as application/x-www-form-urlencoded or application/json.';
}
