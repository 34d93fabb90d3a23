import { toAsciiUrlQuery } from '../http/ascii-query.ts';
import { redirectReply, type SandboxHttpReply } from '../http/http-reply.ts';

/** The URL to which the authorization response is sent. */
export interface RedirectTarget {
  readonly redirectUri: string;
  /** The state parameter in the encoded form that was sent; absent when the request had none. */
  readonly rawState?: string;
  /** Status 303 after a form, so that the browser uses GET, and 302 after a GET request. */
  readonly status: 302 | 303;
}

/** Adds parameters to the query of the redirect URI and keeps its existing query (RFC 6749 §3.1.2). */
export function redirectWithQuery(
  target: RedirectTarget,
  parameters: Readonly<Record<string, string>>,
): SandboxHttpReply {
  const uri = target.redirectUri;
  const separator = !uri.includes('?') ? '?' : uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
  return redirectReply(target.status, `${uri}${separator}${encodeParameters(target, parameters)}`);
}

/** Adds the parameters to the fragment of the redirect URI, as the implicit flow requires (RFC 6749 §4.2.2). */
export function redirectWithFragment(
  target: RedirectTarget,
  parameters: Readonly<Record<string, string>>,
): SandboxHttpReply {
  return redirectReply(target.status, `${target.redirectUri}#${encodeParameters(target, parameters)}`);
}

export function redirectWithError(target: RedirectTarget, error: string, description: string): SandboxHttpReply {
  return redirectWithQuery(target, { error, error_description: description });
}

/** Appends the state parameter byte for byte as received, so that differences in decoding `+` or `%` have no effect. */
function encodeParameters(target: RedirectTarget, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(parameters).toString();
  return target.rawState === undefined ? query : `${query}&state=${toAsciiUrlQuery(target.rawState)}`;
}
