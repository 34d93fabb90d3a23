import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { runSchemaStatementOrReturnError } from './create-schema-parts.ts';
import { queryColumnValues, type SchemaCopySession, schemaCopyStatementTimeout } from './schema-session.ts';
import { userSchemaCondition } from './sql-fragments.ts';

export interface SourceExtension {
  readonly name: string;
  readonly schema: string;
  /** Whether the schema of the extension must be created before the extension. */
  readonly hasUserSchema: boolean;
}

/** Extensions are returned in the order of creation, so that required extensions come first. */
export async function readSourceExtensions(session: SearchPathSafeSession): Promise<readonly SourceExtension[]> {
  const [rows = []] = await session.query(
    `SELECT e.extname, n.nspname, ${userSchemaCondition} AND n.nspname <> 'public' AS has_user_schema
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.oid >= ${firstNormalObjectId} AND e.extname <> 'plpgsql' ORDER BY e.oid`,
    schemaCopyStatementTimeout,
  );
  return rows.map(({ extname, nspname, has_user_schema: hasUserSchema }) => ({
    name: extname ?? '',
    schema: nspname ?? '',
    hasUserSchema: hasUserSchema === 't',
  }));
}

/** Names of extensions that the target database has already, or that its owner could create without a superuser. */
export async function readExtensionsUsableWithoutSuperuser({
  session,
  version,
}: SchemaCopySession): Promise<ReadonlySet<string>> {
  const trusted =
    version >= 130_000
      ? `UNION SELECT e.name FROM pg_available_extensions e JOIN pg_available_extension_versions v
           ON v.name = e.name AND v.version = e.default_version AND v.trusted`
      : '';
  return new Set(await queryColumnValues(session, `SELECT extname AS name FROM pg_extension ${trusted}`, 'name'));
}

export interface TargetOwnerExtensionAccess {
  readonly role: string;
  /**
   * Grants the owner of the target database the right to write to tables of extensions and to use their foreign-data
   * wrappers.
   */
  readonly grantAccess: boolean;
}

/**
 * Creates extensions in a database without any other object, because their scripts run as a superuser and could call
 * functions of users.
 * @returns the extensions that the target rejected, each with the reason
 */
export async function installTargetExtensions(
  session: SearchPathSafeSession,
  extensions: readonly SourceExtension[],
  { role, grantAccess }: TargetOwnerExtensionAccess,
): Promise<readonly string[]> {
  const owner = quoteIdentifier(role);
  const create = async ({ name, schema, hasUserSchema }: SourceExtension): Promise<string | undefined> => {
    const quoted = quoteIdentifier(schema);
    const schemaStatement = hasUserSchema ? `CREATE SCHEMA IF NOT EXISTS ${quoted} AUTHORIZATION ${owner}; ` : '';
    return runSchemaStatementOrReturnError(
      session,
      `${schemaStatement}CREATE EXTENSION IF NOT EXISTS ${quoteIdentifier(name)} WITH SCHEMA ${quoted}`,
    );
  };
  let pending = extensions;
  for (;;) {
    const failed: (readonly [SourceExtension, string])[] = [];
    for (const extension of pending) {
      const error = await create(extension);
      if (error !== undefined) failed.push([extension, error]);
    }
    if (failed.length === pending.length || failed.length === 0) {
      if (grantAccess) await grantExtensionObjects(session, owner);
      return failed.map(([{ name }, error]) => `extension ${name} (${error})`);
    }
    pending = failed.map(([extension]) => extension);
  }
}

/**
 * Grants the owner privileges on the objects of extensions. At this point the database contains only extensions that
 * the target provides.
 */
async function grantExtensionObjects(session: SearchPathSafeSession, owner: string): Promise<void> {
  const statements = await queryColumnValues(
    session,
    `SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES ON %I.%I TO ', n.nspname, c.relname) AS text
       FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p')
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.classid = ${quoteLiteral('pg_class')}::regclass AND d.deptype = 'e'
     UNION ALL SELECT format('GRANT USAGE ON FOREIGN DATA WRAPPER %I TO ', fdwname) FROM pg_foreign_data_wrapper`,
    'text',
  );
  for (const text of statements) await session.query(`${text}${owner}`, schemaCopyStatementTimeout);
}
