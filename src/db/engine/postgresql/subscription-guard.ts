import { quoteIdentifier } from '../../../postgresql/quote.ts';

/**
 * Before PostgreSQL 16 the owner of a subscription can change its connection, and code of the source runs as this
 * owner. With a changed connection the target could connect to itself as its operating system user, which pg_hba.conf
 * often trusts. Only an event trigger can prevent such a change; the trigger and its schema belong to the superuser, so
 * the owner of the subscription cannot remove them.
 * @param name name of the subscription
 */
export function buildSubscriptionDdlGuardCreationSql(name: string): string {
  const quoted = quoteIdentifier(name);
  return `CREATE SCHEMA ${quoted};
    CREATE FUNCTION ${quoted}.refuse() RETURNS event_trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $guard$
      BEGIN
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
          RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'only a superuser may change subscriptions now';
        END IF;
      END $guard$;
    CREATE EVENT TRIGGER ${quoted} ON ddl_command_start
      WHEN TAG IN ('CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION', 'DROP SUBSCRIPTION') EXECUTE FUNCTION ${quoted}.refuse();
    ALTER EVENT TRIGGER ${quoted} ENABLE ALWAYS;`;
}

/** SQL that removes the guard of a subscription; each statement succeeds even if its object does not exist. */
export function buildSubscriptionDdlGuardRemovalSql(name: string): readonly string[] {
  const quoted = quoteIdentifier(name);
  return [
    `DROP EVENT TRIGGER IF EXISTS ${quoted}`,
    `DROP FUNCTION IF EXISTS ${quoted}.refuse()`,
    `DROP SCHEMA IF EXISTS ${quoted}`,
  ];
}
