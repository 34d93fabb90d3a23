/** The result of routing: the matching route, or the allowed methods of a path without a route for this method, or nothing. */
export type RouteMatch<Route> =
  | { readonly found: 'route'; readonly route: Route; readonly captures: readonly string[] }
  | { readonly found: 'path'; readonly allow: string }
  | { readonly found: 'nothing' };

export type Router<Route> = (method: string, path: string) => RouteMatch<Route>;

/**
 * The router compares the raw path byte for byte. A path without a placeholder `{…}` is looked up in a map; paths with
 * placeholders are tried in order.
 */
export function createRouter<Route extends { readonly method: string; readonly path: string }>(
  routes: readonly Route[],
): Router<Route> {
  const paths = new Map<string, Route[]>();
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route]);
  const patterns = [...paths]
    .filter(([path]) => path.includes('{'))
    .map(([path, own]) => ({ pattern: patternOf(path), own }));
  return (method, path) => {
    const literal = paths.get(path);
    if (literal !== undefined) return selectByMethod(literal, method, []);
    for (const { pattern, own } of patterns) {
      const match = pattern.exec(path);
      if (match !== null) return selectByMethod(own, method, match.slice(1));
    }
    return { found: 'nothing' };
  };
}

function selectByMethod<Route extends { readonly method: string }>(
  routes: readonly Route[],
  method: string,
  captures: readonly string[],
): RouteMatch<Route> {
  const routedMethod = method === 'HEAD' ? 'GET' : method;
  const route = routes.find((one) => one.method === routedMethod);
  if (route !== undefined) return { found: 'route', route, captures };
  const allow = routes.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));
  return { found: 'path', allow: allow.join(', ') };
}

function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '([^/]+)' : segment.replaceAll('.', '\\.')));
  return new RegExp(`^${segments.join('/')}$`);
}
