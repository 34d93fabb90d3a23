import type { Session } from './records.ts';

/** Makes a CSRF token good for one showing of one form; of many open tabs the oldest are forgotten. */
export function openForm(session: Session, form: string, token: string): Session {
  return { ...session, forms: [...session.forms, { token, form }].slice(-AT_MOST) };
}

/** The session without the token; undefined unless the token is unused and was made for the form. */
export function closeForm(session: Session, form: string, token: string): Session | undefined {
  const forms = session.forms.filter((one) => one.token !== token || one.form !== form);
  return forms.length === session.forms.length ? undefined : { ...session, forms };
}

const AT_MOST = 64;
