import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { SchemaCopyResult, TargetSuperuserLogin } from '../schema-copier.ts';
import { defaultSchemaCopyTransactionStatements, type SchemaCopyTransactionStatements } from './create-schema-parts.ts';
import {
  installTargetExtensions,
  readExtensionsUsableWithoutSuperuser,
  readSourceExtensions,
  type SourceExtension,
} from './extensions.ts';
import { readSuperuserObjectsCreatedLast, type SuperuserObjectCreatedLast } from './last-schema-objects.ts';
import { removeUnneededIdentifierQuotes } from './schema-object-definition.ts';
import { queryColumnValues, type SchemaCopySession, withSchemaCopySession } from './schema-session.ts';
import { superuserOnlyObjectsQuery } from './superuser-objects.ts';

/** The ways in which objects of a schema are created on the target. */
export interface TargetSchemaCreator {
  readonly session: SchemaCopySession['session'];
  readonly transaction: SchemaCopyTransactionStatements;
  /** Names of objects that need a superuser and are not permitted; the schema is then not copied. */
  readonly obstacles: readonly string[];
  readonly warnings: readonly string[];
  readonly lastStatements: readonly string[];
  /**
   * Creates the objects that must exist before all others, such as extensions. Resolves with the objects that the
   * target rejected.
   */
  createFirst(): Promise<readonly string[]>;
  /**
   * Whether to skip the statement of pg_dump, because its object is created by other statements or must not be created.
   * @param statement with all names quoted
   */
  isLeftOut(statement: string): boolean;
}

/** Creates a schema writer that creates all objects with the login of the target. */
function createSchemaWriterAsTargetLogin({ session }: SchemaCopySession): TargetSchemaCreator {
  return {
    session,
    transaction: defaultSchemaCopyTransactionStatements,
    obstacles: [],
    warnings: [],
    lastStatements: [],
    createFirst: async () => [],
    isLeftOut: () => false,
  };
}

export interface SchemaCopySessionPair {
  readonly source: SchemaCopySession;
  /** The login that owns the target database. */
  readonly target: SchemaCopySession;
}

/**
 * Runs a task with a schema writer. With a superuser session it first creates extensions; it creates other objects only if
 * allowed.
 */
export function withTargetSchemaWriter(
  { source, target }: SchemaCopySessionPair,
  superuser: TargetSuperuserLogin | undefined,
  signal: AbortSignal,
  copy: (writer: TargetSchemaCreator) => Promise<SchemaCopyResult>,
): Promise<SchemaCopyResult> {
  if (superuser === undefined) return copy(createSchemaWriterAsTargetLogin(target));
  return withSchemaCopySession(superuser.endpoint, signal, async (admin) => {
    const { owner, allowObjects } = superuser;
    const extensions = await readSourceExtensions(source.session);
    const trusted = await readExtensionsUsableWithoutSuperuser(admin);
    const special = (await queryColumnValues(source.session, superuserOnlyObjectsQuery, 'name')).map(
      removeUnneededIdentifierQuotes,
    );
    const last = await readSuperuserObjectsCreatedLast(source);
    const refused = [
      ...extensions.filter(({ name }) => !trusted.has(name)).map(({ name }) => `extension ${name}`),
      ...special,
    ];
    const asSuperuser = allowObjects && special.length > 0;
    return copy({
      session: asSuperuser ? admin.session : target.session,
      transaction: asSuperuser ? superuserTransaction(owner) : defaultSchemaCopyTransactionStatements,
      obstacles:
        allowObjects || refused.length === 0
          ? []
          : [`only a superuser can create ${refused.join(', ')}, which --allow-superuser-objects permits`],
      warnings: allowObjects
        ? last.flatMap(({ warning }) => warning ?? [])
        : last.map(
            ({ name }) => `${name} is not created: it needs a superuser, which --allow-superuser-objects permits`,
          ),
      lastStatements: allowObjects ? last.flatMap(({ statements }) => statements) : [],
      createFirst: () => installTargetExtensions(admin.session, extensions, { role: owner, grantAccess: allowObjects }),
      isLeftOut: leftOutStatements(extensions, last),
    });
  });
}

/**
 * The owner of the database is a superuser only inside this transaction: it then owns the created objects, and no other
 * session sees it as a superuser.
 */
function superuserTransaction(owner: string): SchemaCopyTransactionStatements {
  const role = quoteIdentifier(owner);
  return {
    begin: `BEGIN; ALTER ROLE ${role} SUPERUSER; SET LOCAL ROLE ${role}`,
    end: `SET LOCAL ROLE none; ALTER ROLE ${role} NOSUPERUSER; COMMIT`,
  };
}

function leftOutStatements(
  extensions: readonly SourceExtension[],
  last: readonly SuperuserObjectCreatedLast[],
): (statement: string) => boolean {
  const starts = [
    'CREATE EXTENSION ',
    'COMMENT ON EXTENSION ',
    'CREATE EVENT TRIGGER ',
    'ALTER EVENT TRIGGER ',
    'COMMENT ON EVENT TRIGGER ',
    ...last.flatMap(({ kind, quoted }) => {
      if (kind === 'event trigger') return [];
      if (kind === 'publication of schemas') return [`ALTER PUBLICATION ${quoted} ADD TABLES IN SCHEMA `];
      return ['CREATE', 'ALTER', 'COMMENT ON'].map((command) => `${command} PUBLICATION ${quoted} `);
    }),
  ];
  const schemas = new Set(
    extensions.flatMap(({ schema, hasUserSchema }) =>
      hasUserSchema ? [`CREATE SCHEMA ${quoteIdentifier(schema)}`] : [],
    ),
  );
  return (statement) => schemas.has(statement.replace(/;$/, '')) || starts.some((start) => statement.startsWith(start));
}
