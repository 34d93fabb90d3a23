import { fail, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { settingOf, settingsQuery } from '../queries/settings.ts';
import { serverVersionOf } from '../source-facts.ts';

export const standbySourceCheck = serverCheck({
  id: 'standby-source',
  title: 'the source is a primary',
  headline: 'The source is a standby',
  severity: { continuous: 'blocker', dump: 'warning' },
  needs: 'connection',
  queries: { settings: settingsQuery },
  evaluate({ settings }, facts) {
    if (facts.connection.kind !== 'entered' || !facts.connection.inRecovery) return pass('primary');
    const decoding =
      serverVersionOf(facts) < 160_000
        ? ' Before version 16, a standby does not support logical decoding: "logical decoding cannot be used while in recovery".'
        : '';
    const delay = settingOf(settings, 'max_standby_streaming_delay');
    const cancelled =
      delay === '-1' || settingOf(settings, 'hot_standby_feedback') === 'on'
        ? ''
        : ` A dump query that conflicts with recovery for longer than max_standby_streaming_delay (${delay} ms) is cancelled: "canceling statement due to conflict with recovery".`;
    return fail(['continuous'], 'in recovery', {
      required: 'primary',
      detail: `A publication cannot be created on a standby: "cannot execute CREATE PUBLICATION in a read-only transaction". IDENTIFY_SYSTEM succeeds nevertheless.${decoding}${cancelled}`,
      fix: {
        by: 'the operator of the migration',
        text: `Use the primary as the source.${cancelled === '' ? '' : ' For a dump from this standby, raise max_standby_streaming_delay first.'}`,
      },
    });
  },
});
