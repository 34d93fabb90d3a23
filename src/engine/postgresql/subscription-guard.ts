import { quoteIdentifier } from '../../postgresql/quote.ts';

/**
 * Before PostgreSQL 16 the owner of a subscription, as which code of the source runs, can change its connection. The target would
 * connect to itself as the user of its operating system, which host rules often trust. Only an event trigger can prevent that; it
 * belongs to the superuser, as does its schema, so the owner cannot remove it.
 * @param name of the subscription
 */
export function createGuardStatements(name: string): string {
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

/** Each succeeds when the object does not exist. */
export function dropGuardStatements(name: string): readonly string[] {
  const quoted = quoteIdentifier(name);
  return [
    `DROP EVENT TRIGGER IF EXISTS ${quoted}`,
    `DROP FUNCTION IF EXISTS ${quoted}.refuse()`,
    `DROP SCHEMA IF EXISTS ${quoted}`,
  ];
}
