export interface Region {
  readonly slug: string;
  readonly name: string;
}

export interface DropletSize {
  readonly slug: string;
  /** Megabytes. */
  readonly memory: number;
  readonly vcpus: number;
  /** Gigabytes. */
  readonly disk: number;
  /** Terabytes. */
  readonly transfer: number;
  readonly priceMonthly: number;
  readonly description: string;
}

export interface DropletImage {
  readonly id: number;
  readonly slug: string;
  readonly distribution: string;
  readonly name: string;
}

export const DEFAULT_REGION = 'nyc3';

export const REGIONS: ReadonlyMap<string, Region> = bySlug([
  { slug: 'nyc1', name: 'New York 1' },
  { slug: 'nyc2', name: 'New York 2' },
  { slug: 'nyc3', name: 'New York 3' },
  { slug: 'sfo1', name: 'San Francisco 1' },
  { slug: 'sfo2', name: 'San Francisco 2' },
  { slug: 'sfo3', name: 'San Francisco 3' },
  { slug: 'ams2', name: 'Amsterdam 2' },
  { slug: 'ams3', name: 'Amsterdam 3' },
  { slug: 'lon1', name: 'London 1' },
  { slug: 'fra1', name: 'Frankfurt 1' },
  { slug: 'sgp1', name: 'Singapore 1' },
  { slug: 'tor1', name: 'Toronto 1' },
  { slug: 'blr1', name: 'Bangalore 1' },
  { slug: 'syd1', name: 'Sydney 1' },
  { slug: 'atl1', name: 'Atlanta 1' },
]);

export const SIZES: ReadonlyMap<string, DropletSize> = bySlug([
  ...basic('', [
    ['s-1vcpu-512mb-10gb', 512, 1, 10, 0.5, 4],
    ['s-1vcpu-1gb', 1024, 1, 25, 1, 6],
    ['s-1vcpu-2gb', 2048, 1, 50, 2, 12],
    ['s-1vcpu-3gb', 3072, 1, 60, 3, 18],
    ['s-2vcpu-2gb', 2048, 2, 60, 3, 18],
    ['s-3vcpu-1gb', 1024, 3, 60, 3, 18],
    ['s-2vcpu-4gb', 4096, 2, 80, 4, 24],
    ['s-4vcpu-8gb', 8192, 4, 160, 5, 48],
    ['s-8vcpu-16gb', 16384, 8, 320, 6, 96],
    ['s-8vcpu-32gb', 32768, 8, 640, 7, 192],
    ['s-12vcpu-48gb', 49152, 12, 960, 8, 288],
    ['s-16vcpu-64gb', 65536, 16, 1280, 9, 384],
  ]),
  ...basic(' AMD', [
    ['s-1vcpu-1gb-amd', 1024, 1, 25, 1, 7],
    ['s-1vcpu-2gb-amd', 2048, 1, 50, 2, 14],
    ['s-2vcpu-2gb-amd', 2048, 2, 60, 3, 21],
    ['s-2vcpu-4gb-amd', 4096, 2, 80, 4, 28],
    ['s-4vcpu-8gb-amd', 8192, 4, 160, 5, 56],
    ['s-8vcpu-16gb-amd', 16384, 8, 320, 6, 112],
  ]),
  ...basic(' Intel', [
    ['s-1vcpu-1gb-intel', 1024, 1, 25, 1, 7],
    ['s-1vcpu-2gb-intel', 2048, 1, 50, 2, 14],
    ['s-2vcpu-2gb-intel', 2048, 2, 60, 3, 21],
    ['s-2vcpu-4gb-intel', 4096, 2, 80, 4, 28],
    ['s-4vcpu-8gb-intel', 8192, 4, 160, 5, 56],
    ['s-8vcpu-16gb-intel', 16384, 8, 320, 6, 112],
  ]),
  ...basic(' legacy', [
    ['512mb', 512, 1, 20, 1, 5],
    ['1gb', 1024, 1, 30, 2, 10],
    ['2gb', 2048, 2, 40, 3, 20],
    ['4gb', 4096, 2, 60, 4, 40],
    ['8gb', 8192, 4, 80, 5, 80],
    ['16gb', 16384, 8, 160, 6, 160],
  ]),
  ...dedicated('c', 'CPU-Optimized', 2048, 12.5, 21, [2, 4, 8, 16, 32]),
  ...dedicated('g', 'General Purpose', 4096, 12.5, 31.5, [2, 4, 8, 16, 32, 40]),
  ...dedicated('m', 'Memory-Optimized', 8192, 25, 42, [2, 4, 8, 16, 24, 32]),
]);

