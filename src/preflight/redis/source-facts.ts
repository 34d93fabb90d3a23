import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { KeySample } from './key-sample.ts';
import type { RedisQueryResult } from './query.ts';

/** What is known beside the answers: the way in, and what was watched. */
export interface RedisSourceFacts {
  readonly host: string;
  readonly port: number;
  /** The user we are: `default` unless AUTH was said with another name. */
  readonly user: string;
  /** A name was given without a password, and not used. */
  readonly isUsernameUnused?: boolean | undefined;
  readonly ssl: boolean;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** Why the connection broke while questions were open; undefined: it held. */
  readonly broken: string | undefined;
  /** What broke it once, when all was asked together. */
  readonly pipelineFailure?: string | undefined;
  /** The words of a server that a script holds up (BUSY); undefined: none was seen. */
  readonly busy: string | undefined;
  /** Two readings of INFO; undefined: not possible. */
  readonly rate: RedisActivityRate | undefined;
  readonly sample: RedisQueryResult<KeySample>;
  /** Writing commands that were called since the start and that no command is called: rename-command gave them other names. */
  readonly renamed: RedisQueryResult<readonly string[]>;
  /** `--probe`: what PSYNC itself said; undefined: not tried. */
  readonly probe: PsyncProbeResult | undefined;
}

export type RedisConnectionResult =
  | {
      readonly kind: 'entered';
      readonly auth: 'password' | 'needless' | 'open';
      readonly authReply?: string;
      /** The error PING got though we are in: LOADING, MASTERDOWN, MISCONF. */
      readonly notice?: { readonly code: string; readonly message: string };
    }
  /** `code` is the first word of the server's error, one of the system, or one of ours; `message` the words, cleaned. */
  | {
      readonly kind: 'refused';
      readonly phase: 'network' | 'tls' | 'startup';
      readonly code: string;
      readonly message: string;
    };

/** What happens in a second. */
export interface RedisActivityRate {
  /** Bytes of the replication stream; undefined: the server does not tell. */
  readonly writes: number | undefined;
  /** `stream`: measured on the replication stream; `writes`: what came in, most of it writes; `network`: the same, of whatever kind. */
  readonly source: 'stream' | 'writes' | 'network';
  readonly evicted: number;
  readonly expired: number;
}

export type PsyncProbeResult =
  | { readonly kind: 'accepted'; readonly reply: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };
