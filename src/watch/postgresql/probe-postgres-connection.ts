import { ConnectError } from '../../platform/connect-error.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { ConnectionProbe } from '../connection-probe.ts';
import { describeCertificate, resolveAddresses } from '../probe-details.ts';
import type { WatchLimits } from '../watch-limits.ts';

export interface PostgresProbeOptions {
  readonly source: PostgresqlSource;
  readonly limits: WatchLimits;
  readonly signal: AbortSignal;
}

/** Opens a connection and closes it without a statement. */
export async function probePostgresConnection({
  source,
  limits,
  signal,
}: PostgresProbeOptions): Promise<ConnectionProbe> {
  const addresses = await resolveAddresses(source.host);
  try {
    const options = { dbname: source.dbname, limit: limits.pollTimeout, signal, applicationName: 'cloudctl-watch' };
    const session = await connectPostgresql(source, options);
    await session.end();
    return { addresses, certificate: describeCertificate(session.tls), refused: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { addresses, certificate: undefined, refused: { code: error.code, message: error.message } };
  }
}
