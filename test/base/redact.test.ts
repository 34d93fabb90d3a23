import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactData, redactMessage, redactSecrets, redactServerLine } from '../../src/base/redact.ts';
import { escapeHtml, escapeUnprintable, sanitizeLine, sanitizeLines } from '../../src/base/sanitize.ts';
import { Secret, startWithholding, withhold } from '../../src/base/secret.ts';

const secretText = 's3cr+t/"of-the_test=%41\\n&amp;9f8e7d';

/** Each character of the text, written in one way. */
const each =
  (write: (character: string) => string) =>
  (text: string): string =>
    [...text].map(write).join('');
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const between = (invisible: string) => each((character) => `${character}${invisible}`);
const escapedBetween = (invisible: string) => each((character) => `${inJson(character)}${invisible}`);
const hex = (code: number, length = 2) => code.toString(16).padStart(length, '0');
/** Each byte of the text in UTF-8, or each UTF-16 unit of it, written in one way. */
const bytes = (write: (code: number) => string) => (text: string) => [...Buffer.from(text)].map(write).join('');
const percentEncoded = (text: string) => encodeURIComponent(Buffer.from(text).toString());
const units = (write: (code: number) => string) => (text: string) =>
  Array.from({ length: text.length }, (_, at) => write(text.charCodeAt(at))).join('');

/** What a parser or a browser undoes before a person or a program sees the text. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'slashes as PHP writes them': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'escapes as Gson writes them': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(
        /[=&<>']/g,
        units((one) => `\\u${hex(one, 4)}`),
      ),
  'every character as an escape of JSON': units((one) => `\\u${hex(one, 4)}`),
  'upper-case escapes of JSON': units((one) => `\\u${hex(one, 4).toUpperCase()}`),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)),
  'escapes of program text': bytes((one) => `\\x${hex(one)}`),
  'braced escapes': units((one) => `\\u{${hex(one)}}`),
  'percent-encoding': percentEncoded,
  'lower-case percent-encoding': (text) => percentEncoded(text).replace(/%../g, (one) => one.toLowerCase()),
  'every character in percent-encoding': bytes((one) => `%${hex(one)}`),
  'percent-encoding of percent-encoding': (text) => percentEncoded(percentEncoded(text)),
  'form encoding': (text) => new URLSearchParams({ x: text }).toString().slice(2),
  'references of HTML': (text) =>
    text.replace(/[&<>"']/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? '&apos;'),
  'decimal references': units((one) => `&#${one};`),
  'hexadecimal references': units((one) => `&#x${hex(one)};`),
  'HTTP Basic': (text) => `Basic ${Buffer.from(`me:${text}`).toString('base64')}`,
  'HTTP Basic of an encoded pair': (text) => Buffer.from(`m:${percentEncoded(text)}`).toString('base64'),
  base64url: (text) => Buffer.from(`"${text}"`).toString('base64url'),
  'folded base64': (text) =>
    (
      Buffer.from(text)
        .toString('base64')
        .match(/.{1,7}/g) ?? []
    ).join('\r\n '),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'upper-case hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'upper case': (text) => text.toUpperCase(),
};

/** Characters that nobody sees, and escapes of them. */
const invisibles: Readonly<Record<string, (text: string) => string>> = {
  'line feeds': between('\n'),
  'CR and LF': between('\r\n'),
  tabs: between('\t'),
  'folded lines': (text) => `${text.slice(0, 9)}\n    ${text.slice(9)}`,
  backspaces: between('\b'),
  NUL: between('\0'),
  'escaped NUL': escapedBetween('\\u0000'),
  'C1 controls': between('\u0085'),
  'zero-width spaces': between('\u200b'),
  'zero-width joiners': between('\u200d'),
  'escaped zero-width spaces': escapedBetween('\\u200b'),
  'direction marks': between('\u202e\u2066'),
  'soft hyphens': between('\u00ad'),
  'soft hyphens of HTML': between('&shy;'),
  'byte order marks': between('\ufeff'),
  'combining marks': between('\u0301'),
  'variation selectors': between('\ufe0f'),
  'tag characters': between('\u{e0041}'),
  'halves of surrogate pairs': between('\ud800'),
  'escaped halves of surrogate pairs': escapedBetween('\\udc80'),
  'blanks of other scripts': between('\u2003'),
};

/** What a terminal executes. */
const sequences: Readonly<Record<string, (text: string) => string>> = {
  'deleted characters': between('x\b'),
  'two deleted characters': between('xy\b\b'),
  'colours of a terminal': between('\u001b[31m'),
  'colours of a terminal in JSON': escapedBetween('\\u001b[1;31m'),
  'C1 colours': between('\u009b0m'),
  'a title of a terminal': between('\u001b]0;title\u0007'),
  'a link of a terminal': between('\u001b]8;;https://evil.example\u001b\\'),
};

const disguises = { ...encodings, ...invisibles, ...sequences };
const oneOf = (...groups: readonly object[]) => fc.constantFrom(...groups.flatMap((group) => Object.keys(group)));
const dress = (name: string, text: string): string =>
  Object.entries(disguises).find(([known]) => known === name)?.[1](text) ?? text;

/** The printed forms of a text of a server. */
const prints: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'one line': (text) => sanitizeLine(text, 1_000_000),
  'lines of a message': (text) => sanitizeLines(text, 1_000_000),
  'a value of JSON': (text) => escapeUnprintable(JSON.stringify({ nested: [{ message: text }] }, null, 2)),
  'a page': (text) => escapeHtml(sanitizeLine(text, 1_000_000)),
};

