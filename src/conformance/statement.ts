import type { ServerUnderTest } from './server-under-test.ts';

/**
 * What a statement needs to be played. `client`: client ID and callback URL; `secret`: the client secret; `token`: an access
 * token that may read; `writes`: permission to create, change and revoke; `consent`: a person who authorizes, or the consent
 * script of the sandbox; `grant`: tokens that may be used up, by consent or by a given refresh token; `cluster`: the UUID of a database cluster; `sandbox`: the admin API of the sandbox, for its clock and
 * its control panel.
 */
export type ConformanceNeed = 'client' | 'secret' | 'token' | 'writes' | 'consent' | 'grant' | 'cluster' | 'sandbox';

interface NumberedStatement {
  /** The number in the list of statements of the specification; a letter follows when one statement is played in parts. */
  readonly number: string;
  readonly section: string;
  /** What the server does. */
  readonly text: string;
}

/** A statement of the specification about the server. `play` throws ConformanceDifferenceError when the server breaks it. */
export interface TestableConformanceStatement extends NumberedStatement {
  readonly needs: readonly ConformanceNeed[];
  /**
   * When the statement is played: 0 (default), 1 for a second use of a token, for which a server may end the whole grant, and 2
   * for a revocation. A given refresh token is the only grant then.
   */
  readonly turn?: 0 | 1 | 2;
  readonly play: (server: ServerUnderTest) => Promise<void>;
}

/** A statement that no request to a server can test. */
export interface UntestableConformanceStatement extends NumberedStatement {
  readonly untestable: string;
}

export type ConformanceStatement = TestableConformanceStatement | UntestableConformanceStatement;

/** What a server does in each case of a choice that the specification leaves open, such as `wrong client secret: 401`. */
export type SpecGapObservations = Readonly<Record<string, string>>;

/** Observes which choice a server makes where the specification leaves one open. */
export interface SpecGapProbe {
  /** The id of the choice on docs/open-choices.md. */
  readonly id: string;
  readonly needs: readonly ConformanceNeed[];
  readonly observe: (server: ServerUnderTest) => Promise<SpecGapObservations>;
}
