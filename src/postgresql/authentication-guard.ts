import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../platform/connect-error.ts';
import { isLoopbackPeer } from '../platform/loopback-host.ts';
import type { PostgresqlEndpoint } from './endpoint.ts';
import { verifiesServerIdentity } from './ssl-options.ts';

/** How the server requested the password; `none`: the server did not request it. */
export type PostgresqlAuthenticationMethod = 'none' | 'password' | 'md5' | 'scram-sha-256' | 'scram-sha-256-plus';

interface AuthenticationGuard {
  /**
   * Must be called with each authentication request, before the client responds. Throws a ConnectError for a request to
   * which the client must not respond.
   */
  check(code: number, body: Buffer): void;
  method(): PostgresqlAuthenticationMethod;
  /** Whether SCRAM has begun and has no result yet; an error of the server is then about the channel binding. */
  isScramOpen(): boolean;
}

/**
 * Checks that the authentication requests of a server have an order that the protocol allows.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP
 * @param maySendCleartextPassword false: a request for the password in clear text is refused
 * @param bindsChannel SCRAM-SHA-256-PLUS is used where the server offers it
 * @param trustsServer false: a proof with few iterations is refused
 */
export function createPostgresqlAuthenticationGuard(
  maySendCleartextPassword: () => boolean,
  bindsChannel: boolean,
  trustsServer: boolean,
): AuthenticationGuard {
  let method: PostgresqlAuthenticationMethod = 'none';
  let last: number | undefined;
  return {
    method: () => method,
    isScramOpen: () => last === codes.sasl || last === codes.saslContinue,
    check(code, body) {
      if (code < 0) throw outOfOrder(undefined);
      const before = last;
      last = code;
      if (!(allowedAfter.get(before) ?? noCodes).includes(code) && isKnown(code)) throw outOfOrder(before);
      if (code === codes.cleartext) {
        if (!maySendCleartextPassword()) throw cleartextRefused();
        method = 'password';
      }
      if (code === codes.md5) method = 'md5';
      if (code === codes.sasl) {
        const isOffered = body.toString('latin1').split('\0').includes('SCRAM-SHA-256-PLUS');
        method = bindsChannel && isOffered ? 'scram-sha-256-plus' : 'scram-sha-256';
      }
      if (code === codes.saslContinue && !trustsServer) {
        // The smallest of several, because the package pg takes one of them.
        const pieces = body.toString('latin1').split(',');
        const counts = pieces.map((piece) => Number(/^i=0*(\d+)/.exec(piece)?.[1] ?? leastIterations));
        const iterations = Math.min(...counts);
        if (iterations < leastIterations) throw weakScramRefused(iterations);
      }
    },
  };
}

/**
 * Whether the password may be sent in clear text: only to a server whose identity is certain.
 * @param peer the address that the socket is connected to
 */
export function maySendCleartextPassword(source: PostgresqlEndpoint, peer: string | undefined): boolean {
  return isTrustedServer(source) || isLoopbackPeer(peer);
}

/** Whether nothing that the server receives can harm: its certificate was verified, or there is no password to protect. */
export function isTrustedServer({ ssl, verify, password, allowCleartextPassword }: PostgresqlEndpoint): boolean {
  const isVerified = ssl === 'require' && verifiesServerIdentity(verify);
  return password === undefined || allowCleartextPassword === true || isVerified;
}

/**
 * The server chooses the number of iterations, and with one of 1 the proof is as good as a plain hash of the password.
 * https://www.rfc-editor.org/rfc/rfc7677#section-4
 */
const leastIterations = 4096;

/**
 * The value of require_auth with which libpq (16 and newer) refuses a password in clear text if this program does;
 * undefined if clear text is allowed.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-REQUIRE-AUTH
 */
export function getLibpqRequireAuthValue(source: PostgresqlEndpoint): string | undefined {
  const peer = source.address ?? (source.host === 'localhost' ? '127.0.0.1' : source.host);
  return maySendCleartextPassword(source, peer) ? undefined : '!password';
}

const codes = { ok: 0, cleartext: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

function isKnown(code: number): boolean {
  return Object.values<number>(codes).includes(code);
}

/** The authentication requests that may follow each request; the package pg reports unknown requests. */
const allowedAfter: ReadonlyMap<number | undefined, readonly number[]> = new Map([
  [undefined, [codes.ok, codes.cleartext, codes.md5, codes.sasl]],
  [codes.cleartext, [codes.ok]],
  [codes.md5, [codes.ok]],
  [codes.sasl, [codes.saslContinue]],
  [codes.saslContinue, [codes.saslFinal]],
  [codes.saslFinal, [codes.ok]],
]);
const noCodes: readonly number[] = [];

/** A server that ends SCRAM early does not prove that it knows the password. */
function outOfOrder(before: number | undefined): DatabaseConnectError {
  const isScram = before === codes.sasl || before === codes.saslContinue;
  return isScram
    ? new DatabaseConnectError(
        'startup',
        clientSideDatabaseErrorCodes.serverProof,
        'the server did not prove that it knows the password (SCRAM)',
      )
    : new DatabaseConnectError(
        'startup',
        clientSideDatabaseErrorCodes.protocol,
        'the server repeats its authentication request',
      );
}

function weakScramRefused(iterations: number): DatabaseConnectError {
  return new DatabaseConnectError(
    'startup',
    clientSideDatabaseErrorCodes.weakScram,
    `the server requests SCRAM with ${iterations} iterations, fewer than ${leastIterations}, and its certificate was not verified`,
  );
}

function cleartextRefused(): DatabaseConnectError {
  return new DatabaseConnectError(
    'startup',
    clientSideDatabaseErrorCodes.cleartextPassword,
    'the server requests the password in clear text, and its certificate was not verified',
  );
}
