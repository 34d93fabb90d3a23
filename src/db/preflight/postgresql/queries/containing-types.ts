import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';

/**
 * A query for pairs of types: `part`, and `whole`, whose values contain `part`: a domain over it, an array, a composite
 * type (every table is one) or a range of it.
 */
export function containingTypesSql(version: number): string {
  const ranges = version < 140_000 ? ['rngtypid'] : ['rngtypid', 'rngmultitypid'];
  return [
    "SELECT typbasetype AS part, oid AS whole FROM pg_type WHERE typbasetype <> '0'",
    "SELECT typelem, oid FROM pg_type WHERE typelem <> '0'",
    `
      SELECT a.atttypid, c.reltype
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.reltype <> '0'
        AND a.attnum > 0
        AND NOT a.attisdropped
    `,
    ...ranges.map((one) => `SELECT rngsubtype, ${one} FROM pg_range`),
  ].join(' UNION ALL ');
}

/** SELECT of the types directly inside the type `t`: of a domain, an array, a composite type. */
export const directPartTypesSql = `
  SELECT t.typbasetype
  WHERE t.typtype = 'd'
  UNION ALL
  SELECT t.typelem
  WHERE t.typlen = -1
    AND t.typelem <> 0
    AND t.typtype = 'b'
  UNION ALL
  SELECT a.atttypid
  FROM pg_attribute a
  WHERE t.typtype = 'c'
    AND a.attrelid = t.typrelid
    AND a.attnum > 0
    AND NOT a.attisdropped
`;
