import { clientSideDatabaseErrorCodes, DatabaseConnectError, DatabaseError } from '../platform/connect-error.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import { formatCommandForProfile, type StoreErrorHint } from './suggested-commands.ts';

/** An error of the server makes the store unavailable. */
export async function catchSharedStoreUnavailable<T>(
  location: string,
  work: () => Promise<T>,
): Promise<T | SharedStoreUnavailable> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseConnectError || error instanceof DatabaseError)) throw error;
    const hint = hints[error.code];
    const reason =
      error.code === clientSideDatabaseErrorCodes.tls ? `no verified TLS: ${error.message}` : error.message;
    return {
      kind: 'unavailable',
      why: 'shared',
      reason: `${location}: ${reason}`,
      isRejected: error instanceof DatabaseError && isRejection(error),
      ...(hint === undefined ? {} : { hint }),
    };
  }
}

/** A server that shuts down (57P01 to 57P03), or whose reply is malformed, may have applied the operation. */
function isRejection({ lost, code }: DatabaseError): boolean {
  return !lost && !code.startsWith('57P') && code !== clientSideDatabaseErrorCodes.protocol;
}

const createSchema: StoreErrorHint = (profile) =>
  `create the schema: ${formatCommandForProfile(profile, 'auth share init')}`;
const usePrimary = 'set CLOUDCTL_STORE_URL to the primary server: a replica may be behind it, so it is never read';
const hints: Readonly<Record<string, StoreErrorHint>> = {
  '3F000': createSchema,
  '42883': createSchema,
  [clientSideDatabaseErrorCodes.tls]:
    'use a name of its certificate in CLOUDCTL_STORE_URL, and trust its authority: NODE_EXTRA_CA_CERTS, or sslrootcert in the URL of PostgreSQL',
  [clientSideDatabaseErrorCodes.noTls]: 'enable TLS on the server: no session is sent over a network without TLS',
  '0A000': usePrimary,
  '25006': usePrimary,
  READONLY: usePrimary,
  '42501': 'grant the user of CLOUDCTL_STORE_URL the role that `cloudctl auth share init` created for the machines',
};
