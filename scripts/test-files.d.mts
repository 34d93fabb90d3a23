/** Paths, relative to `root`, of the test files that need a server, a browser, a keychain or another program beside Node. */
export function serverTests(root: string): readonly string[];
