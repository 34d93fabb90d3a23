import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';

/** Creates an error of the authorization server, always with a description (RFC 6749 §5.2). */
export function buildOAuthErrorReply(
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): SandboxHttpReply {
  return jsonReply(status, { error, error_description: description }, headers);
}

export function buildInvalidRequestReply(description: string): SandboxHttpReply {
  return buildOAuthErrorReply(400, 'invalid_request', description);
}

export function buildInvalidGrantReply(description: string): SandboxHttpReply {
  return buildOAuthErrorReply(400, 'invalid_grant', description);
}
