-- Written for this test, with features of the public database schema of Mastodon 4 (AGPL-3.0); no line of it was copied.
CREATE FUNCTION timestamp_id(table_name text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  time_part bigint;
  sequence_base bigint;
  tail bigint;
BEGIN
  time_part := (date_part('epoch', now()) * 1000)::bigint << 16;
  sequence_base := ('x' || substr(md5(table_name || time_part::text), 1, 4))::bit(16)::bigint;
  tail := (sequence_base + nextval(table_name || '_id_seq')) & 65535;
  RETURN time_part | tail;
END
$$;

CREATE SEQUENCE accounts_id_seq;
CREATE SEQUENCE statuses_id_seq;

CREATE TABLE accounts (
  id bigint DEFAULT timestamp_id('accounts') PRIMARY KEY,
  username varchar NOT NULL DEFAULT '',
  domain varchar,
  display_name varchar NOT NULL DEFAULT '',
  note text NOT NULL DEFAULT '',
  private_key text,
  fields jsonb,
  also_known_as varchar[],
  suspended_at timestamp,
  created_at timestamp NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX index_accounts_on_username_and_domain_lower
  ON accounts (lower(username), coalesce(lower(domain), ''));
CREATE INDEX search_index ON accounts USING gin ((
  setweight(to_tsvector('simple', display_name), 'A')
  || setweight(to_tsvector('simple', username), 'B')
  || setweight(to_tsvector('simple', coalesce(domain, '')), 'C')
));

CREATE TABLE users (
  id bigserial PRIMARY KEY,
  email varchar NOT NULL DEFAULT '',
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  sign_up_ip inet,
  chosen_languages varchar[],
  otp_backup_codes varchar[],
  settings text,
  reset_password_token varchar
);
CREATE UNIQUE INDEX index_users_on_email ON users (email);
CREATE UNIQUE INDEX index_users_on_token ON users (reset_password_token text_pattern_ops)
  WHERE reset_password_token IS NOT NULL;

CREATE TABLE statuses (
  id bigint DEFAULT timestamp_id('statuses') PRIMARY KEY,
  text text NOT NULL DEFAULT '',
  in_reply_to_id bigint REFERENCES statuses ON DELETE SET NULL,
  account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
  visibility int NOT NULL DEFAULT 0,
  ordered_media_attachment_ids bigint[],
  deleted_at timestamp,
  created_at timestamp NOT NULL DEFAULT now()
);
CREATE INDEX index_statuses_local ON statuses (id DESC, account_id)
  WHERE visibility = 0 AND deleted_at IS NULL AND in_reply_to_id IS NULL;

CREATE TABLE ip_blocks (
  id bigserial PRIMARY KEY,
  ip inet NOT NULL DEFAULT '0.0.0.0',
  severity int NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX index_ip_blocks_on_ip ON ip_blocks (ip);

CREATE TABLE account_stats (
  id bigserial PRIMARY KEY,
  account_id bigint NOT NULL UNIQUE REFERENCES accounts ON DELETE CASCADE,
  statuses_count bigint NOT NULL DEFAULT 0
);

CREATE TABLE schema_migrations (version varchar PRIMARY KEY);
CREATE TABLE ar_internal_metadata (key varchar PRIMARY KEY, value varchar);

CREATE VIEW user_ips AS
  SELECT u.id AS user_id, u.sign_up_ip AS ip FROM users u WHERE u.sign_up_ip IS NOT NULL;
CREATE MATERIALIZED VIEW instances AS
  SELECT domain, count(*) AS accounts_count FROM accounts WHERE domain IS NOT NULL GROUP BY domain;
CREATE UNIQUE INDEX index_instances_on_domain ON instances (domain);
CREATE MATERIALIZED VIEW account_summaries AS
  SELECT a.id AS account_id, count(s.id) AS posts FROM accounts a JOIN statuses s ON s.account_id = a.id GROUP BY a.id;

INSERT INTO accounts (id, username, domain, display_name, fields) VALUES
  (1, 'alice', NULL, 'Alice', '[{"name": "site", "value": "https://alice.example"}]'),
  (2, 'Bob', 'other.example', 'Bøb', NULL),
  (3, 'carol', 'third.example', '🐘', '[]');
INSERT INTO users (email, account_id, sign_up_ip, chosen_languages) VALUES
  ('alice@example.com', 1, '198.51.100.7', '{en,de}'), ('bob@example.com', 2, '2001:db8::1', NULL);
INSERT INTO statuses (text, account_id, ordered_media_attachment_ids)
  SELECT 'post ' || n, 1 + n % 3, ARRAY[n] FROM generate_series(1, 200) n;
INSERT INTO ip_blocks (ip) VALUES ('203.0.113.0/24');
INSERT INTO account_stats (account_id, statuses_count) VALUES (1, 66), (2, 67);
INSERT INTO schema_migrations VALUES ('20240101000000'), ('20240202000000');
REFRESH MATERIALIZED VIEW instances;
