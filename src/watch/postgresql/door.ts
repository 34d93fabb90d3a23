import { connect } from '../../postgresql/connection.ts';
import { ConnectError } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Door } from '../door.ts';
import type { Limits } from '../limits.ts';
import { addressesOf, certificateWords } from '../names.ts';

export interface DoorOptions {
  readonly source: PostgresSource;
  readonly limits: Limits;
  readonly signal: AbortSignal;
}

/** Connects anew and leaves; says nothing inside. */
export async function lookAtDoor({ source, limits, signal }: DoorOptions): Promise<Door> {
  const addresses = await addressesOf(source.host);
  try {
    const options = { dbname: source.dbname, limit: limits.poll, signal, applicationName: 'cloudctl-watch' };
    const session = await connect(source, options);
    await session.end();
    return { addresses, certificate: certificateWords(session.tls), refused: undefined };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { addresses, certificate: undefined, refused: { code: error.code, message: error.message } };
  }
}
