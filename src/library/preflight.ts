import { readFileSync } from 'node:fs';
import { CliError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { nearestWord } from '../cli/values.ts';
import { createRedisEngine, runPostgresqlPreflight } from '../db/preflight/engines.ts';
import { isTargetVersion, type PreflightOptions, runPreflight } from '../db/preflight/index.ts';
import { systemClock } from '../platform/waiting.ts';
import { parsePostgresqlEndpoint } from '../postgresql/endpoint.ts';
import { parseRedisEndpoint } from '../redis/endpoint.ts';
import type { PreflightMethod, PreflightResult } from './preflight-result.ts';

export type * from './preflight-result.ts';

export interface PreflightRunOptions {
  /** Overrides the password of the URL. No password is included in the report or in an error. */
  readonly password?: string;
  /** `continuous` (default) replicates until the cut-over; `dump` (PostgreSQL) and `scan` (Redis) copy once. */
  readonly method?: PreflightMethod;
  /** Version of the target, such as `17` or `valkey-8`. Without this option the report has an open premise. */
  readonly targetVersion?: string;
  /** Extensions that the target provides besides the trusted ones of its release: `name=version`, or `name` (PostgreSQL). */
  readonly targetExtensions?: readonly string[];
  /** Databases that are not migrated (PostgreSQL). */
  readonly ignoreDatabases?: readonly string[];
  /** Ids of checks whose findings do not block the method. */
  readonly accept?: readonly string[];
  /** Warnings and open premises block the method (default: false). */
  readonly strict?: boolean;
  /** Whether checks are permitted to write to the source, or to make a Redis server fork a process (default: false). */
  readonly probe?: boolean;
  /** Whether the source may have a private address, because the migration does not go over the internet (default: false). */
  readonly allowPrivateAddress?: boolean;
  /** Connect without TLS (default: false). */
  readonly disableTls?: boolean;
  /** A PEM file of CA certificates, with which the certificate of the source is verified. */
  readonly caFile?: string;
  /** Milliseconds for the whole preflight (default: 60 s). What was not checked until then is `unknown`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Why no preflight was made: the options are invalid, or the signal was aborted. Problems of the source are findings in the
 * report and throw no error.
 */
export class PreflightError extends Error {
  override readonly name = 'PreflightError';
  readonly code: 'invalid_options' | 'cancelled';

  constructor(code: PreflightError['code'], message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * Checks whether a database can be migrated, with read-only statements. No environment variable and no password file is read.
 * @param source `postgres://USER@HOST:PORT/DBNAME` or `redis://HOST:PORT` (`rediss://` for TLS)
 * @throws PreflightError
 */
export async function preflight(source: string, options: PreflightRunOptions = {}): Promise<PreflightResult> {
  try {
    return await run(source, options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const code = error.code === 'cancelled' ? 'cancelled' : 'invalid_options';
    throw new PreflightError(code, [error.message, error.detail, error.hint].filter(Boolean).join('; '), error);
  }
}

async function run(source: string, options: PreflightRunOptions): Promise<PreflightResult> {
  const isRedis = /^rediss?:\/\//i.test(source);
  const { timeoutMs, signal, onProgress, password, disableTls } = options;
  const secret = password === undefined ? undefined : new Secret(password);
  const common = {
    options: runOptions(options, isRedis ? 'redis' : 'postgresql'),
    clock: systemClock,
    nearest: nearestWord,
    ...(timeoutMs === undefined ? {} : { deadline: timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
  if (isRedis) {
    const ca =
      options.caFile === undefined ? undefined : { file: options.caFile, pem: readFileSync(options.caFile, 'utf8') };
    const parsed = parseRedisEndpoint({ url: source, password: secret, ca, disableSsl: disableTls });
    return runPreflight(createRedisEngine(), { ...common, source: parsed.source });
  }
  const { source: parsed } = parsePostgresqlEndpoint(
    { source, caFile: options.caFile, disableSsl: disableTls },
    readTextFile,
  );
  return runPostgresqlPreflight({ ...common, source: { ...parsed, password: secret ?? parsed.password } });
}

function runOptions(options: PreflightRunOptions, engine: 'postgresql' | 'redis'): PreflightOptions {
  const { method = 'continuous', targetVersion } = options;
  if (method === (engine === 'redis' ? 'dump' : 'scan'))
    throw invalidOption(`method ${method} is not one of ${engine}`);
  if (targetVersion !== undefined && !isTargetVersion(targetVersion, engine))
    throw invalidOption(`targetVersion is not a version of ${engine}`);
  return {
    method,
    targetVersion,
    targetExtensions: options.targetExtensions,
    target: undefined,
    ignoreDbs: options.ignoreDatabases ?? [],
    disableSsl: options.disableTls === true,
    isOverInternet: options.allowPrivateAddress !== true,
    sourceDiskFree: undefined,
    accept: options.accept ?? [],
    strict: options.strict ?? false,
    probe: options.probe ?? false,
    now: systemClock.now(),
  };
}

function invalidOption(message: string): CliError {
  return new CliError('usage', message);
}

function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
