import { clientSideDatabaseErrorCodes } from '../../../platform/connect-error.ts';

/** A write to a closed connection fails with EPIPE or ECONNRESET. */
export const redisDisconnectErrorCodes: ReadonlySet<string> = new Set([clientSideDatabaseErrorCodes.closed, 'EPIPE']);
