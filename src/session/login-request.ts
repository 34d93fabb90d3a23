import type { OAuthFlow } from '../oauth/authorization-url.ts';

/** The options of one login. */
export interface LoginRequest {
  readonly flow: OAuthFlow;
  /** undefined: the parameter is omitted, which means `read` (spec.md §4.1). */
  readonly scope: string | undefined;
  readonly prompt: string | undefined;
  /** First 6 characters of the account's UUID. */
  readonly accountHint: string | undefined;
  /** The complete UUID of the expected account. Another account is refused, and so is a grant that names none. */
  readonly accountUuid?: string | undefined;
  /** The expected context: `personal` or the UUID of a team. Another one is refused, and so is a grant that names no account. */
  readonly team?: string | undefined;
  readonly pkce: boolean;
  /** false with `--paste`: nothing is bound, and the redirect URL is pasted. */
  readonly listen: boolean;
  /** Time limit for the response, in milliseconds. */
  readonly limit: number;
}