const token = fc
  .stringMatching(/^[!-~]{20,80}$/)
  .filter((text) => /\d.*[a-z]/.test(text) && (text.match(/\w/g) ?? []).length > 16);

/** A message is printed without backspaces and with the characters that they would have deleted, which is no secret. */
const areDeletionsLost = (disguise: string, print: string): boolean =>
  disguise.includes('deleted') && print !== 'as it is' && print !== 'a value of JSON';

/** No six characters of the secret are left, which it does not share with the text around it. */
function remains(text: string, secret: string): readonly string[] {
  const left = text.toLowerCase();
  const word = secret.toLowerCase();
  return Array.from({ length: Math.max(0, word.length - 11) }, (_, at) => word.slice(at, at + 12)).filter((part) =>
    left.includes(part),
  );
}

const pair = fc.oneof(
  fc.tuple(oneOf(disguises), oneOf(encodings)),
  fc.tuple(oneOf(encodings), oneOf(disguises)),
  fc.tuple(oneOf(encodings, invisibles), oneOf(invisibles)),
);

describe('a secret is removed from printed text', () => {
  const secrets = [new Secret('another-secret-0123456789'), new Secret(secretText, '[token]')];

  it.each(Object.keys(disguises))('dressed: %s', (name) => {
    for (const [print, printed] of Object.entries(prints)) {
      if (areDeletionsLost(name, print)) continue;
      const text = redactSecrets(printed(`first ${dress(name, secretText)} last`), secrets);
      expect({ print, text }).toEqual({ print, text: expect.stringContaining('[token]') });
      expect(remains(text, secretText)).toEqual([]);
      expect(text).toContain('first ');
      expect(text).toContain('last');
    }
  });

  it('in two of these at once, of any secret', () => {
    fc.assert(
      fc.property(token, pair, oneOf(prints), (value, [inner, outer], print) => {
        // Base64 of base64 and of a disguise is nothing that a terminal, a parser or a browser undoes.
        fc.pre(!/base64|hexadecimal$|Basic|upper case/.test(outer) || inner === 'as it is');
        fc.pre(!/upper case/.test(inner));
        fc.pre(!areDeletionsLost(`${inner} ${outer}`, print));
        const text = prints[print]?.(`a ${dress(outer, dress(inner, value))} z`) ?? '';
        const clean = redactSecrets(text, [new Secret(value)]);
        expect({ inner, outer, print, clean }).toEqual({
          ...{ inner, outer, print },
          clean: expect.stringContaining('[secret]'),
        });
        if (print === 'a value of JSON') expect(() => JSON.parse(clean)).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });

  it('also after text that decoding takes for the beginning of an escape', () => {
    for (const before of ['\\', '%', '\\u', '\\x', '&#x', '%2', '\\u00', '\u001b', '\u001b[', '\u001b]0;'])
      expect(redactSecrets(`${before}4142abcd9876543210`, [new Secret('4142abcd9876543210')])).not.toContain(
        '9876543210',
      );
  });

  it('where JSON stays JSON', () => {
    const shared = new Secret('200bcdef0123456789');
    const clean = redactSecrets(String.raw`{"a":"x\u200bcdef0123456789"}`, [shared]);
    expect(JSON.parse(clean)).toEqual({ a: 'x[secret]' });
  });

  it('of any script', () => {
    const value = 'пароль-секрет';
    for (const text of [
      value,
      encodeURIComponent(value),
      '\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c-\\u0441\\u0435\\u043a\\u0440\\u0435\\u0442',
    ])
      expect(redactSecrets(`a ${text} z`, [new Secret(value)])).toBe('a [secret] z');
  });

  it('and nothing else is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(redactSecrets(text, secrets)).toBe(text);
      }),
    );
  });

  it('a short or ordinary word stays in other words', () => {
    expect(redactSecrets('a b c', [new Secret('b')])).toBe('a b c');
    expect(redactSecrets('a door bell rings', [new Secret('doorbell')])).toBe('a door bell rings');
    expect(redactSecrets('doorbell', [new Secret('doorbell')])).toBe('[secret]');
  });
});

describe('a run', () => {
  it('removes what it withholds, in parts too, from messages and data', () => {
    const [token, word, named] = ['dop_v1_0a1b2c3d4e5f60718293a4b5c6d7e8f9', 'doorbell', 'app-client-2024-0017-secret'];
    startWithholding();
    for (const value of [token, word, named]) withhold(new Secret(value));
    expect(redactMessage(`${token} ${word} ${named}`)).toBe('[secret] [secret] [secret]');
    expect(redactData(`${token} ${word} ${named}`)).toBe(`[secret] ${word} [secret]`);
    expect(redactMessage(`refused ${token.slice(0, 30)}…`)).toBe('refused [secret]…');
    expect(redactMessage('client_id=app-client-2024-0017')).toBe('client_id=app-client-2024-0017');
  });
});

it('a line of a database has no password, in whole or disguised', () => {
  const long = new Secret('open-sesame-2024');
  expect(redactServerLine('bad o\u200bpen-sesame-2\u0000024 and pw12', [long, undefined, new Secret('pw12')])).toBe(
    'bad [secret] and [secret]',
  );
  const cut = redactServerLine(`${'x'.repeat(290)} open-sesame-2024`, [long]);
  expect(cut).not.toContain('open');
});
