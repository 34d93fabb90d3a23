import { type LoopbackHtmlPage, renderLoopbackHtmlPage } from './html-page.ts';

/**
 * The bridge page of the implicit flow. A browser does not send the fragment to a server (RFC 6749 §4.2.2), so the script of
 * this page reads it, removes it from the history of the tab and posts it to the relay. The script never writes the fragment
 * into the page.
 */
export function renderImplicitFlowBridgePage(relayPath: string, nonce: string): LoopbackHtmlPage {
  return renderLoopbackHtmlPage({
    status: 200,
    title: 'Signing in',
    icon: 'waiting',
    script,
    data: { relay: relayPath, nonce },
    body: `<div id="working"><h1>Signing you in</h1>
<p>One moment.</p></div>
<div id="empty" hidden><h1>No authorization response</h1>
<p>This URL contains no response of the authorization server. Start again in the terminal.</p></div>
<div id="failed" hidden><h1>The response was not accepted</h1>
<p>The terminal shows the state of the login. Start again there.</p></div>
<noscript><p>This page needs JavaScript. Without it, copy the complete URL of this page into the terminal.</p></noscript>`,
  });
}

const script = `
'use strict';
(() => {
  const hash = location.hash.slice(1);
  const issuer = /[?&](iss=[^&]+)$/.exec(location.search);
  const isComplete = hash === '' || issuer === null || new URLSearchParams(hash).has('iss');
  const fragment = isComplete ? hash : hash + '&' + issuer[1];
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
