import { decodeBooleanColumn, decodeOptionalTextColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A trigger that fires when a subscription on the target applies changes. */
export interface SubscriptionApplyTrigger {
  readonly table: string;
  readonly name: string;
  /**
   * Whether the trigger is enabled with ENABLE ALWAYS. If false, it is enabled with ENABLE REPLICA and does not fire in
   * sessions of applications.
   */
  readonly always: boolean;
  /** Whether the trigger function does more than return the row. */
  readonly acts: boolean;
  /** Whether the table of the trigger is unlogged, so that no changes are applied to it. */
  readonly unlogged: boolean;
}

/**
 * Applied changes fire row triggers, and the initial copy fires statement triggers of INSERT. Triggers on foreign
 * tables do not fire, because no changes are applied to them. Bits of pg_trigger.tgtype: 1 FOR EACH ROW, 2 BEFORE, 4
 * INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE. In a BEFORE DELETE trigger NEW is NULL, so a trigger function that returns
 * NEW cancels the DELETE.
 */
export const subscriptionApplyTriggersQuery: PostgresqlPreflightQuery<readonly SubscriptionApplyTrigger[]> = {
  id: 'apply-triggers',
  scope: 'database',
  when: createDatabaseFeatureCondition('functions'),
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
      table: decodeTextColumn(row, 'name'),
      name: decodeTextColumn(row, 'tgname'),
      always: decodeBooleanColumn(row, 'always'),
      acts: decodeBooleanColumn(row, 'acts'),
      unlogged: decodeBooleanColumn(row, 'unlogged'),
    })),
  absent: [],
};

/** The pattern contains no backslash, whose meaning depends on standard_conforming_strings. */
const givesBack = '^[[:space:]]*begin[[:space:]]+return[[:space:]]+(new|old)[^a-z0-9_"]*end[^a-z0-9_"]*$';

export interface EventTrigger {
  readonly name: string;
  /**
   * The body of the trigger function, if it is in PL/pgSQL and the trigger fires for CREATE PUBLICATION or CREATE
   * SUBSCRIPTION.
   */
  readonly body: string | undefined;
  /** The body of the trigger function, if the trigger fires at login. */
  readonly atLogin: string | undefined;
}

/** Event triggers of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const eventTriggersQuery: PostgresqlPreflightQuery<readonly EventTrigger[]> = {
  id: 'event-triggers',
  scope: 'database',
  when: createDatabaseFeatureCondition('functions'),
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
    WHERE ${isNotExtensionMemberSql('pg_event_trigger', 'e.oid')}
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'evtname'),
      body: decodeOptionalTextColumn(row, 'body'),
      atLogin: decodeOptionalTextColumn(row, 'at_login'),
    })),
  absent: [],
};
