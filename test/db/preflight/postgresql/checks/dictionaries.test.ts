import { expect, test } from 'vitest';
import { customFiles, dictionariesCheck } from '../../../../../src/db/preflight/postgresql/checks/dictionaries.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  {
    template: 'ispell',
    options: "dictfile = 'shop', afffile = 'shop', stopwords = 'english'",
    files: 'shop.dict shop.affix',
  },
  { template: 'thesaurus', options: "dictfile = 'shop', dictionary = 'english_stem'", files: 'shop.ths' },
  { template: 'thesaurus', options: "dictfile = 'thesaurus_sample', dictionary = 'english_stem'", files: '' },
  { template: 'synonym', options: `"Synonyms" = 'shop', "CaseSensitive" = 'true'`, files: 'shop.syn' },
  { template: 'snowball', options: "language = 'russian', stopwords = 'russian'", files: '' },
  { template: 'simple', options: "stopwords = 'russian_long', accept = 'false'", files: 'russian_long.stop' },
  { template: 'unaccent', options: "rules = 'unaccent'", files: '' },
  { template: 'unaccent', options: "rules = 'shop'", files: 'shop.rules' },
  { template: 'intdict_template', options: "maxlen = '4', rejectlong = 'true'", files: '' },
])('$template with $options needs of its own: $files', ({ template, options, files }) => {
  expect(customFiles({ template, options }).join(' ')).toBe(files);
});

test('a dictionary with a custom file blocks both methods, and the file is listed', () => {
  const judge = (options: string) =>
    dictionariesCheck.evaluate(
      { dictionaries: [{ name: 'public.shop', template: 'simple', options }], alteredDictionaries: [] },
      'd1',
      sourceFacts(),
      preflightOptions(),
    );
  expect(short(judge("stopwords = 'english'"))).toBe('pass');
  const found = judge("stopwords = 'shop'");
  expect(short(found)).toBe('fail continuous+dump');
  expect(found).toMatchObject({ observed: '1 dictionary', objects: ['public.shop (simple; shop.stop)'] });
});

test('the options of a dictionary of an extension are lost', () => {
  const altered = { name: 'public.intdict', extension: 'dict_int', options: "maxlen = '3'" };
  const outcome = dictionariesCheck.evaluate(
    { dictionaries: [], alteredDictionaries: [altered] },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
  expect(short(outcome)).toBe('warn');
  expectOutcomeText(outcome);
});