export const IMAGES: ReadonlyMap<string, DropletImage> = bySlug([
  { id: 155_133_621, slug: 'ubuntu-24-04-x64', distribution: 'Ubuntu', name: '24.04 (LTS) x64' },
  { id: 129_211_873, slug: 'ubuntu-22-04-x64', distribution: 'Ubuntu', name: '22.04 (LTS) x64' },
  { id: 112_929_454, slug: 'ubuntu-20-04-x64', distribution: 'Ubuntu', name: '20.04 (LTS) x64' },
  { id: 93_525_508, slug: 'ubuntu-18-04-x64', distribution: 'Ubuntu', name: '18.04 (LTS) x64' },
  { id: 69_463_186, slug: 'ubuntu-16-04-x64', distribution: 'Ubuntu', name: '16.04 (LTS) x64' },
  { id: 13_089_493, slug: 'ubuntu-14-04-x64', distribution: 'Ubuntu', name: '14.04 (LTS) x64' },
  { id: 186_442_105, slug: 'debian-13-x64', distribution: 'Debian', name: '13 x64' },
  { id: 164_502_311, slug: 'debian-12-x64', distribution: 'Debian', name: '12 x64' },
  { id: 142_318_807, slug: 'debian-11-x64', distribution: 'Debian', name: '11 x64' },
  { id: 72_181_180, slug: 'debian-10-x64', distribution: 'Debian', name: '10 x64' },
  { id: 188_104_922, slug: 'fedora-42-x64', distribution: 'Fedora', name: '42 x64' },
  { id: 170_881_664, slug: 'fedora-41-x64', distribution: 'Fedora', name: '41 x64' },
  { id: 159_651_797, slug: 'fedora-40-x64', distribution: 'Fedora', name: '40 x64' },
  { id: 191_037_115, slug: 'rockylinux-10-x64', distribution: 'Rocky Linux', name: '10 x64' },
  { id: 160_209_134, slug: 'rockylinux-9-x64', distribution: 'Rocky Linux', name: '9 x64' },
  { id: 154_117_003, slug: 'rockylinux-8-x64', distribution: 'Rocky Linux', name: '8 x64' },
  { id: 160_223_946, slug: 'almalinux-9-x64', distribution: 'AlmaLinux', name: '9 x64' },
  { id: 154_120_481, slug: 'almalinux-8-x64', distribution: 'AlmaLinux', name: '8 x64' },
  { id: 162_841_590, slug: 'centos-stream-10-x64', distribution: 'CentOS', name: '10 Stream x64' },
  { id: 157_902_218, slug: 'centos-stream-9-x64', distribution: 'CentOS', name: '9 Stream x64' },
  { id: 50_944_795, slug: 'centos-7-x64', distribution: 'CentOS', name: '7 x64' },
  { id: 171_245_330, slug: 'docker-20-04', distribution: 'Ubuntu', name: 'Docker on Ubuntu' },
  { id: 171_245_877, slug: 'wordpress-20-04', distribution: 'Ubuntu', name: 'WordPress on Ubuntu' },
]);

export const IMAGES_BY_ID: ReadonlyMap<number, DropletImage> = new Map(
  [...IMAGES.values()].map((image) => [image.id, image]),
);

/** The slug of the newest region of a place, such as nyc3 for `nyc`; undefined for an unknown place. */
export function findNewestRegion(place: string): string | undefined {
  return [...REGIONS.keys()]
    .filter((slug) => slug.replace(/\d+$/, '') === place)
    .toSorted()
    .at(-1);
}

type Row = readonly [slug: string, memory: number, vcpus: number, disk: number, transfer: number, priceMonthly: number];

function basic(kind: string, rows: readonly Row[]): readonly DropletSize[] {
  return rows.map(([slug, memory, vcpus, disk, transfer, priceMonthly]) => {
    return { slug, memory, vcpus, disk, transfer, priceMonthly, description: `Basic${kind}` };
  });
}

/** Droplet sizes whose memory, disk and price are proportional to their number of vCPUs. */
function dedicated(
  letter: string,
  description: string,
  memoryEach: number,
  diskEach: number,
  priceEach: number,
  counts: readonly number[],
): readonly DropletSize[] {
  return counts.map((vcpus) => ({
    slug: letter === 'c' ? `c-${vcpus}` : `${letter}-${vcpus}vcpu-${(vcpus * memoryEach) / 1024}gb`,
    memory: vcpus * memoryEach,
    vcpus,
    disk: vcpus * diskEach,
    transfer: Math.min(10, 3 + vcpus / 2),
    priceMonthly: vcpus * priceEach,
    description,
  }));
}

function bySlug<Item extends { readonly slug: string }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.slug, item]));
}
