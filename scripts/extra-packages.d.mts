export const side: string;
export const npmCommand: readonly [string, ...(readonly string[])];
export function otherNode(range: string): string | undefined;
export function install(folder: string, ...packages: readonly string[]): boolean;
/** A version and the sums of packages by their names. */
interface PinnedNode {
  readonly version: string;
  readonly packages: Readonly<Record<string, string>>;
}
export function pinnedNode(pinned?: PinnedNode): string | undefined;
export function installPinned(folder: string, name: string, version: string, integrity: string): boolean;
