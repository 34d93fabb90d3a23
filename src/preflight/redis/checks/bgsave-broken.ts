import type { Info } from '../../../redis/info.ts';
import { type Fix, fail, pass, warn } from '../../finding.ts';
import { bytesText } from '../../formats/shared.ts';
import { known, maybe } from '../ask.ts';
import { type Config, dataFolder, replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { disklessOf } from '../diskless.ts';
import { setting } from '../fixes.ts';
import { loadOf } from '../load.ts';

export const bgsaveBroken = check({
  id: 'bgsave-broken',
  title: 'the last BGSAVE succeeded',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: { server: info, settings: maybe(replication), folder: maybe(dataFolder) },
  judge({ server, settings, folder }, _ground, wish) {
    const status = server.get('rdb_last_bgsave_status') ?? 'no BGSAVE yet';
    const { told, isDiskless } = disklessOf(settings, server);
    const disk = diskTrouble(server, isDiskless, wish.sourceDiskFree);
    if (status !== 'err') {
      return disk === undefined
        ? pass(status)
        : warn(disk, {
            required: 'room for a copy of the data, or repl-diskless-sync yes',
            detail:
              'The copy for the target is written to a file first: `Write error saving DB on disk: No space left on device`.',
            fix: cure(told, server, 'Free space in the folder of the server, or copy without the disk.'),
          });
    }
    const directory = known<Config, undefined>(folder, undefined)?.get('dir');
    const observed = `rdb_last_bgsave_status:err${directory === undefined ? '' : `, dir ${directory}`}`;
    const look = `Look at the log for the reason: a full disk, a folder that is gone or not writable${directory === undefined ? '' : ` (${directory})`}, or a fork that failed.`;
    if (isDiskless) {
      return warn(observed, {
        required: 'ok',
        detail: `repl-diskless-sync is ${told ?? 'yes by default'}, so the copy for the target needs no disk; if it was the fork that failed, that fails again.`,
        fix: { text: look },
      });
    }
    return fail(['continuous'], observed, {
      required: 'ok, or repl-diskless-sync yes',
      detail: `repl-diskless-sync is ${told ?? 'no by default'}: the source logs \`SYNC failed. BGSAVE child returned an error\`, and the target begins again, for ever.`,
      fix: cure(told, server, `${look} Or copy without the disk.`),
    });
  },
});

/** A dump takes at most about what the data takes in memory. */
function diskTrouble(server: Info, isDiskless: boolean, free: number | undefined): string | undefined {
  const bytes = loadOf(server)?.bytes;
  if (isDiskless || free === undefined || bytes === undefined || bytes <= free) return undefined;
  return `${bytesText(free)} free on the disk for ${bytesText(bytes)} of data`;
}

/** Without CONFIG nobody can change it there, and nobody knows what it was. */
function cure(told: string | undefined, server: Info, text: string): Fix {
  return told === undefined ? { text } : setting('repl-diskless-sync', 'yes', told, server, text);
}
