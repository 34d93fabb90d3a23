import { userObjectCondition, userRelationsFromClauseSql, userSchemaCondition } from './sql-fragments.ts';

/** A query with the column `note`: properties of the source that are intentionally not copied. */
export const uncopiedSchemaPropertiesQuery = `SELECT note FROM (
  SELECT format('privileges (GRANT) are not copied: %s objects have privileges', count(*)) FROM (
      SELECT c.oid FROM ${userRelationsFromClauseSql('rpvmSf')} WHERE c.relacl IS NOT NULL
        OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL)
      UNION ALL SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_proc', 'p.oid')} AND p.proacl IS NOT NULL
      UNION ALL SELECT n.oid FROM pg_namespace n
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_namespace', 'n.oid')} AND n.nspacl IS NOT NULL
      UNION ALL SELECT t.oid FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_type', 't.oid')} AND t.typacl IS NOT NULL
      UNION ALL SELECT oid FROM pg_default_acl) AS granted HAVING count(*) > 0
  UNION ALL SELECT format('owners are not copied: objects of %s belong to the migration role', string_agg(owner, ', ' ORDER BY owner))
    FROM (SELECT DISTINCT pg_get_userbyid(x.owner) FROM (SELECT c.relowner FROM ${userRelationsFromClauseSql('rpvmSf')}
      UNION ALL SELECT p.proowner FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_proc', 'p.oid')}
      UNION ALL SELECT n.nspowner FROM pg_namespace n WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_namespace', 'n.oid')}) AS x(owner)
      WHERE pg_get_userbyid(x.owner) <> current_user) AS y(owner) HAVING count(*) > 0
  UNION ALL SELECT format('subscription %s is not copied: the target would become a second subscriber', subname)
    FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  UNION ALL SELECT format('index %s.%s is invalid and is not copied', n.nspname, x.relname)
    FROM ${userRelationsFromClauseSql('rm')} JOIN pg_index i ON i.indrelid = c.oid AND NOT (i.indisvalid AND i.indisready)
    JOIN pg_class x ON x.oid = i.indexrelid
  UNION ALL SELECT format('tablespaces are not copied: %s objects have a tablespace', count(*))
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace WHERE ${userSchemaCondition} AND t.reltablespace <> 0
    HAVING count(*) > 0
  UNION ALL SELECT DISTINCT format('the trigger of foreign key %s is disabled on the source but enabled on the target', k.conname)
    FROM pg_trigger t JOIN pg_constraint k ON k.oid = t.tgconstraint AND k.contype = 'f'
    WHERE t.tgisinternal AND t.tgenabled <> 'O' AND k.conparentid = 0
) AS x(note) ORDER BY note`;
