import type { BrowserSession } from './records.ts';

/** Makes a CSRF token good for one showing of one form; of many open tabs the oldest are forgotten. */
export function addCsrfToken(session: BrowserSession, form: string, token: string): BrowserSession {
  return { ...session, forms: [...session.forms, { token, form }].slice(-AT_MOST) };
}

/** The session without the token; undefined unless the token is unused and was made for the form. */
export function consumeCsrfToken(session: BrowserSession, form: string, token: string): BrowserSession | undefined {
  const forms = session.forms.filter((one) => one.token !== token || one.form !== form);
  return forms.length === session.forms.length ? undefined : { ...session, forms };
}

const AT_MOST = 64;
