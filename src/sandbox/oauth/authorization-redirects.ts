import { toAsciiQuery } from '../http/ascii-query.ts';
import { type HttpReply, redirectReply } from '../http/http-reply.ts';

/** Where and how an authorization response goes. */
export interface RedirectTarget {
  readonly redirectUri: string;
  /** The state as it was sent, still encoded; absent when none was sent. */
  readonly rawState?: string;
  /** 303 answers a form, so that the browser turns to GET; 302 a GET. */
  readonly status: 302 | 303;
}

/** Adds parameters to the query of the redirect URI and keeps the query it has (RFC 6749 §3.1.2). */
export function redirectWithQuery(to: RedirectTarget, parameters: Readonly<Record<string, string>>): HttpReply {
  const uri = to.redirectUri;
  const joint = !uri.includes('?') ? '?' : uri.endsWith('?') || uri.endsWith('&') ? '' : '&';
  return redirectReply(to.status, `${uri}${joint}${encoded(to, parameters)}`);
}

/** Puts parameters into the fragment, where the implicit flow wants them (RFC 6749 §4.2.2). */
export function redirectWithFragment(to: RedirectTarget, parameters: Readonly<Record<string, string>>): HttpReply {
  return redirectReply(to.status, `${to.redirectUri}#${encoded(to, parameters)}`);
}

export function redirectWithError(to: RedirectTarget, error: string, description: string): HttpReply {
  return redirectWithQuery(to, { error, error_description: description });
}

/** The state goes back in the very bytes it came in, so that no reader of `+` or `%` can see a difference. */
function encoded(to: RedirectTarget, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(parameters).toString();
  return to.rawState === undefined ? query : `${query}&state=${toAsciiQuery(to.rawState)}`;
}
