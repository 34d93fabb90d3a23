import type { SandboxBrowserSession } from './records.ts';

/** Adds a CSRF token that is valid for one submission of the form. A browser session keeps its latest 64 CSRF tokens. */
export function addCsrfTokenToSession(
  session: SandboxBrowserSession,
  form: string,
  token: string,
): SandboxBrowserSession {
  return { ...session, forms: [...session.forms, { token, form }].slice(-MAX_TOKENS) };
}

/** Returns the browser session without the CSRF token; undefined when the token is unknown or belongs to another form. */
export function consumeCsrfToken(
  session: SandboxBrowserSession,
  form: string,
  token: string,
): SandboxBrowserSession | undefined {
  const forms = session.forms.filter((one) => one.token !== token || one.form !== form);
  return forms.length === session.forms.length ? undefined : { ...session, forms };
}

const MAX_TOKENS = 64;
