import type { ActorIdentity } from '../base/identity.ts';
import type { RefusedHints } from './api-response.ts';
import type { ApiClient } from './client.ts';
import type { Waits } from './waits.ts';

/** Who a command acts as, on which server. Nothing is read before it is asked for; a wrong profile is an error then. */
export interface Actor {
  /** The client of the resource API, opened once. */
  readonly api: () => Promise<ApiClient>;
  /** Origin of the resource API; undefined if the profile names none. */
  readonly baseOrigin: () => string | undefined;
  /** What is known without a request: the account of the stored session; of another token only the origin of the API. */
  readonly storedIdentity: () => Promise<ActorIdentity>;
  /** Reads the account from the service if the session does not know it. */
  readonly identity: (waits: Waits) => Promise<ActorIdentity>;
  /** As `identity`, but what cannot be read stays unknown. */
  readonly identityIfAvailable: (waits: Waits) => Promise<ActorIdentity>;
  /** The account in words, with names where they are known, such as `ada@example.com, team Harbour Works`. */
  readonly describe: (identity: ActorIdentity) => string;
  /** The same for the question of a confirmation: the account of a token of no session is read from the service. */
  readonly describeForPrompt: () => Promise<string>;
  readonly loginHints: () => RefusedHints;
  /** How to act as the account that started a batch. */
  readonly loginHint: (batch: { readonly account?: string | undefined; readonly team?: string | undefined }) => string;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: () => readonly string[];
  /** A command of this program for the same profile and servers; the words are quoted for a shell. */
  readonly command: (...words: readonly string[]) => string;
}
