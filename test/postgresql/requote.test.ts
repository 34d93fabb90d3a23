import { expect, test } from 'vitest';
import { requoteName, requoteSignature } from '../../src/postgresql/quote.ts';

test.each([
  ['public.t', '"public"."t"'],
  ['"Odd ""Name".t_1', '"Odd ""Name"."t_1"'],
  ['"a.b"', '"a.b"'],
  ['"a\n\\! b".c', '"a\n\\! b"."c"'],
])('the name %j is quoted here', (text, quoted) => {
  expect(requoteName(text)).toBe(quoted);
});

test.each(['t; DROP TABLE x', 't \\! touch canary', 'a"."b"', '"open', '.', 'a..b', 'a -- b', "a'b"])(
  'the text %j of a hostile server is one quoted name',
  (text) => {
    expect(requoteName(text)).toBe(`"${text.replaceAll('"', '""')}"`);
  },
);

test('a name that cannot be one is quoted, too', () => {
  expect(requoteName('')).toBe('"?"');
  expect(requoteName('a\0b')).toBe('"a\uFFFDb"');
});

test.each([
  ['public.f()', '"public"."f"()'],
  ['public.f(integer,text)', '"public"."f"(integer, "text")'],
  ['public.f(timestamp with time zone[],"char")', '"public"."f"(timestamp with time zone[], "char")'],
  ['"My ""S"."f(x)"(app."T,(y)"[])', '"My ""S"."f(x)"("app"."T,(y)"[])'],
])('the signature %j', (text, quoted) => {
  expect(requoteSignature(text)).toBe(quoted);
});

test.each(['public.f(integer) \\! touch canary', 'f(a; b)', 'f', 'f(', 'f(int eger)', 'f(a,,b)'])(
  'the text %j is no signature: it becomes a name that no function has',
  (text) => {
    expect(requoteSignature(text)).toBe(`"${text}"()`);
  },
);

test.each(['"'.repeat(20_001), `f(${'"'.repeat(20_001)})`, `f(${'[]'.repeat(20_000)}x)`, `f(${'"",'.repeat(10_000)}"`])(
  'a long text of a hostile server takes no longer than its length',
  (text) => {
    expect(requoteSignature(text)).toBe(`"${text.replaceAll('"', '""')}"()`);
  },
);
