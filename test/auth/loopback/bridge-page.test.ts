import { expect, test } from 'vitest';
import { renderImplicitFlowBridgePage } from '../../../src/auth/loopback/bridge-page.ts';
import { expectGolden } from '../../fixtures/golden.ts';

test('rule 30: the bridge alone may run its script and speak to its own origin', () => {
  const { html, policy, status } = renderImplicitFlowBridgePage('/callback/fragment', 'the-nonce');
  expect(status).toBe(200);
  expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; connect-src 'self'/);
  expect(html).toContain('<body data-relay="/callback/fragment" data-nonce="the-nonce">');
});

test('one script serves every login: its hash does not depend on path and nonce', () => {
  expect(renderImplicitFlowBridgePage('/a', 'x').policy).toBe(renderImplicitFlowBridgePage('/b', 'y').policy);
});

test('without JavaScript the page says what to do', () => {
  const text = /<main[\s\S]*<\/main>/.exec(renderImplicitFlowBridgePage('/a', 'x').html)?.[0] ?? '';
  expect(text).toContain('<noscript>');
  expectGolden(
    'auth',
    text
      .replaceAll(/<svg[\s\S]*<\/svg>/g, '')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\n+/g, '\n')
      .trim(),
  );
});

test('the nonce cannot break out of its attribute', () => {
  const { html } = renderImplicitFlowBridgePage('/a"b/fragment', '"><script>');
  expect(html).toContain('data-relay="/a&quot;b/fragment" data-nonce="&quot;&gt;&lt;script&gt;"');
});
