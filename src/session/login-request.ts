import type { OAuthFlow } from '../oauth/authorization-url.ts';

/** What a person asked for when logging in. */
export interface LoginRequest {
  readonly flow: OAuthFlow;
  /** undefined: the parameter is left out, which means `read`. */
  readonly scope: string | undefined;
  readonly prompt: string | undefined;
  /** First 6 characters of the account's UUID. */
  readonly accountHint: string | undefined;
  /** The account it has to be, where it is known whole; another is refused, and so is one that is not named. */
  readonly accountUuid?: string | undefined;
  readonly pkce: boolean;
  /** false with `--paste`: no listener, the redirect's address is pasted. */
  readonly listen: boolean;
  /** Milliseconds. */
  readonly limit: number;
}
