import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { renderImplicitFlowBridgePage } from '../../../src/auth/loopback/bridge-page.ts';
import type { LoopbackHtmlPage } from '../../../src/auth/loopback/html-page.ts';
import {
  type LoginOutcome,
  renderLoginOutcomePage,
  renderLoopbackRefusalPage,
} from '../../../src/auth/loopback/outcome-page.ts';
import { type LoopbackRefusalReason, loopbackRefusalStatusCodes } from '../../../src/auth/loopback/refusal.ts';
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
  const pages: readonly LoopbackHtmlPage[] = [
    ...outcomes.map(renderLoginOutcomePage),
    renderLoopbackRefusalPage('not_found'),
    renderImplicitFlowBridgePage('/callback/fragment', 'n'),
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
  const body = (outcome: LoginOutcome) => renderLoginOutcomePage(outcome).html;
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
    const html = renderLoginOutcomePage({
      kind: 'signed_in',
      name: `<img src=x onerror="alert('1')">&amp;`,
      email: '</style><script>',
    }).html;
    expect(html).not.toMatch(/<img|<script|onerror="/);
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;');
  });
  test('control and bidi characters', () => {
    const html = renderLoginOutcomePage({
      kind: 'signed_in',
      name: 'A\u001b[31mB\u0000C\u009bD\u202eE\u2066F\u200bG\ud800H',
    }).html;
    expect(html).toMatch(/<h1>[^<]* ABCEFG\ufffdH<\/h1>/);
  });
  test('length', () => {
    const html = renderLoginOutcomePage({ kind: 'failed', reason: 'x'.repeat(5000) }).html;
    expect(html).toContain(`>${'x'.repeat(299)}…<`);
  });
  test('a name made of nothing is no name', () => {
    expect(renderLoginOutcomePage({ kind: 'signed_in', name: '\u0007 ' }).html).toBe(
      renderLoginOutcomePage({ kind: 'signed_in' }).html,
    );
  });
});

test('every outcome has words of its own', () => {
  const headings = outcomes.map((outcome) => /<h1>(.*)<\/h1>/.exec(renderLoginOutcomePage(outcome).html)?.[1]);
  expect(new Set(headings).size).toBe(outcomes.length);
  for (const outcome of outcomes)
    expectGolden('auth', textOf(renderLoginOutcomePage(outcome).html), JSON.stringify(outcome));
});

test('every refusal has words of its own', () => {
  for (const reason of Object.keys(loopbackRefusalStatusCodes) as LoopbackRefusalReason[])
    expectGolden('auth', textOf(renderLoopbackRefusalPage(reason).html), reason);
});

/** The visible text of a page. */
function textOf(html: string): string {
  const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? '';
  return main
    .replaceAll(/<svg[\s\S]*<\/svg>|<[^>]+>/g, '')
    .replaceAll(/\n+/g, '\n')
    .trim();
}
