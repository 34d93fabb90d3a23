import type { Major } from '../../../scripts/postgres.mjs';
import { Secret } from '../../../src/base/secret.ts';
import type { PreflightOptions } from '../../../src/db/preflight/options.ts';
import type { PostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import type { DifferingResult } from '../check-rows.ts';
import type { BestMethod } from '../row.ts';
import type { FixesOfCase } from './fix-script.ts';

/** In the database `postgres` unless one is named; `restart`, `reload`, `standby` and `rules …` are what they say. */
export type Step = string | { readonly in: string; readonly sql: string };

export interface Prepared {
  /** Replaces options of the direct connection to the source. */
  readonly connection?: Partial<PostgresqlEndpoint>;
  /** Of the migration. */
  readonly id?: string;
  end?(): Promise<void>;
}

/** A source with one defect, or none, and its expected verdict. */
export interface PostgresCase {
  readonly name: string;
  readonly verdict: BestMethod;
  /** Ids of findings that must block a method. */
  readonly reasons?: readonly string[];
  /** Ids of findings that must leave the verdict unproven. */
  readonly unproven?: readonly string[];
  /** In the half that every run of the tests makes. */
  readonly quick?: true;
  /** False where this machine lacks the program or the address that the case needs. */
  readonly possible?: boolean;
  /** 15 unless told. */
  readonly from?: Major;
  /** 17 unless told. */
  readonly to?: Major;
  /** To be migrated; `d1` unless told. Every other database is ignored. */
  readonly databases?: readonly string[];
  /** What follows CREATE DATABASE, by name. */
  readonly create?: Readonly<Record<string, string>>;
  /** Statements in the first database, each by itself. */
  readonly setup?: readonly string[];
  /** Without the table that every database has. */
  readonly bare?: true;
  /** Empty tables get no rows. */
  readonly empty?: true;

  // What follows is of a server of its own.
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly hba?: readonly string[];
  readonly tls?: true;
  /** Before the databases are made. */
  readonly first?: readonly Step[];
  /** After everything else is set up. */
  readonly last?: readonly Step[];
  /** Set-up that needs more than statements. */
  readonly before?: (source: Postgres, target: Postgres) => Promise<Prepared>;
  readonly connection?: Partial<PostgresqlEndpoint>;
  /** The login of the target has no SUPERUSER. */
  readonly plainTarget?: true;
  /** Settings of the target. */
  readonly target?: Readonly<Record<string, string | number>>;
  /** Files and folders of time zones that the target does not have. */
  readonly withoutZones?: readonly string[];

  readonly options?: Partial<PreflightOptions>;
  /** The host that the migration uses, when the preflight connects from nearer than the service. */
  readonly migrationHost?: string;
  /** Tables that the application never changes rows of, so that nothing but INSERT is to be expected. */
  readonly quiet?: readonly string[];
  /** Statements of the application beside its usual ones, in the first database. */
  readonly app?: readonly string[];
  /** Why one of several databases may have a better result than its verdict. */
  readonly uneven?: string;
  /** The fix script of the report is run first; verdict and result are those after it. */
  readonly fixes?: FixesOfCase;
  /** After the migration the target gets the output of `db sequences`. */
  readonly setsSequences?: true;
  readonly differs?: DifferingResult;
  /** Why pgcopydb does not copy what the report promises. */
  readonly pgcopydb?: string;
}

export function databasesOf({ databases = ['d1'] }: Pick<PostgresCase, 'databases'>): readonly string[] {
  return databases;
}

/** Whether it can share its source with others that came before. */
export function isShared(one: PostgresCase): boolean {
  return [one.settings, one.hba, one.tls, one.first, one.last, one.before, one.connection, one.fixes].every(
    (it) => it === undefined,
  );
}

/** Limits of pgcopydb 0.10 that other engines do not have. */
export const pgcopydbLimits = {
  encoding: 'it reads the rows of every source as UTF8',
  exclusion: 'it creates the key of a table with an exclusion constraint twice',
  foreignKeys: 'it creates foreign keys when the rows are there',
  indexNames: 'it copies rows before their indexes exist, so the name of an index is not found',
  matviews: 'it fills a materialized view before it creates the index, whose function then finds nothing',
  names: 'it does not quote the name of a database',
  searchPath: 'its queries find catalogs by the search_path',
  settings: 'its COPY keeps the settings of the source',
  snapshot: 'its snapshot is serializable, which a standby refuses',
  statistics: 'it runs ANALYZE, which fails on the target as it does there after any migration',
} as const;

/** Why a row that violates a CHECK constraint is not found. */
export const unevaluatedExpression = {
  truth: 'blocked',
  why: 'an expression of a user could run any code, so it is not evaluated on the source; the report says that the rows are not known, with the statement that the owner can run, and a rehearsal finds it',
} as const;

/** The login of a target without SUPERUSER: it may create databases, roles and, from 16 on, subscriptions. */
export const plainLogin = { username: 'mover', password: new Secret('secret') } as const;

export function plainLoginSetup(version: Major): readonly string[] {
  const role = "CREATE ROLE mover LOGIN CREATEDB CREATEROLE PASSWORD 'secret'";
  return version < 16 ? [role] : [role, 'GRANT pg_create_subscription TO mover'];
}
