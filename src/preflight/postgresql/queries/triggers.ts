import { catalogOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A trigger that fires where a subscription applies changes. */
export interface ApplyTrigger {
  readonly table: string;
  readonly name: string;
  /** ENABLE ALWAYS; otherwise ENABLE REPLICA, which does not fire in a session of an application. */
  readonly always: boolean;
  /** Its function does more than give the row back. */
  readonly acts: boolean;
  /** Nothing is applied to its table, unless that is made logged first. */
  readonly unlogged: boolean;
}

/**
 * Applied changes come row by row, and the copy as one INSERT; nothing comes to foreign tables. The bits of tgtype: 1 FOR EACH
 * ROW, 2 BEFORE, 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE. Before a DELETE there is no NEW to give back, and OLD is not what
 * came: one that fired here has held the row back here as well.
 */
export const applyTriggersQuery: PostgresqlQuery<readonly ApplyTrigger[]> = {
  id: 'apply-triggers',
  scope: 'database',
  when: whenPresent('functions'),
  sql: () => `
    SELECT
      t.tgrelid::regclass AS name,
      t.tgname,
      t.tgenabled = 'A' AS always,
      c.relpersistence = 'u' AS unlogged,
      (
        p.prosrc !~* '${givesBack}'
          OR (
            t.tgenabled = 'R'
              AND t.tgtype & 3 = 3
              AND ((t.tgtype & 8 <> 0 AND p.prosrc ~* 'new') OR (t.tgtype & 20 <> 0 AND p.prosrc ~* 'old'))
          )
      ) AS acts
    FROM pg_trigger t
    JOIN pg_proc p ON p.oid = t.tgfoid
    JOIN pg_class c ON c.oid = t.tgrelid
    WHERE (t.tgenabled = 'A' OR t.tgenabled = 'R')
      AND NOT t.tgisinternal
      AND (c.relkind = 'r' OR c.relkind = 'p')
      AND c.relpersistence <> 't'
      AND (t.tgtype & 1 <> 0 OR t.tgtype & 36 <> 0)
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      name: decodeText(row, 'tgname'),
      always: decodeBoolean(row, 'always'),
      acts: decodeBoolean(row, 'acts'),
      unlogged: decodeBoolean(row, 'unlogged'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

/** A role can make a backslash mean something else, so there is none. */
const givesBack = '^[[:space:]]*begin[[:space:]]+return[[:space:]]+(new|old)[^a-z0-9_"]*end[^a-z0-9_"]*$';

export interface EventTrigger {
  readonly name: string;
  /** The text of its function, where that is PL/pgSQL and fires when a publication or a subscription is made. */
  readonly body: string | undefined;
  /** The text of its function, where that fires at every login. */
  readonly atLogin: string | undefined;
}

/** Those that an extension brings are left out: it brings them on the target too. 3466 is pg_event_trigger. */
export const eventTriggersQuery: PostgresqlQuery<readonly EventTrigger[]> = {
  id: 'event-triggers',
  scope: 'database',
  when: whenPresent('functions'),
  sql: () => `
    SELECT
      e.evtname,
      CASE
        WHEN e.evtenabled IN ('O', 'A')
            AND left(e.evtevent::text, 12) = 'ddl_command_'
            AND (e.evttags IS NULL OR e.evttags && '{CREATE PUBLICATION,CREATE SUBSCRIPTION}')
            AND l.lanname = 'plpgsql'
          THEN p.prosrc
      END AS body,
      CASE WHEN e.evtenabled IN ('O', 'A') AND e.evtevent = 'login' THEN p.prosrc END AS at_login
    FROM pg_event_trigger e
    JOIN pg_proc p ON p.oid = e.evtfoid
    JOIN pg_language l ON l.oid = p.prolang
    WHERE NOT EXISTS (
      SELECT FROM pg_depend d
      WHERE d.classid = '${catalogOid.pg_event_trigger}'
        AND d.objid = e.oid
        AND d.deptype = 'e'
    )
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'evtname'),
      body: decodeOptionalText(row, 'body'),
      atLogin: decodeOptionalText(row, 'at_login'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
