import type { Browser, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Person } from '../../fixtures/sandbox.ts';
import type { SecretLedger } from './secrets.ts';

/** A person at a browser. */
export interface Visitor {
  readonly page: Page;
  /** What the page says, below its head. */
  text(): Promise<string>;
  open(address: string): Promise<void>;
  signIn(person: Person): Promise<void>;
  /** Authorizes on the consent page, for the person's own account or for a team. */
  authorize(team?: string): Promise<void>;
  deny(): Promise<void>;
  /** Opens the authorization URL, signs in and authorizes. */
  logIn(authorizationUrl: string, person: Person, team?: string): Promise<void>;
  /** What the helper's last page says. */
  told(): Promise<string>;
  /** Authorizes without following the redirect, whose address it returns. */
  authorizeWithoutFollowing(): Promise<string>;
  /** Addresses that answers redirected to, oldest first. */
  readonly redirects: readonly string[];
  /** The addresses at which the tab stood still, oldest first. */
  readonly stops: readonly string[];
  /** The address bar and the history behind it, as the browser itself keeps them. */
  trail(): Promise<{ readonly address: string; readonly history: readonly string[] }>;
}

export async function makeVisitor(browser: Browser, secrets: SecretLedger): Promise<Visitor> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const redirects: string[] = [];
  const stops: string[] = [];
  page.on('response', (response) => {
    const { location } = response.headers();
    if (location === undefined) return;
    const redirect = new URL(location, response.url()).href;
    redirects.push(redirect);
    secrets.addFrom(redirect);
  });
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) stops.push(frame.url());
  });
  const tools = await context.newCDPSession(page);

  const text = (): Promise<string> => page.locator('main').innerText();
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const signIn = async (person: Person): Promise<void> => {
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await press('Sign in');
    await page.waitForLoadState();
  };
  const authorize = async (team?: string): Promise<void> => {
    if (team !== undefined) await page.getByLabel(`The team ${team}`).check();
    await press('Authorize application');
  };
  const open = async (address: string): Promise<void> => {
    await page.goto(address);
  };
  return {
    page,
    text,
    open,
    signIn,
    authorize,
    deny: () => press('Deny'),
    logIn: async (authorizationUrl, person, team) => {
      await open(authorizationUrl);
      await signIn(person);
      await authorize(team);
    },
    told: async () => {
      await page.waitForURL(/\/done\//);
      return text();
    },
    authorizeWithoutFollowing: async () => {
      const form = page.locator('form');
      const csrf = await form.locator('[name=csrf]').inputValue();
      const action = new URL((await form.getAttribute('action')) ?? '', page.url()).href;
      const answer = await context.request.post(action, {
        form: { csrf, account: 'personal', decision: 'approve' },
        maxRedirects: 0,
      });
      const { location = '' } = answer.headers();
      secrets.addFrom(location);
      return location;
    },
    redirects,
    stops,
    trail: async () => {
      const { entries, currentIndex } = await tools.send('Page.getNavigationHistory');
      return {
        address: entries[currentIndex]?.url ?? '',
        history: entries.flatMap(({ url, userTypedURL }) => [url, userTypedURL]),
      };
    },
  };
}
