import type { Droplet, DropletAction } from '../records.ts';
import { type DropletImage, type DropletSize, IMAGES_BY_ID, REGIONS, type Region, SIZES } from './catalogue.ts';

/**
 * Serializes a droplet as JSON, with its state at an instant of the virtual clock.
 * @param additional members that are outside the specification
 */
export function serializeDroplet(droplet: Droplet, now: number, additional: object = {}): string {
  const size = SIZES.get(droplet.size);
  const isActive = now >= droplet.activeAt;
  const members = {
    id: droplet.id,
    name: droplet.name,
    memory: size?.memory,
    vcpus: size?.vcpus,
    disk: size?.disk,
    locked: !isActive,
    status: isActive ? 'active' : 'new',
    kernel: null,
    created_at: formatTimestamp(droplet.createdAt),
    features: droplet.features,
    backup_ids: [],
    next_backup_window: null,
    snapshot_ids: [],
    volume_ids: [],
    size_slug: droplet.size,
    networks: isActive ? networks(droplet) : { v4: [], v6: [] },
    tags: droplet.tags,
    vpc_uuid: droplet.vpc ?? null,
    ...additional,
  };
  const image = IMAGES_JSON.get(droplet.image) ?? 'null';
  const region = REGIONS_JSON.get(droplet.region) ?? 'null';
  return `${openObject(members)},"image":${image},"size":${SIZES_JSON.get(droplet.size) ?? 'null'},"region":${region}}`;
}

export function serializeAction(action: DropletAction, now: number): string {
  const isCompleted = now >= action.completedAt;
  const members = {
    id: action.id,
    status: isCompleted ? 'completed' : 'in-progress',
    type: action.type,
    started_at: formatTimestamp(action.startedAt),
    completed_at: isCompleted ? formatTimestamp(action.completedAt) : null,
    resource_id: action.droplet,
    resource_type: 'droplet',
    region_slug: action.region,
  };
  return `${openObject(members)},"region":${REGIONS_JSON.get(action.region) ?? 'null'}}`;
}

/** Formats a time in ISO 8601 with whole seconds, as in `2026-03-01T12:00:00Z`. */
export function formatTimestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -5)}Z`;
}

/** Serializes an object as JSON without the closing brace, so that serialized members can be appended. */
function openObject(members: object): string {
  return JSON.stringify(members).slice(0, -1);
}

function regionView({ slug, name }: Region): object {
  return { name, slug, features: REGION_FEATURES, available: true, sizes: SIZE_SLUGS };
}

function sizeView(size: DropletSize): object {
  const { slug, memory, vcpus, disk, transfer, priceMonthly, description } = size;
  return {
    slug,
    memory,
    vcpus,
    disk,
    transfer,
    price_monthly: priceMonthly,
    price_hourly: Math.round((priceMonthly / HOURS_PER_MONTH) * 100_000) / 100_000,
    regions: REGION_SLUGS,
    available: true,
    description,
  };
}

function imageView({ id, slug, distribution, name }: DropletImage): object {
  return {
    id,
    name,
    distribution,
    slug,
    public: true,
    regions: REGION_SLUGS,
    created_at: '2025-03-04T10:00:00Z',
    type: 'base',
    min_disk_size: 7,
    size_gigabytes: 2.42,
    description: `${distribution} ${name}`,
    tags: [],
    status: 'available',
  };
}

/** The addresses are from the blocks that RFC 5737 reserves for documentation, so they belong to no host. */
function networks({ id, features }: Droplet): object {
  const host = (id % 254) + 1;
  const net = Math.floor(id / 254) % 256;
  const v4 = [
    { ip_address: `10.132.${net}.${host}`, netmask: '255.255.0.0', gateway: '10.132.0.1', type: 'private' },
    { ip_address: `203.0.113.${host}`, netmask: '255.255.255.0', gateway: '203.0.113.1', type: 'public' },
  ];
  const v6 = [
    { ip_address: `2001:db8::${id.toString(16).slice(-4)}`, netmask: 64, gateway: '2001:db8::1', type: 'public' },
  ];
  return { v4, v6: features.includes('ipv6') ? v6 : [] };
}

const HOURS_PER_MONTH = 672;
const REGION_FEATURES = ['backups', 'ipv6', 'metadata', 'install_agent', 'storage', 'image_transfer'];
const REGION_SLUGS = [...REGIONS.keys()];
const SIZE_SLUGS = [...SIZES.keys()];

// The catalogue is serialized once, because it never changes and is the largest part of every response.
export const REGIONS_JSON = serializeAll(REGIONS, regionView);
export const SIZES_JSON = serializeAll(SIZES, sizeView);
export const IMAGES_JSON = serializeAll(IMAGES_BY_ID, imageView);

function serializeAll<Key, Item>(
  items: ReadonlyMap<Key, Item>,
  view: (item: Item) => object,
): ReadonlyMap<Key, string> {
  return new Map([...items].map(([key, item]) => [key, JSON.stringify(view(item))]));
}
