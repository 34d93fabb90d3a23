import type { SourceAddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { PreflightQueryResult } from '../query.ts';
import type { RedisKeySample } from './key-sample.ts';

/** Facts about a Redis source besides the query results: the connection and the measurements. */
export interface RedisSourceFacts {
  readonly host: string;
  readonly port: number;
  /** The ACL user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
  /** Whether a user name was given without a password, so that the name was not used. */
  readonly isUsernameUnused?: boolean | undefined;
  readonly ssl: boolean;
  readonly address: SourceAddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** Why the connection broke before every query had a reply; undefined if it did not break. */
  readonly broken: string | undefined;
  /** The error that broke the connection when all queries were sent at once, but not when they were sent one by one. */
  readonly pipelineFailure?: string | undefined;
  /** The BUSY error of a server that runs a script; undefined if no such error was received. */
  readonly busy: string | undefined;
  /** The activity from two replies to INFO; undefined if it could not be measured. */
  readonly rate: RedisActivityRate | undefined;
  readonly sample: PreflightQueryResult<RedisKeySample>;
  readonly renamed: PreflightQueryResult<RenamedRedisWriteCommands>;
  /** The reply to the PSYNC of `--probe`; undefined if PSYNC was not sent. */
  readonly probe: PsyncProbeResult | undefined;
}

/** Write commands that exist only under another name (rename-command). */
export interface RenamedRedisWriteCommands {
  /** Names of the renamed commands that were called since the server started. */
  readonly called: readonly string[];
  /** Names of the renamed commands that were not called since the server started. */
  readonly uncalled: readonly string[];
}

export type RedisConnectionResult =
  | {
      readonly kind: 'connected';
      /**
       * `needless`: a password was given, but the server has none; `open`: no password was given and none is required.
       */
      readonly auth: 'password' | 'needless' | 'open';
      /** The server's reply to AUTH if the server requires no password. */
      readonly authReply?: string;
      /** An error in the reply to PING that does not end the session: LOADING, MASTERDOWN, MISCONF, NOPERM. */
      readonly notice?: { readonly code: string; readonly message: string };
    }
  /** `code`: the first word of the server's error, a code of the operating system, or one of `clientSideDatabaseErrorCodes`. */
  | {
      readonly kind: 'refused';
      readonly phase: 'network' | 'tls' | 'startup';
      readonly code: string;
      readonly message: string;
    };

/** Average activity of the server per second: written bytes, and evicted and expired keys. */
export interface RedisActivityRate {
  /** Bytes that are written per second; undefined if the server does not report them. */
  readonly writes: number | undefined;
  /**
   * How the source measured the bytes in `writes`: `stream`: bytes of the replication stream; `writes`: received bytes
   * of commands, most of them writes; `network`: received bytes of any kind.
   */
  readonly source: 'stream' | 'writes' | 'network';
  readonly evicted: number;
  readonly expired: number;
}

export type PsyncProbeResult =
  | { readonly kind: 'accepted'; readonly reply: string; readonly copy: PsyncCopyStartResult }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Whether the copy began after PSYNC was accepted; the source may fail to fork or to write the RDB file. */
export type PsyncCopyStartResult =
  | { readonly kind: 'started' }
  /** `reason` is a clause: `the server closed the connection`. */
  | { readonly kind: 'failed' | 'late'; readonly reason: string };
