import { json, type Reply } from '../http/reply.ts';

/** An error body of the authorization server: always both fields (RFC 6749 §5.2). */
export function oauthError(
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return json(status, { error, error_description: description }, headers);
}

export function invalidRequest(description: string): Reply {
  return oauthError(400, 'invalid_request', description);
}

export function invalidGrant(description: string): Reply {
  return oauthError(400, 'invalid_grant', description);
}
