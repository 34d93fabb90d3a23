import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { type CheckOutcome, failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { type AlteredDictionary, alteredDictionariesQuery } from '../queries/callables.ts';
import { isNotMemberSql } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

type SearchDictionary = RowOf<typeof dictionariesQuery>;

/** Dictionaries of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
const dictionariesQuery = rowsQuery({
  id: 'text-search-dictionaries',
  scope: 'database',
  when: featureCondition('dictionaries'),
  sql: () => `
    SELECT o.oid::regdictionary AS name, t.tmplname, o.dictinitoption
    FROM pg_ts_dict o
    JOIN pg_ts_template t ON t.oid = o.dicttemplate
    WHERE o.oid >= '${firstNormalOid}'
      AND o.dictinitoption IS NOT NULL
      AND ${isNotMemberSql('pg_ts_dict', 'o.oid')}
    ORDER BY 1
  `,
  row: columns({
    name: column.text('name'),
    /** The template of the text search dictionary: `ispell`, `thesaurus`. */
    template: column.text('tmplname'),
    /** The options of the dictionary, as pg_ts_dict stores them: `dictfile = 'shop', stopwords = 'english'`. */
    options: column.text('dictinitoption'),
  }),
});

export const dictionariesCheck = declareDatabaseCheck({
  id: 'dictionaries',
  title: 'text search dictionaries use only files that PostgreSQL provides',
  headline: 'A text search dictionary uses a custom file',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { dictionaries: dictionariesQuery, alteredDictionaries: alteredDictionariesQuery },
  evaluate({ dictionaries, alteredDictionaries }, database) {
    const found = dictionaries.flatMap((one) => {
      const files = customFiles(one);
      return files.length === 0 ? [] : [{ ...one, files }];
    });
    const [first] = found;
    if (first === undefined && alteredDictionaries.length > 0) return alteredOutcome(alteredDictionaries, database);
    if (first === undefined)
      return passOutcome(dictionaries.length === 0 ? 'none with options' : 'standard files only');
    return failOutcome(['continuous', 'dump'], countOf(found.length, 'dictionary', 'dictionaries'), {
      required: 'dictionary files that every server provides, such as english.stop',
      detail: `Dictionary files are in the tsearch_data folder of the server and are not migrated. CREATE TEXT SEARCH DICTIONARY needs these files, so the schema cannot be restored: "could not open … file ".../tsearch_data/${first.files[0]}": No such file or directory".${unlistedNote(found)}`,
      objects: limitObjects(found).map(({ name, template, files }) => `${name} (${template}; ${files.join(', ')})`),
      fix: {
        by: 'the schema owner',
        text: 'Change the text search configurations to built-in dictionaries (ALTER TEXT SEARCH CONFIGURATION … ALTER MAPPING REPLACE … WITH …), rebuild the indexes and stored values that use them, and drop the dictionaries with custom files before the migration. If the target has dictionary files with the same names, use --accept dictionaries.',
      },
    });
  },
});

/** CREATE EXTENSION creates the dictionaries of an extension with their first options. */
function alteredOutcome(altered: readonly AlteredDictionary[], database: string): CheckOutcome {
  const observed = countOf(altered.length, 'dictionary', 'dictionaries');
  return warnOutcome(observed, {
    headline: 'A text search dictionary of an extension was altered',
    required: 'the options that the extension sets',
    detail: `A dump has no members of extensions, so ALTER TEXT SEARCH DICTIONARY is lost without an error: indexes and queries of the target use the options of the extension.${unlistedNote(altered)}`,
    objects: limitObjects(altered).map(({ name, extension, options }) => `${name} (${extension}; ${options})`),
    dataLoss: `the options of ${observed}`,
    fix: {
      database,
      by: 'the schema owner',
      text: 'Run ALTER TEXT SEARCH DICTIONARY with the same options on the target after the cut-over, then REINDEX the indexes that use it; or create a dictionary of your own from its template.',
    },
  });
}

/** The files named in the options of a dictionary, except those that PostgreSQL itself installs. */
export function customFiles({ template, options }: Pick<SearchDictionary, 'template' | 'options'>): readonly string[] {
  return [...options.matchAll(option)].flatMap(([, name = '', value = '']) => {
    const extension = extensionByOption[`${template} ${name.toLowerCase()}`] ?? extensionByOption[name.toLowerCase()];
    const file = `${value.replaceAll("''", "'")}.${extension}`;
    return extension === undefined || standardFile.test(file) ? [] : [file];
  });
}

const option = /"?(?<!\w)(\w+)"?\s*=\s*E?'((?:[^']|'')*)'/g;

/** File name extensions of dictionary files by option, or by template and option if the option has several meanings. */
const extensionByOption: Readonly<Record<string, string>> = {
  stopwords: 'stop',
  synonyms: 'syn',
  dictfile: 'dict',
  'thesaurus dictfile': 'ths',
  afffile: 'affix',
  rules: 'rules',
};

const standardFile =
  /^(?:(?:danish|dutch|english|finnish|french|german|hungarian|italian|nepali|norwegian|portuguese|russian|spanish|swedish|turkish)\.stop|(?:hunspell_sample(?:_long|_num)?|ispell_sample)\.(?:affix|dict)|synonym_sample\.syn|thesaurus_sample\.ths|(?:unaccent|xsyn_sample)\.rules)$/;
