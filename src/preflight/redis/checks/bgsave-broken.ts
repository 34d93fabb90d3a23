import { isAtLeast, serverVersion } from '../../../redis/version.ts';
import { fail, pass, warn } from '../../finding.ts';
import { known, maybe } from '../ask.ts';
import { type Config, dataFolder, replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { setting } from '../fixes.ts';

export const bgsaveBroken = check({
  id: 'bgsave-broken',
  title: 'the last BGSAVE succeeded',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: { server: info, settings: maybe(replication), folder: maybe(dataFolder) },
  judge({ server, settings, folder }) {
    if (server.get('rdb_last_bgsave_status') !== 'err')
      return pass(server.get('rdb_last_bgsave_status') ?? 'no BGSAVE yet');
    const told = known<Config, undefined>(settings, undefined)?.get('repl-diskless-sync');
    const version = serverVersion(server);
    // 7.0 turned it on; a Valkey never had it off.
    const isDiskless =
      told === undefined
        ? version?.flavor === 'valkey' || (version !== undefined && isAtLeast(version, 7, 0))
        : told === 'yes';
    const directory = known<Config, undefined>(folder, undefined)?.get('dir');
    const observed = `rdb_last_bgsave_status:err${directory === undefined ? '' : `, dir ${directory}`}`;
    const disk = `Look at the log for the reason: a full disk, a folder that is gone or not writable${directory === undefined ? '' : ` (${directory})`}, or a fork that failed.`;
    if (isDiskless) {
      return warn(observed, {
        required: 'ok',
        detail: `repl-diskless-sync is ${told ?? 'yes by default'}, so the copy for the target needs no disk; if it was the fork that failed, that fails again.`,
        fix: { text: disk },
      });
    }
    return fail(['continuous'], observed, {
      required: 'ok, or repl-diskless-sync yes',
      detail: `repl-diskless-sync is ${told ?? 'no by default'}: the source logs \`SYNC failed. BGSAVE child returned an error\`, and the target begins again, for ever.`,
      fix: setting('repl-diskless-sync', 'yes', told ?? 'no', server, `${disk} Or copy without the disk.`),
    });
  },
});
