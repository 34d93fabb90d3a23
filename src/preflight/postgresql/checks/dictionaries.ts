import { fail, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type TextSearchDictionary, textSearchDictionariesQuery } from '../queries/text-search-dictionaries.ts';
import { countText } from '../units.ts';

export const dictionariesCheck = databaseCheck({
  id: 'dictionaries',
  title: 'text search dictionaries use only files that PostgreSQL provides',
  headline: 'A text search dictionary uses a custom file',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { dictionaries: textSearchDictionariesQuery },
  evaluate({ dictionaries }) {
    const found = dictionaries.flatMap((one) => {
      const files = customDictionaryFiles(one);
      return files.length === 0 ? [] : [{ ...one, files }];
    });
    const [first] = found;
    if (first === undefined) return pass(dictionaries.length === 0 ? 'none with options' : 'those of every server');
    return fail(['continuous', 'dump'], countText(found.length, 'dictionary', 'dictionaries'), {
      required: 'files that every server has, such as english.stop',
      detail: `Their files lie in tsearch_data on the machine of this server and do not come along. CREATE TEXT SEARCH DICTIONARY looks for them, so that the schema cannot be made: "could not open … file ".../tsearch_data/${first.files[0]}": No such file or directory".${unlistedNote(found)}`,
      objects: firstObjects(found).map(({ name, template, files }) => `${name} (${template}; ${files.join(', ')})`),
      fix: {
        by: 'who owns the schema',
        text: 'Let their configurations use dictionaries of the server (ALTER TEXT SEARCH CONFIGURATION … ALTER MAPPING REPLACE … WITH …), and drop them before the migration. What is indexed or stored by them is made anew then. Where the target has files of these names, --accept dictionaries.',
      },
    });
  },
});

/** Those that no server has unless somebody put them there. */
export function customDictionaryFiles({
  template,
  options,
}: Pick<TextSearchDictionary, 'template' | 'options'>): readonly string[] {
  return [...options.matchAll(option)].flatMap(([, name = '', value = '']) => {
    const ending = endings[`${template} ${name.toLowerCase()}`] ?? endings[name.toLowerCase()];
    const file = `${value.replaceAll("''", "'")}.${ending}`;
    return ending === undefined || ofEveryServer.test(file) ? [] : [file];
  });
}

const option = /"?(\w+)"?\s*=\s*E?'((?:[^']|'')*)'/g;

/** By the option, or by template and option where one name has two meanings. */
const endings: Readonly<Record<string, string>> = {
  stopwords: 'stop',
  synonyms: 'syn',
  dictfile: 'dict',
  'thesaurus dictfile': 'ths',
  afffile: 'affix',
  rules: 'rules',
};

const ofEveryServer =
  /^(?:(?:danish|dutch|english|finnish|french|german|hungarian|italian|nepali|norwegian|portuguese|russian|spanish|swedish|turkish)\.stop|(?:hunspell_sample(?:_long|_num)?|ispell_sample)\.(?:affix|dict)|synonym_sample\.syn|thesaurus_sample\.ths|(?:unaccent|xsyn_sample)\.rules)$/;
