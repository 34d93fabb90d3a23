import { type HtmlPage, renderHtmlPage } from './html-page.ts';

/**
 * The page of the implicit flow: the fragment never reaches a server by itself (RFC 6749 §4.2.2), so this page reads it,
 * takes it out of the tab's history, hands it over and leaves. The script never writes it into the document.
 */
export function bridgePage(relayPath: string, nonce: string): HtmlPage {
  return renderHtmlPage({
    status: 200,
    title: 'Signing in',
    icon: 'waiting',
    script,
    data: { relay: relayPath, nonce },
    body: `<div id="working"><h1>Signing you in</h1>
<p>One moment.</p></div>
<div id="empty" hidden><h1>Nothing to hand over</h1>
<p>This address carries no answer. Start again in the terminal.</p></div>
<div id="failed" hidden><h1>The answer could not be handed over</h1>
<p>The login in the terminal did not take it. Look there, or start again.</p></div>
<noscript><p>Without JavaScript this page cannot pass the answer on. Copy its whole address into the terminal, where the login is waiting.</p></noscript>`,
  });
}

const script = `
'use strict';
(() => {
  const hash = location.hash.slice(1);
  const issuer = /[?&](iss=[^&]+)$/.exec(location.search);
  const isWhole = hash === '' || issuer === null || new URLSearchParams(hash).has('iss');
  const fragment = isWhole ? hash : hash + '&' + issuer[1];
  history.replaceState(null, '', location.pathname + location.search);
  const show = (id) => {
    for (const part of ['working', 'empty', 'failed']) document.getElementById(part).hidden = part !== id;
  };
  if (fragment === '') return show('empty');
  const { relay, nonce } = document.body.dataset;
  fetch(relay, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nonce, fragment }),
    credentials: 'omit',
    redirect: 'error',
  })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
    .then(({ next }) => location.replace(next))
    .catch(() => show('failed'));
})();
`;
