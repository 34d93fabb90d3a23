import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { QueryResult } from '../query.ts';
import type { KeySample } from './key-sample.ts';

/** What is known besides the values of queries: the connection, and what was measured. */
export interface RedisSourceFacts {
  readonly host: string;
  readonly port: number;
  /** The user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
  /** A user name was given without a password, so it was not used. */
  readonly isUsernameUnused?: boolean | undefined;
  readonly ssl: boolean;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** Why the connection broke before every query had a reply; undefined: it did not. */
  readonly broken: string | undefined;
  /** What broke the connection when all queries were sent at once, and not one by one. */
  readonly pipelineFailure?: string | undefined;
  /** The BUSY error of a server that runs a script; undefined: none was received. */
  readonly busy: string | undefined;
  /** From two replies to INFO; undefined: could not be measured. */
  readonly rate: RedisActivityRate | undefined;
  readonly sample: QueryResult<KeySample>;
  readonly renamed: QueryResult<RenamedCommands>;
  /** `--probe`: the reply to PSYNC; undefined: not sent. */
  readonly probe: PsyncProbeResult | undefined;
}

/** Write commands that exist under another name only (rename-command). */
export interface RenamedCommands {
  /** Names of those that were called since the server was started. */
  readonly called: readonly string[];
  /** Names of those that were not called since then. */
  readonly uncalled: readonly string[];
}

export type RedisConnectionResult =
  | {
      readonly kind: 'connected';
      /** `needless`: a password was given and the server has none; `open`: none was given and none is required. */
      readonly auth: 'password' | 'needless' | 'open';
      /** The reply to a needless password. */
      readonly authReply?: string;
      /** An error reply to PING that does not end the session: LOADING, MASTERDOWN, MISCONF, NOPERM. */
      readonly notice?: { readonly code: string; readonly message: string };
    }
  /** `code`: the first word of the server's error, a code of the operating system, or one of `connectErrorCodes`. */
  | {
      readonly kind: 'refused';
      readonly phase: 'network' | 'tls' | 'startup';
      readonly code: string;
      readonly message: string;
    };

/** What happens in one second. */
export interface RedisActivityRate {
  /** Bytes of the replication stream; undefined: not reported. */
  readonly writes: number | undefined;
  /** `stream`: measured on the replication stream; `writes`: received bytes, most of them writes; `network`: received bytes of any kind. */
  readonly source: 'stream' | 'writes' | 'network';
  readonly evicted: number;
  readonly expired: number;
}

export type PsyncProbeResult =
  | { readonly kind: 'accepted'; readonly reply: string; readonly copy: PsyncCopyResult }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Whether the copy began, after PSYNC was accepted: the source may fail to fork or to write the file. */
export type PsyncCopyResult =
  | { readonly kind: 'started' }
  /** `reason` is a clause: `the server closed the connection`. */
  | { readonly kind: 'failed' | 'late'; readonly reason: string };
