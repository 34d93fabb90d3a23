import type { Info } from '../../redis/info.ts';
import { isAtLeast, serverVersion } from '../../redis/version.ts';
import { type Answer, known } from './ask.ts';
import type { Config } from './asks/config.ts';

export interface Diskless {
  /** `repl-diskless-sync` as the server tells it; undefined: hidden. */
  readonly told: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica gets its first copy without a file on the disk of the source. */
export function disklessOf(settings: Answer<Config>, server: Info | undefined): Diskless {
  const told = known<Config, undefined>(settings, undefined)?.get('repl-diskless-sync');
  if (told !== undefined) return { told, isDiskless: told === 'yes' };
  // 7.0 turned it on; a Valkey never had it off.
  const version = server === undefined ? undefined : serverVersion(server);
  return { told, isDiskless: version?.flavor === 'valkey' || (version !== undefined && isAtLeast(version, 7, 0)) };
}
