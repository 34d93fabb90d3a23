import { maxLeaseExcessOverNewLeaseMs } from './shared-session.ts';

/** A function that members may execute. It runs with the rights of its owner, and returns text. */
export interface SharedStoreSqlFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly declare?: string;
  readonly body: string;
}

const key = ['p_share text', 'p_profile text'];
const version = ['p_epoch bigint', 'p_sid text', 'p_gen bigint'];
const isRow = 's.share = p_share AND s.profile = p_profile';
const isVersion = `${isRow} AND s.epoch = p_epoch AND s.sid = p_sid AND s.gen = p_gen`;
/** The machines that began a refresh, without the one that reports that it has no newer record. */
const unreported = `nullif(array_to_string(
      array_remove(string_to_array(concat_ws(',', s.previous_by, s.intent_by), ','), p_by), ','), '')`;
/** Whether the row already has the version that is committed. */
const isStored = 's.epoch = excluded.epoch AND s.gen = excluded.gen';
const ifStored = (column: string, other = 'NULL'): string => `CASE WHEN ${isStored} THEN s.${column} ELSE ${other} END`;
const respond = 'RETURN cloudctl_share.snapshot(p_share, p_profile, FOUND);';
const addToLog = (event: string): string =>
  `INSERT INTO cloudctl_share.log (share, profile, at_ms, event, by, epoch, gen)
    VALUES (p_share, p_profile, cloudctl_share.now_ms(), ${event}, p_by, p_epoch, p_gen);`;

const respondWithLog = (event: string): string => `IF FOUND THEN
    ${addToLog(event)}
    RETURN cloudctl_share.snapshot(p_share, p_profile, true);
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, false);`;

/** The operations of `SharedSessionOperation`, the log and the version, in PL/pgSQL. */
export const sharedStoreSqlFunctions: readonly SharedStoreSqlFunction[] = [
  {
    name: 'read_session',
    parameters: key,
    body: 'RETURN cloudctl_share.snapshot(p_share, p_profile, true);',
  },
  {
    name: 'claim_session',
    parameters: [...key, ...version, 'p_by text', 'p_attempt text', 'p_lease_ms bigint'],
    body: `UPDATE cloudctl_share.session s SET
    holder = p_by,
    attempt = p_attempt,
    lease_ms = cloudctl_share.now_ms() + p_lease_ms,
    previous_by = CASE
      WHEN s.intent_gen IS DISTINCT FROM s.gen THEN NULL
      WHEN s.intent_attempt = p_attempt OR strpos(concat(',', s.previous_by, ','), concat(',', s.intent_by, ',')) > 0
        THEN s.previous_by
      ELSE concat_ws(',', s.previous_by, s.intent_by)
    END,
    intent_gen = s.gen,
    intent_by = p_by,
    intent_attempt = p_attempt,
    intent_ms = cloudctl_share.now_ms()
  WHERE ${isVersion} AND s.refused_gen IS DISTINCT FROM s.gen
    AND (s.holder IS NULL OR s.holder = p_by OR s.lease_ms < cloudctl_share.now_ms()
      OR s.lease_ms > cloudctl_share.now_ms() + p_lease_ms + ${maxLeaseExcessOverNewLeaseMs});
  ${respondWithLog("'claim'")}`,
  },
  {
    name: 'renew_claim',
    parameters: [...key, 'p_attempt text', 'p_lease_ms bigint'],
    body: `UPDATE cloudctl_share.session s SET lease_ms = cloudctl_share.now_ms() + p_lease_ms
  WHERE ${isRow} AND s.attempt = p_attempt AND s.holder IS NOT NULL;
  ${respond}`,
  },
  {
    name: 'release_claim',
    parameters: [...key, 'p_attempt text', 'p_unsent boolean'],
    body: `UPDATE cloudctl_share.session s SET
    holder = NULL,
    attempt = NULL,
    lease_ms = NULL,
    intent_gen = CASE WHEN p_unsent AND s.previous_by IS NULL THEN NULL ELSE s.intent_gen END,
    intent_by = CASE WHEN p_unsent THEN s.previous_by ELSE s.intent_by END,
    previous_by = CASE WHEN p_unsent THEN NULL ELSE s.previous_by END
  WHERE ${isRow} AND s.attempt = p_attempt;
  ${respond}`,
  },
  {
    name: 'commit_session',
    parameters: [...key, ...version, 'p_kid text', 'p_record text', 'p_by text', 'p_event text'],
    body: `INSERT INTO cloudctl_share.session AS s (share, profile, epoch, sid, gen, kid, active_kid, record)
  VALUES (p_share, p_profile, p_epoch, p_sid, p_gen, p_kid, p_kid, p_record)
  ON CONFLICT (share, profile) DO UPDATE SET
    epoch = excluded.epoch,
    sid = excluded.sid,
    gen = excluded.gen,
    kid = ${ifStored('kid', 'excluded.kid')},
    record = CASE WHEN ${isStored} AND s.kid <> excluded.kid THEN s.record ELSE excluded.record END,
    refused_gen = ${ifStored('refused_gen')},
    holder = ${ifStored('holder')},
    attempt = ${ifStored('attempt')},
    lease_ms = ${ifStored('lease_ms')},
    intent_gen = ${ifStored('intent_gen')},
    intent_by = ${ifStored('intent_by')},
    previous_by = ${ifStored('previous_by')}
  WHERE s.epoch < excluded.epoch
    OR (s.epoch = excluded.epoch AND s.sid = excluded.sid AND s.gen <= excluded.gen);
  changed := FOUND;
  IF changed AND NOT EXISTS (
    SELECT FROM cloudctl_share.log l WHERE l.share = p_share AND l.profile = p_profile
      AND l.epoch = p_epoch AND l.gen = p_gen AND l.event = p_event
  ) THEN
    ${addToLog('p_event')}
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, changed);`,
    declare: 'changed boolean',
  },
  {
    name: 'refuse_session',
    parameters: [...key, ...version, 'p_by text'],
    body: `UPDATE cloudctl_share.session s SET
    refused_gen = s.gen, refused_ms = cloudctl_share.now_ms(), holder = NULL, attempt = NULL, lease_ms = NULL
  WHERE ${isVersion} AND s.refused_gen IS DISTINCT FROM s.gen;
  changed := FOUND;
  IF changed THEN ${addToLog("'refused'")} END IF;
  UPDATE cloudctl_share.session s SET
    intent_gen = CASE WHEN ${unreported} IS NOT NULL THEN s.intent_gen END,
    intent_by = ${unreported},
    previous_by = NULL
  WHERE ${isVersion};
  RETURN cloudctl_share.snapshot(p_share, p_profile, changed);`,
    declare: 'changed boolean',
  },
  {
    name: 'reseal_session',
    parameters: [...key, ...version, 'p_old_kid text', 'p_kid text', 'p_record text', 'p_by text'],
    body: `UPDATE cloudctl_share.session s SET kid = p_kid, active_kid = p_kid, record = p_record
  WHERE ${isVersion} AND s.kid = p_old_kid;
  ${respondWithLog("'rotate'")}`,
  },
  {
    name: 'read_log',
    parameters: [...key, 'p_limit integer'],
    body: `RETURN (SELECT coalesce(json_agg(l), '[]'::json)::text FROM (
    SELECT at_ms, event, by, epoch, gen FROM cloudctl_share.log
    WHERE share = p_share AND profile = p_profile ORDER BY id DESC LIMIT p_limit
  ) l);`,
  },
  {
    name: 'schema_version',
    parameters: [],
    body: 'RETURN (SELECT max(version)::text FROM cloudctl_share.meta);',
  },
];
