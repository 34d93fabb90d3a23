import { html } from 'hono/html';
import type { PairState } from '../grant-store.ts';
import type { HtmlMarkup } from '../http/reply.ts';
import type { TokenPair } from '../records.ts';
import { tokenEnd } from '../request-log.ts';
import type { World } from '../world.ts';
import { applicationName, describeAccount, formatUtcSecond } from './listing.ts';
import { renderPage } from './panel-page.ts';
import type { PanelHandler } from './panel-session.ts';
import { timelineFragment } from './timeline.ts';

/** The tokens of the person: for each login who received them and who refreshed them. Shows the last four characters only. */
export const tokensPage: PanelHandler = (_request, { world }, { person }) => {
  const chains = chainsOf(world, person.uuid);
  const content = html`<h1>Tokens</h1>
<p>The tokens that applications hold for you, by login, newest first. A refresh replaces both tokens at once: the earlier ones are refused from then on. Of a token, only the last four characters are shown.</p>
${chains.length === 0 ? html`<p class="soft">No application has received tokens for you.</p>` : ''}
${chains.slice(0, CHAINS_SHOWN).map((pairs) => chainSection(pairs, world))}
${chains.length > CHAINS_SHOWN ? html`<p class="soft">${chains.length - CHAINS_SHOWN} earlier logins are not shown.</p>` : ''}`;
  return renderPage(200, { title: 'Tokens', content, signedInAs: person.name, isWide: true });
};

/** The token pairs of each login, oldest first. The login with the newest token pair comes first. */
function chainsOf(world: World, person: string): readonly (readonly TokenPair[])[] {
  const chains = new Map<string, TokenPair[]>();
  const pairs = [...world.grants.pairsOf(person)];
  for (const pair of pairs.sort((one, other) => one.issuedAt - other.issuedAt)) {
    const chain = pair.issue.chain;
    const earlier = chains.get(chain) ?? [];
    // The entry of the login is deleted and added again, so that the map is ordered by the newest token pair of each login.
    chains.delete(chain);
    chains.set(chain, [...earlier, pair]);
  }
  return [...chains.values()].reverse();
}

function chainSection(pairs: readonly TokenPair[], world: World): HtmlMarkup | string {
  const last = pairs.at(-1);
  if (last === undefined) return '';
  const { clientId, scope, team } = last;
  const chain = last.issue.chain;
  const name = applicationName(clientId, world);
  const state = world.grants.pairState(last);
  const account = describeAccount(team, world);
  const shown = pairs.slice(-PAIRS_SHOWN);
  const left = pairs.length - shown.length;
  return html`<section class="group" aria-label="${name}, ${state}">
<h2>${name} <span class="badge ${state === 'valid' ? 'good' : 'bad'}">${state}</span></h2>
<p class="soft">Scope ${scope}, for ${account}. <a href="/panel/timeline?client_id=${encodeURIComponent(clientId)}#${timelineFragment(chain)}">Requests with these tokens</a></p>
${left === 0 ? '' : html`<p class="soft">${left} earlier refreshes are not shown.</p>`}
<ol class="steps">
${shown.map((pair) => pairStep(pair, world))}
</ol>
</section>`;
}

function pairStep(pair: TokenPair, world: World): HtmlMarkup {
  const state = world.grants.pairState(pair);
  const { accessToken, refreshToken, issuedAt } = pair;
  return html`<li class="${state === 'valid' ? 'good' : state === 'refreshed' ? 'minor' : 'bad'}">
<span class="when">${formatUtcSecond(issuedAt)}</span>
<div><strong>${describeIssue(pair, world)}</strong>
<p class="request">Access token <code class="hint">…${tokenEnd(accessToken) ?? ''}</code>${refreshToken === undefined ? ', no refresh token' : html`, refresh token <code class="hint">…${tokenEnd(refreshToken) ?? ''}</code>`}: ${describeState(pair, state, world)}</p></div>
</li>
`;
}

function describeIssue({ issue, clientId }: TokenPair, world: World): string {
  switch (issue.by) {
    case 'code':
      return `Issued to ${applicationName(clientId, world)} for a code`;
    case 'implicit':
      return `Issued to ${applicationName(clientId, world)} in the implicit flow`;
    case 'admin_issue':
      return 'Issued by the admin API';
    case 'admin_refresh':
      return 'Refreshed by the admin API';
    case 'refresh':
      return issue.client === undefined
        ? 'Refreshed by a request without a client ID'
        : `Refreshed by ${applicationName(issue.client, world)}`;
    default:
      return issue.by satisfies never;
  }
}

function describeState({ expiresAt, successor, refreshToken }: TokenPair, state: PairState, world: World): string {
  const expiry = `${formatUtcSecond(expiresAt)} UTC`;
  if (state === 'valid') return `valid until ${expiry}`;
  if (state === 'expired')
    return `expired ${expiry}${refreshToken === undefined ? '' : '; the refresh token is still valid'}`;
  const next = world.grants.pair(successor ?? '');
  return next === undefined ? 'revoked' : `replaced ${formatUtcSecond(next.issuedAt)} UTC`;
}

const CHAINS_SHOWN = 20;
const PAIRS_SHOWN = 50;
