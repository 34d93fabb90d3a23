import { isIP } from 'node:net';
import { usageError } from '../errors.ts';
import { Secret } from '../secret.ts';
import { parseRedisUrl, type RedisUrl } from './redis-url.ts';

/** Where a Redis source is and who enters it. Nothing in it was tried yet. */
export interface RedisSource {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** undefined: the default user. */
  readonly username: string | undefined;
  /** A name was given and no password, without which nobody says AUTH. It is not kept: people put a password there. */
  readonly isUsernameUnused?: boolean | undefined;
  /** The name stood alone before the @ of a URL, so that it may be a password: it is shown once it has let us in. */
  readonly isUsernameAmbiguous?: boolean | undefined;
  /** undefined: none was given. */
  readonly password: Secret | undefined;
  /** The database a URL names. A migration takes all of them, whatever it is. */
  readonly db: number | undefined;
  readonly ssl: 'require' | 'disable';
  /** Verifies the server's certificate and name; without it `require` only encrypts. */
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
  /** The address of `host` to dial, so that it is looked up once. */
  readonly address?: string | undefined;
}

export interface RedisSourceInput {
  /** `redis://` or `rediss://`; a URL in `host` is read the same way. */
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly username?: string | undefined;
  /** From standard input or a prompt: it wins over one in the URL, which wins over the environment. */
  readonly password?: Secret | undefined;
  readonly disableSsl?: boolean | undefined;
  readonly ca?: { readonly file: string; readonly pem: string } | undefined;
  readonly environment?: { readonly REDISCLI_AUTH?: string | undefined } | undefined;
}

export interface ParsedRedisSource {
  readonly source: RedisSource;
  /** The name that was left out for want of a password. */
  readonly unusedUsername?: string | undefined;
  /** `url`: other users of this machine may have seen it in the list of processes. */
  readonly passwordFrom: 'given' | 'url' | 'environment' | 'none';
}

export const defaultRedisPort = 6379;

/** The source out of what was typed. Throws a usage error for what is wrong or contradicts itself; never quotes a password. */
export function parseRedisSource(parts: RedisSourceInput): ParsedRedisSource {
  refuseSocket(parts.host);
  const inHost = parts.host?.includes('://') ?? false;
  if (inHost && parts.url !== undefined) throw usageError('--source and --host both hold a URL', 'give one of them');
  const url = inHost ? parts.host : parts.url;
  const found = url === undefined ? undefined : parseRedisUrl(url);
  const host = sameValue('host', found?.host, inHost || parts.host === undefined ? undefined : bare(parts.host));
  const port = sameValue('port', found?.port, parts.port) ?? defaultRedisPort;
  const username = nameOf(found, parts.username === '' ? undefined : parts.username);
  if (host === undefined || host === '') throw usageError('the source has no host', 'give --source redis://HOST:6379');
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw usageError(`port ${port} is no port`, 'give a number from 1 to 65535');
  }
  const ssl = sslModeOf(found?.tls, parts);
  const { password, from } = passwordOf(found?.password, parts);
  const place = { host, port, password, db: found?.db, ssl, ...(parts.ca === undefined ? {} : { ca: parts.ca }) };
  const alone = found?.isUsernameAmbiguous === true && parts.username !== username ? { isUsernameAmbiguous: true } : {};
  // It is who comes without a password.
  const isNamed = username !== undefined && username !== 'default';
  return isNamed && password === undefined
    ? {
        source: { ...place, username: undefined, isUsernameUnused: true, ...alone },
        unusedUsername: username,
        passwordFrom: from,
      }
    : { source: { ...place, username, ...alone }, passwordFrom: from };
}

/** The source with a password that came later; the name that waited for one is there again. */
export function withRedisPassword(
  { source, unusedUsername: idleName }: ParsedRedisSource,
  password: Secret | undefined,
): RedisSource {
  if (password === undefined) return source;
  const { isUsernameUnused: _isUsernameUnused, ...rest } = source;
  return { ...rest, username: source.username ?? idleName, password };
}

/** `[::1]:6379` of a source, `db.example.com:6379`. */
export function redisHostAndPort({ host, port }: Pick<RedisSource, 'host' | 'port'>): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

function refuseSocket(host: string | undefined): void {
  if (host?.startsWith('/') === true) {
    throw usageError(
      'a unix socket cannot be migrated from',
      'give host and port: the service connects over the network',
    );
  }
}

function nameOf(found: RedisUrl | undefined, part: string | undefined): string | undefined {
  if (found?.isUsernameAmbiguous === true && part !== undefined && part !== found.username) {
    throw usageError(
      `the user name is given twice: before the @ of the URL, and as ${part}`,
      'say it once; a password alone stands behind a colon, as in redis://:PASSWORD@HOST',
    );
  }
  return sameValue('user name', found?.username, part);
}

/** The same thing said twice must be the same thing. */
function sameValue<T extends string | number>(what: string, inUrl: T | undefined, part: T | undefined): T | undefined {
  if (inUrl === undefined || part === undefined || inUrl === part) return inUrl ?? part;
  throw usageError(`the ${what} is given twice: ${inUrl} in the URL and ${part}`, 'say it once');
}

function sslModeOf(tls: boolean | undefined, parts: RedisSourceInput): 'require' | 'disable' {
  if (tls === true && parts.disableSsl === true) {
    throw usageError(
      'rediss:// asks for TLS and --disable-ssl forbids it',
      'leave --disable-ssl out, or write redis://',
    );
  }
  const disabled = tls === false || parts.disableSsl === true;
  if (disabled && parts.ca !== undefined) {
    throw usageError(
      `--ca-file verifies TLS, which ${tls === false ? 'redis://' : '--disable-ssl'} turns off`,
      'write rediss:// for a server with TLS, or leave --ca-file out',
    );
  }
  return disabled ? 'disable' : 'require';
}

function passwordOf(inUrl: string | undefined, parts: RedisSourceInput) {
  if (parts.password !== undefined) return { password: parts.password, from: 'given' } as const;
  if (inUrl !== undefined) return { password: new Secret(inUrl), from: 'url' } as const;
  const environment = parts.environment?.REDISCLI_AUTH ?? '';
  if (environment !== '') return { password: new Secret(environment), from: 'environment' } as const;
  return { password: undefined, from: 'none' } as const;
}

function bare(host: string): string {
  return /^\[(.*)\]$/.exec(host)?.[1] ?? host;
}
