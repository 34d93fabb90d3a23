import type { ListenAddress } from '../loopback/index.ts';
import type { OAuthFlow } from '../oauth/index.ts';

/** The options of one login. */
export interface OAuthLoginOptions {
  readonly flow: OAuthFlow;
  /** The requested scope; if undefined, the parameter is omitted, which means `read` (docs/service.md S3.1). */
  readonly scope: string | undefined;
  readonly prompt: string | undefined;
  /** The first 6 characters of the account's UUID. */
  readonly accountHint: string | undefined;
  /** The complete UUID of the expected account. A grant of another account is refused, and so is a grant that names no account. */
  readonly accountUuid?: string | undefined;
  /**
   * The expected context: `personal` or the UUID of a team. A grant in another context is refused, and so is a grant
   * that names no account.
   */
  readonly team?: string | undefined;
  readonly pkce: boolean;
  /** False with `--paste`: no port is bound, and the user pastes the redirect URL. */
  readonly listen: boolean;
  /** Where the listener listens instead of at the address of the callback URL. */
  readonly listenAddress?: ListenAddress | undefined;
  /** Time limit for the authorization response, in milliseconds. */
  readonly limit: number;
}
