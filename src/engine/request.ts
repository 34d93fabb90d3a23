import { CliError } from '../errors.ts';
import { type PostgresSource, readSource as readPostgres } from '../postgresql/source.ts';
import { type RedisSource, readSource as readRedis } from '../redis/source.ts';
import { Secret } from '../secret.ts';

/** The source of an online migration request (spec §2), field by field as it was sent. */
export interface RequestedSource {
  readonly host: string;
  readonly port?: number;
  readonly dbname?: string;
  readonly username?: string;
  readonly password?: string;
  readonly disableSsl: boolean;
}

export type ReadRequest<S> =
  | { readonly ok: true; readonly source: S }
  | { readonly ok: false; readonly message: string };

export function readPostgresRequest(asked: RequestedSource): ReadRequest<PostgresSource> {
  return read(asked, (password) => {
    const { host, port, dbname, username, disableSsl } = asked;
    const words = { host, port: port === undefined ? undefined : String(port), dbname, username, disableSsl };
    const { source } = readPostgres(words, () => undefined);
    return password === undefined ? source : { ...source, password };
  });
}

export function readRedisRequest(asked: RequestedSource): ReadRequest<RedisSource> {
  return read(asked, (password) => {
    const { host, port, username, disableSsl } = asked;
    // An address says itself whether it wants TLS, and only a contradiction is wrong.
    return readRedis({ host, port, username, password, disableSsl }).source;
  });
}

function read<S>({ password }: RequestedSource, make: (password: Secret | undefined) => S): ReadRequest<S> {
  try {
    return { ok: true, source: make(password === undefined || password === '' ? undefined : new Secret(password)) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { ok: false, message: `${error.message}.` };
  }
}
