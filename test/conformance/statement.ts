import type { Server } from './server.ts';

/**
 * What a statement needs to be tested.
 *
 * - `client`: client ID and callback URL
 * - `secret`: the client secret
 * - `token`: an access token that may read
 * - `writes`: permission to create, change and revoke
 * - `consent`: a person who authorizes, or the consent script of the sandbox
 * - `grant`: tokens that may be used up, by consent or by a given refresh token
 * - `cluster`: the UUID of a database cluster
 * - `sandbox`: the admin API of the sandbox, for its clock and its control panel
 */
export type Need = 'client' | 'secret' | 'token' | 'writes' | 'consent' | 'grant' | 'cluster' | 'sandbox';

interface NumberedStatement {
  /** The number of the statement. A letter follows when one statement is tested in parts. */
  readonly number: string;
  /** The rule of docs/service.md, such as `S4.3`. */
  readonly rule: string;
  /** The required behaviour of the server. */
  readonly text: string;
}

/**
 * A statement about the behaviour of a server. `play` tests the server and throws
 * DifferenceError when it behaves differently.
 */
export interface TestableStatement extends NumberedStatement {
  readonly needs: readonly Need[];
  /**
   * The order of the tests: 0 (default); 1 for a second use of a token, after which a server may revoke all tokens; 2 for a
   * revocation. If the user gave a refresh token, these tests can make all tokens unusable.
   */
  readonly turn?: 0 | 1 | 2;
  readonly play: (server: Server) => Promise<void>;
}

/** A statement that no request to a server can test. */
export interface UntestableStatement extends NumberedStatement {
  readonly untestable: string;
}

export type Statement = TestableStatement | UntestableStatement;

/** What a server does in each case of a choice that the rules leave open, such as `wrong client secret: 401`. */
export type Observations = Readonly<Record<string, string>>;

/** Observes the cases one after the other. */
export async function observeInTurn<Case>(
  cases: Readonly<Record<string, Case>>,
  observe: (one: Case) => Promise<string>,
): Promise<Observations> {
  const observed: [string, string][] = [];
  for (const [name, one] of Object.entries(cases)) observed.push([name, await observe(one)]);
  return Object.fromEntries(observed);
}

/** Observes which choice a server makes where the rules leave one open. */
export interface Probe {
  /** The id of the choice on docs/open-choices.md. */
  readonly id: string;
  readonly needs: readonly Need[];
  readonly observe: (server: Server) => Promise<Observations>;
}
