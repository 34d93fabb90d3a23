import { html } from 'hono/html';
import type { TokenPairState } from '../grant-store.ts';
import type { HtmlMarkup } from '../http/reply.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import type { IssuedTokenPair } from '../records.ts';
import { getLastTokenCharacters } from '../request-log.ts';
import { describeAuthorizedAccount, formatUtcSecond, getApplicationName } from './listing.ts';
import { renderPanelPage } from './panel-page.ts';
import type { PanelRequestHandler } from './panel-session.ts';
import { buildLoginTimelineUrlFragment } from './timeline.ts';

/** The tokens of the person: for each login who received them and who refreshed them. Shows the last four characters only. */
export const renderTokensPanelPage: PanelRequestHandler = (_request, { world }, { person }) => {
  const chains = chainsOf(world, person.uuid);
  const content = html`<h1>Tokens</h1>
<p>The tokens that applications hold for you, by login, newest first. A refresh replaces both tokens at once: the earlier ones are refused from then on. Of a token, only the last four characters are shown.</p>
${chains.length === 0 ? html`<p class="soft">No application has received tokens for you.</p>` : ''}
${chains.slice(0, CHAINS_SHOWN).map((pairs) => chainSection(pairs, world))}
${chains.length > CHAINS_SHOWN ? html`<p class="soft">${chains.length - CHAINS_SHOWN} earlier logins are not shown.</p>` : ''}`;
  return renderPanelPage(200, { title: 'Tokens', content, signedInAs: person.name, isWide: true });
};

/** The token pairs of each login, oldest first. The login with the newest token pair comes first. */
function chainsOf(world: LiveSandboxState, person: string): readonly (readonly IssuedTokenPair[])[] {
  const chains = new Map<string, IssuedTokenPair[]>();
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

function chainSection(pairs: readonly IssuedTokenPair[], world: LiveSandboxState): HtmlMarkup | string {
  const last = pairs.at(-1);
  if (last === undefined) return '';
  const { clientId, scope, team } = last;
  const chain = last.issue.chain;
  const name = getApplicationName(clientId, world);
  const state = world.grants.pairState(last);
  const account = describeAuthorizedAccount(team, world);
  const shown = pairs.slice(-PAIRS_SHOWN);
  const left = pairs.length - shown.length;
  return html`<section class="group" aria-label="${name}, ${state}">
<h2>${name} <span class="badge ${state === 'valid' ? 'good' : 'bad'}">${state}</span></h2>
<p class="soft">Scope ${scope}, for ${account}. <a href="/panel/timeline?client_id=${encodeURIComponent(clientId)}#${buildLoginTimelineUrlFragment(chain)}">Requests with these tokens</a></p>
${left === 0 ? '' : html`<p class="soft">${left} earlier refreshes are not shown.</p>`}
<ol class="steps">
${shown.map((pair) => pairStep(pair, world))}
</ol>
</section>`;
}

function pairStep(pair: IssuedTokenPair, world: LiveSandboxState): HtmlMarkup {
  const state = world.grants.pairState(pair);
  const { accessToken, refreshToken, issuedAt } = pair;
  return html`<li class="${state === 'valid' ? 'good' : state === 'refreshed' ? 'minor' : 'bad'}">
<span class="when">${formatUtcSecond(issuedAt)}</span>
<div><strong>${describeIssue(pair, world)}</strong>
<p class="request">Access token <code class="hint">…${getLastTokenCharacters(accessToken) ?? ''}</code>${refreshToken === undefined ? ', no refresh token' : html`, refresh token <code class="hint">…${getLastTokenCharacters(refreshToken) ?? ''}</code>`}: ${describeState(pair, state, world)}</p></div>
</li>
`;
}

function describeIssue({ issue, clientId }: IssuedTokenPair, world: LiveSandboxState): string {
  switch (issue.by) {
    case 'code':
      return `Issued to ${getApplicationName(clientId, world)} for a code`;
    case 'implicit':
      return `Issued to ${getApplicationName(clientId, world)} in the implicit flow`;
    case 'admin_issue':
      return 'Issued by the admin API';
    case 'admin_refresh':
      return 'Refreshed by the admin API';
    case 'refresh':
      return issue.client === undefined
        ? 'Refreshed by a request without a client ID'
        : `Refreshed by ${getApplicationName(issue.client, world)}`;
    default:
      return issue.by satisfies never;
  }
}

function describeState(
  { expiresAt, successor, refreshToken }: IssuedTokenPair,
  state: TokenPairState,
  world: LiveSandboxState,
): string {
  const expiry = `${formatUtcSecond(expiresAt)} UTC`;
  if (state === 'valid') return `valid until ${expiry}`;
  if (state === 'expired')
    return `expired ${expiry}${refreshToken === undefined ? '' : '; the refresh token is still valid'}`;
  const next = world.grants.pair(successor ?? '');
  return next === undefined ? 'revoked' : `replaced ${formatUtcSecond(next.issuedAt)} UTC`;
}

const CHAINS_SHOWN = 20;
const PAIRS_SHOWN = 50;
