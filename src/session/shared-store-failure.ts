import { DatabaseConnectError, DatabaseError } from '../platform/connect-error.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';

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
    return {
      kind: 'unavailable',
      why: 'shared',
      reason: `${location}: ${error.message}`,
      ...(hint === undefined ? {} : { hint }),
    };
  }
}

const createSchema = 'create the schema: `cloudctl auth share init`';
const hints: Readonly<Record<string, string>> = {
  '3F000': createSchema,
  '42883': createSchema,
  '42501': 'grant the role of CLOUDCTL_STORE_URL the role cloudctl_share_member',
};
