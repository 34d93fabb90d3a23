import { formatBytes } from '../../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, sizeSetting } from '../settings.ts';

export const decodingMemCheck = declareServerCheck({
  id: 'decoding-mem',
  title: 'logical_decoding_work_mem is at least 64 MB',
  headline: 'logical_decoding_work_mem is less than 64 MB',
  severity: { continuous: 'info' },
  queries: { settings: settingsQuery },
  evaluate({ settings }) {
    // Before PostgreSQL 13, logical_decoding_work_mem does not exist: 4096 changes of a transaction are kept in memory.
    if (!settings.has('logical_decoding_work_mem')) return passOutcome('not a setting in this version');
    const bytes = sizeSetting(settings, 'logical_decoding_work_mem');
    if (bytes >= 64 * 1024 ** 2) return passOutcome(formatBytes(bytes));
    return infoOutcome(formatBytes(bytes), {
      required: 'at least 64 MB; 256 MB for large transactions',
      detail:
        'During logical decoding, changes of larger transactions are written to disk in pg_replslot, once for each replication slot.',
      fix: alterSystemFix(
        settings,
        { logical_decoding_work_mem: '256MB' },
        'Each WAL sender can use memory up to logical_decoding_work_mem.',
      ),
    });
  },
});
