import type { Major } from '../../../scripts/postgres.mjs';
import type { PostgresqlSource } from '../../../src/postgresql/source.ts';
import type { PreflightOptions } from '../../../src/preflight/preflight-options.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import type { BestMethod } from '../row.ts';

/** In the database `postgres` unless one is named; `restart`, `reload`, `standby` and `rules …` are what they say. */
export type Step = string | { readonly in: string; readonly sql: string };

export interface Prepared {
  /** Another way to the source than straight to it. */
  readonly connection?: Partial<PostgresqlSource>;
  /** Of the migration. */
  readonly id?: string;
  end?(): Promise<void>;
}

/** A source broken in one way, or healthy, and what is to be said of it. */
export interface PostgresCase {
  readonly name: string;
  readonly verdict: BestMethod;
  /** Findings that must be among those that took a method away. */
  readonly reasons?: readonly string[];
  /** In the half that every run of the tests makes. */
  readonly quick?: true;
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

  // What follows is of a server of its own.
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly hba?: readonly string[];
  readonly tls?: true;
  /** Before the databases are made. */
  readonly first?: readonly Step[];
  /** When everything else is there. */
  readonly last?: readonly Step[];
  /** What no statement can do. */
  readonly before?: (source: Postgres, target: Postgres) => Promise<Prepared>;
  readonly connection?: Partial<PostgresqlSource>;
  /** Settings of the target. */
  readonly target?: Readonly<Record<string, string | number>>;

  readonly options?: Partial<PreflightOptions>;
  /** The door of the migration, when the preflight looks from nearer than the service. */
  readonly migrationHost?: string;
  /** Tables that the application never changes rows of, so that nothing but INSERT is to be expected. */
  readonly quiet?: readonly string[];
  /** Statements of the application beside its usual ones, in the first database. */
  readonly app?: readonly string[];
  /** Why one of several databases may fare better than was said. */
  readonly uneven?: string;
  /** What is true instead of the verdict, and why that is right all the same. */
  readonly differs?: { readonly truth: BestMethod; readonly why: string };
}

export function databasesOf({ databases = ['d1'] }: PostgresCase): readonly string[] {
  return databases;
}

/** Whether it can share its source with others that came before. */
export function isShared(one: PostgresCase): boolean {
  return [one.settings, one.hba, one.tls, one.first, one.last, one.before, one.connection].every(
    (it) => it === undefined,
  );
}
