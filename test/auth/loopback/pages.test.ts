import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { RefusalReason } from '../../../src/auth/loopback/decide.ts';
import {
  bridgePage,
  escapeText,
  type LoginOutcome,
  outcomePage,
  type Page,
  refusalPage,
  refusals,
} from '../../../src/auth/loopback/pages.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const outcomes: readonly LoginOutcome[] = [
  { kind: 'signed_in' },
  { kind: 'signed_in', name: 'Sammy', email: 'sammy@example.com', team: 'Reef' },
  { kind: 'access_denied' },
  { kind: 'state_mismatch' },
  { kind: 'failed', reason: 'The authorization server refused the code' },
  { kind: 'unfinished' },
];

describe('rule 27: a page needs nothing from outside', () => {
  const pages: readonly Page[] = [
    ...outcomes.map(outcomePage),
    refusalPage('not_found'),
    bridgePage('/callback/fragment', 'n'),
  ];
  test.each(pages.map((page) => [/<title>(.*)<\/title>/.exec(page.html)?.[1], page] as const))('%s', (_, page) => {
    const hashOf = (tag: string) => {
      const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page.html)?.[1];
      return text === undefined ? undefined : `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };
    expect(page.policy).toContain(`style-src ${hashOf('style')};`);
    const script = hashOf('script');
    if (script === undefined) {
      expect(page.policy).not.toMatch(/script-src|connect-src/);
    } else {
      expect(page.policy).toContain(`script-src ${script}; connect-src 'self'`);
    }
    expect(page.policy).not.toContain('unsafe');
    expect(page.html).not.toMatch(/https?:|src=|href=|url\(|@import|style="|\son\w+=/);
    expect(page.html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page.html).toContain('role="status"');
    expect(page.html).toMatch(/<h1>.+<\/h1>/);
    expect(page.html).toContain('prefers-color-scheme: dark');
  });
});

describe('the page says who signed in', () => {
  const body = (outcome: LoginOutcome) => outcomePage(outcome).html;
  test('by name, email and team', () => {
    const html = body({ kind: 'signed_in', name: 'Sammy', email: 'sammy@example.com', team: 'Reef' });
    expect(html).toMatch(/<h1>[^<]*Sammy<\/h1>\n<p class="who">sammy@example\.com<\/p>\n<p class="who">[^<]*Reef<\/p>/);
    expect(html).toContain('<p class="close">');
  });
  test('by email alone', () => {
    const html = body({ kind: 'signed_in', email: 'sammy@example.com' });
    expect(html).toMatch(/<h1>[^<]*sammy@example\.com<\/h1>/);
    expect(html).not.toContain('class="who"');
  });
  test('by neither', () => expect(body({ kind: 'signed_in' })).toBe(body({ kind: 'signed_in', name: '' })));
});

describe('rule 26: text from outside stays text', () => {
  test('markup', () => {
    const html = outcomePage({
      kind: 'signed_in',
      name: `<img src=x onerror="alert('1')">&amp;`,
      email: '</style><script>',
    }).html;
    expect(html).not.toMatch(/<img|<script|onerror="/);
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;');
  });
  test('control and bidi characters', () => {
    const html = outcomePage({
      kind: 'signed_in',
      name: 'A\u001b[31mB\u0000C\u009bD\u202eE\u2066F\u200bG\ud800H',
    }).html;
    expect(html).toMatch(/<h1>[^<]* ABCEFG\ufffdH<\/h1>/);
  });
  test('length', () => {
    const html = outcomePage({ kind: 'failed', reason: 'x'.repeat(5000) }).html;
    expect(html).toContain(`>${'x'.repeat(299)}…<`);
  });
  test('a name made of nothing is no name', () => {
    expect(outcomePage({ kind: 'signed_in', name: '\u0007 ' }).html).toBe(outcomePage({ kind: 'signed_in' }).html);
  });
});

test('every outcome has words of its own', () => {
  const headings = outcomes.map((outcome) => /<h1>(.*)<\/h1>/.exec(outcomePage(outcome).html)?.[1]);
  expect(new Set(headings).size).toBe(outcomes.length);
  for (const outcome of outcomes) expectGolden('auth', textOf(outcomePage(outcome).html), JSON.stringify(outcome));
});

test('every refusal has words of its own', () => {
  for (const reason of Object.keys(refusals) as RefusalReason[])
    expectGolden('auth', textOf(refusalPage(reason).html), reason);
});

test('every refusal has a status of its kind: the client was wrong', () => {
  for (const [status] of Object.values(refusals)) expect(Math.floor(status / 100)).toBe(4);
});

/** The visible text of a page. */
function textOf(html: string): string {
  const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? '';
  return main
    .replaceAll(/<svg[\s\S]*<\/svg>|<[^>]+>/g, '')
    .replaceAll(/\n+/g, '\n')
    .trim();
}

test('rule 30: the bridge alone may run its script and speak to its own origin', () => {
  const { html, policy, status } = bridgePage('/callback/fragment', 'the-nonce');
  expect(status).toBe(200);
  expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; connect-src 'self'/);
  expect(html).toContain('<body data-relay="/callback/fragment" data-nonce="the-nonce">');
});

test('one script serves every login: its hash does not depend on path and nonce', () => {
  expect(bridgePage('/a', 'x').policy).toBe(bridgePage('/b', 'y').policy);
});

test('without JavaScript the page says what to do', () => {
  const { html } = bridgePage('/a', 'x');
  expect(html).toContain('<noscript>');
  expectGolden('auth', textOf(html));
});

test('the nonce cannot break out of its attribute', () => {
  const { html } = bridgePage('/a"b/fragment', '"><script>');
  expect(html).toContain('data-relay="/a&quot;b/fragment" data-nonce="&quot;&gt;&lt;script&gt;"');
});

describe('rule 26: a text is escaped and cut', () => {
  test.each([
    ['markup', `<b a="1" b='2'>&`, '&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;'],
    ['escape sequences', 'A\u001b[31mB\u009bC', 'AB'],
    ['null and line ends', 'A\u0000B\r\nC\u2028D', 'AB C D'],
    ['direction marks', 'A\u202eB\u2066C\u200fD\u061cE', 'ABCDE'],
    ['hidden characters', 'A\u200bB\u00adC\ufeffD\u{e0041}E', 'ABCDE'],
    ['half a character', 'A\ud800B', 'A\ufffdB'],
    ['nothing left', '\u0007 \u202e', ''],
    ['other scripts and emoji', 'Zoë 李 שלום 👩\u200d💻', 'Zoë 李 שלום 👩\u200d💻'],
  ])('%s', (_, text, html) => {
    expect(escapeText(text)).toBe(html);
  });

  test('300 characters at most, none cut in half', () => {
    expect([...escapeText('🦈'.repeat(400))]).toHaveLength(300);
  });
});
