import { describe, expect, test } from 'vitest';
import { escapeLoopbackPageText, renderLoopbackHtmlPage } from '../../../src/auth/loopback/html-page.ts';

describe('rule 26: text from outside stays text', () => {
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
    expect(escapeLoopbackPageText(text)).toBe(html);
  });

  test('300 characters at most, none cut in half', () => {
    expect([...escapeLoopbackPageText('🦈'.repeat(400))]).toHaveLength(300);
  });
});

test('a page without a script allows none', () => {
  const { html, policy } = renderLoopbackHtmlPage({ status: 200, title: 'T <&>', icon: 'done', body: '<h1>T</h1>' });
  expect(policy).not.toMatch(/script-src|connect-src|unsafe/);
  expect(html).not.toContain('<script');
  expect(html).toContain('<title>T &lt;&amp;&gt; · cloudctl</title>');
});
