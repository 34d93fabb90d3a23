import { decodeBooleanColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface PgoutputAvailability {
  readonly exists: boolean;
  /** The folders in which the server searches libraries, in the form of dynamic_library_path. */
  readonly path: string;
}

/**
 * Whether the library of pgoutput exists in a folder from which the server loads it; undefined if the role is not a
 * superuser, and so cannot list files.
 */
export const pgoutputAvailabilityQuery: PostgresqlPreflightQuery<PgoutputAvailability | undefined> = {
  id: 'output-plugin',
  scope: 'server',
  sql: (version, { superuser }) =>
    version < 100_000 || !superuser
      ? undefined
      : `
        SELECT
          coalesce(
            bool_or((pg_stat_file(replace(d.folder, '$libdir', l.setting) || '/pgoutput' || s.suffix, true)).size IS NOT NULL),
            false
          ) AS found,
          current_setting('dynamic_library_path') AS path
        FROM (SELECT setting FROM pg_config() WHERE name = 'PKGLIBDIR') l
        CROSS JOIN unnest(
          string_to_array(
            current_setting('dynamic_library_path'),
            CASE WHEN version() ~ 'mingw|msvc|Visual C|windows' THEN chr(59) ELSE ':' END
          )
        ) d(folder)
        CROSS JOIN (VALUES ('.so'), ('.dylib'), ('.dll')) s(suffix)
      `,
  decode: ([row = {}]) => ({ exists: decodeBooleanColumn(row, 'found'), path: decodeTextColumn(row, 'path') }),
  absent: undefined,
};
