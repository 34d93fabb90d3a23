import type { PreflightOptions } from '../../../src/db/preflight/options.ts';
import type { RedisEndpoint } from '../../../src/redis/endpoint.ts';
import type { RedisOptions, RedisServer } from '../../fixtures/redis.ts';
import type { BestMethod } from '../row.ts';

export interface Prepared {
  /** Where the application of this source writes, if not to it: a replica has a primary, a cluster several. */
  readonly primaries?: readonly RedisServer[];
  end?(): Promise<void>;
}

export interface RedisCase {
  readonly name: string;
  readonly verdict: BestMethod;
  readonly reasons?: readonly string[];
  /** Findings that leave the verdict unproven. */
  readonly unproven?: readonly string[];
  readonly quick?: true;
  /** False where this machine lacks the program or the address that the case needs. */
  readonly possible?: boolean;
  /** Redis 7.0 unless told. */
  readonly source?: RedisOptions;
  /** Valkey 8 unless told. */
  readonly target?: (source: RedisServer) => RedisOptions;
  /** Keys in these databases; 0 and 3 unless told. */
  readonly filled?: readonly number[];
  /** Of the default user, whom the application is. */
  readonly password?: string;
  readonly connection?: Partial<RedisEndpoint>;
  /** When the keys are there. */
  readonly last?: readonly (readonly string[])[];
  readonly before?: (source: RedisServer) => Promise<Prepared>;
  readonly options?: Partial<PreflightOptions>;
  /** The fix script of the report is run first; verdict and result are those after it. */
  readonly fixes?: {
    /** The verdict before the script. */
    readonly verdict: BestMethod;
    /** A person removes the comment marks of the optional part, too. */
    readonly optional?: true;
    /** Keys that the application writes while the case runs. */
    readonly written?: readonly string[];
  };
  readonly differs?: { readonly truth: BestMethod; readonly why: string };
}
