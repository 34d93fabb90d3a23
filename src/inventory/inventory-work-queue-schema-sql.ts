/**
 * The tables of queues. `source` has a row for each source, without secrets; `cells` and `outcome` are JSON. Later versions only
 * add columns.
 */
export const inventoryWorkQueueSchemaSql: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS cloudctl_inventory',
  `CREATE TABLE IF NOT EXISTS cloudctl_inventory.inventory (
    name text PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL,
    fingerprint text NOT NULL,
    options text NOT NULL,
    total integer NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS cloudctl_inventory.source (
    inventory text NOT NULL REFERENCES cloudctl_inventory.inventory ON DELETE CASCADE,
    line integer NOT NULL,
    address text NOT NULL,
    cells text NOT NULL,
    holder text,
    fence integer NOT NULL DEFAULT 0,
    lease_until timestamptz,
    outcome text,
    outcome_fence integer,
    finished_at timestamptz,
    PRIMARY KEY (inventory, line)
  )`,
];

/** Lock for creating the tables of the queue: without it, two machines could create them at the same time. */
export const inventoryWorkQueueSchemaLockSql = 'SELECT pg_advisory_xact_lock(7318349394477056)';
