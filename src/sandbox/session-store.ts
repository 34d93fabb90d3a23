import { type Random, randomString } from './random.ts';
import type { BrowserSession } from './records.ts';
import type { Table } from './state/tables.ts';

/** The sessions of browsers that are signed in, each with the CSRF tokens of the forms that it was shown. */
export class SessionStore {
  readonly #sessions: Table<BrowserSession>;
  readonly #random: Random;

  constructor(sessions: Table<BrowserSession>, random: Random) {
    this.#sessions = sessions;
    this.#random = random;
  }

  start(person: string): BrowserSession {
    const session: BrowserSession = { id: randomString(this.#random, 43), person, forms: [] };
    this.#sessions.put(session);
    return session;
  }

  get(id: string): BrowserSession | undefined {
    return this.#sessions.get(id);
  }

  end(id: string): void {
    this.#sessions.drop(id);
  }

  /** Creates a CSRF token for one submission of the form. A session keeps its latest 64 CSRF tokens. */
  issueToken({ id }: BrowserSession, form: string): string {
    const token = randomString(this.#random, 32);
    const session = this.get(id);
    if (session !== undefined)
      this.#sessions.put({ ...session, forms: [...session.forms, { token, form }].slice(-MAX_TOKENS) });
    return token;
  }

  /** Whether the CSRF token is unused and was issued for this form; the call consumes the token. */
  consumeToken({ id }: BrowserSession, form: string, token: string): boolean {
    const session = this.get(id);
    const forms = session?.forms.filter((one) => one.token !== token || one.form !== form);
    if (session === undefined || forms === undefined || forms.length === session.forms.length) return false;
    this.#sessions.put({ ...session, forms });
    return true;
  }
}

const MAX_TOKENS = 64;
