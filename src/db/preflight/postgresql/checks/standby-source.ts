import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { getSetting, settingsQuery } from '../queries/settings.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const standbySourceCheck = declareServerCheck({
  id: 'standby-source',
  title: 'the source is a primary',
  headline: 'The source is a standby',
  severity: { continuous: 'blocker', dump: 'warning' },
  queries: { settings: settingsQuery },
  evaluate({ settings }, facts) {
    if (facts.connection.kind !== 'entered' || !facts.connection.inRecovery) return passOutcome('primary');
    const decoding =
      sourceVersionNumber(facts) < 160_000
        ? ' Before version 16, a standby does not support logical decoding: "logical decoding cannot be used while in recovery".'
        : '';
    const delay = getSetting(settings, 'max_standby_streaming_delay');
    const cancelled =
      delay === '-1' || getSetting(settings, 'hot_standby_feedback') === 'on'
        ? ''
        : ` A dump query that conflicts with recovery for longer than max_standby_streaming_delay (${delay} ms) is cancelled: "canceling statement due to conflict with recovery".`;
    return failOutcome(['continuous'], 'in recovery', {
      required: 'primary',
      detail: `A publication cannot be created on a standby: "cannot execute CREATE PUBLICATION in a read-only transaction". IDENTIFY_SYSTEM succeeds nevertheless.${decoding}${cancelled}`,
      fix: {
        by: 'the operator of the migration',
        text: `Use the primary as the source.${cancelled === '' ? '' : ' For a dump from this standby, raise max_standby_streaming_delay first.'}`,
      },
    });
  },
});
