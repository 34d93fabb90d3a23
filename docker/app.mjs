// Reads all droplets of the sandbox, page by page. It knows only the URL of the sandbox and the admin token.
const { AUTH_URL, ADMIN_TOKEN } = process.env;

async function readJson(url, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

const admin = { 'x-admin-token': ADMIN_TOKEN };
const { base_url } = await readJson(`${AUTH_URL}/_sandbox/world`, { headers: admin });
const { access_token } = await readJson(`${AUTH_URL}/_sandbox/tokens`, {
  method: 'POST',
  headers: admin,
  body: JSON.stringify({ user: 'maya@example.com' }),
});

for (let url = `${base_url}/v2/droplets?per_page=1`; url !== undefined; ) {
  const page = await readJson(url, { headers: { authorization: `Bearer ${access_token}` } });
  for (const { id, name } of page.droplets) console.log(id, name);
  url = page.links.pages?.next;
}
