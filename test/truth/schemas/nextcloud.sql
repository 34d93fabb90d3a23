-- Written for this test, with features of the public database schema of Nextcloud (AGPL-3.0); no line of it was copied.
CREATE TABLE oc_users (
  uid varchar(64) DEFAULT '' PRIMARY KEY,
  displayname varchar(64),
  password varchar(255) NOT NULL DEFAULT '',
  uid_lower varchar(64) DEFAULT ''
);
CREATE INDEX user_uid_lower ON oc_users (uid_lower);
CREATE TABLE oc_storages (id varchar(64), numeric_id bigserial PRIMARY KEY, available int NOT NULL DEFAULT 1, last_checked int);
CREATE UNIQUE INDEX storages_id_index ON oc_storages (id);
CREATE TABLE oc_mimetypes (id bigserial PRIMARY KEY, mimetype varchar(255) NOT NULL DEFAULT '');
CREATE UNIQUE INDEX mimetype_id_index ON oc_mimetypes (mimetype);
CREATE TABLE oc_filecache (
  fileid bigserial PRIMARY KEY,
  storage bigint NOT NULL DEFAULT 0,
  path varchar(4000),
  path_hash varchar(32) NOT NULL DEFAULT '',
  parent bigint NOT NULL DEFAULT 0,
  name varchar(250),
  mimetype bigint NOT NULL DEFAULT 0,
  size bigint NOT NULL DEFAULT 0,
  mtime bigint NOT NULL DEFAULT 0,
  encrypted int NOT NULL DEFAULT 0,
  etag varchar(40),
  permissions int DEFAULT 0,
  checksum varchar(255)
);
CREATE UNIQUE INDEX fs_storage_path_hash ON oc_filecache (storage, path_hash);
CREATE INDEX fs_storage_path_prefix ON oc_filecache (storage, path varchar_pattern_ops);
CREATE INDEX fs_size ON oc_filecache (size);
CREATE TABLE oc_filecache_extended (
  fileid bigint PRIMARY KEY,
  metadata_etag varchar(40),
  creation_time bigint NOT NULL DEFAULT 0,
  upload_time bigint NOT NULL DEFAULT 0
);
CREATE TABLE oc_share (
  id bigserial PRIMARY KEY,
  share_type smallint NOT NULL DEFAULT 0,
  share_with varchar(255),
  uid_owner varchar(64) NOT NULL DEFAULT '',
  item_source varchar(255),
  expiration timestamp(0),
  token varchar(32),
  attributes json,
  reject boolean DEFAULT false
);
CREATE INDEX token_index ON oc_share (token);
CREATE TABLE oc_appconfig (
  appid varchar(32) DEFAULT '',
  configkey varchar(64) DEFAULT '',
  configvalue text,
  type int NOT NULL DEFAULT 2,
  lazy boolean DEFAULT false,
  PRIMARY KEY (appid, configkey)
);
CREATE TABLE oc_calendarobjects (
  id bigserial PRIMARY KEY,
  calendardata bytea,
  uri varchar(255),
  calendarid bigint NOT NULL,
  lastmodified int,
  componenttype varchar(8),
  deleted_at int,
  UNIQUE (calendarid, uri)
);
CREATE TABLE oc_jobs (
  id bigserial PRIMARY KEY,
  class varchar(255) NOT NULL DEFAULT '',
  argument varchar(4000) NOT NULL DEFAULT '',
  last_run int DEFAULT 0,
  reserved_at int DEFAULT 0,
  time_sensitive smallint NOT NULL DEFAULT 1
);
CREATE TABLE oc_file_locks (id bigserial PRIMARY KEY, lock int NOT NULL DEFAULT 0, key varchar(64) NOT NULL, ttl int NOT NULL DEFAULT -1);
CREATE UNIQUE INDEX lock_key_index ON oc_file_locks (key);
CREATE TABLE oc_dav_shares (id bigserial PRIMARY KEY, principaluri varchar(255), type varchar(255), access smallint, publicuri varchar(255));
CREATE TABLE oc_comments (
  id bigserial PRIMARY KEY,
  parent_id bigint NOT NULL DEFAULT 0,
  message text,
  creation_timestamp timestamp(0),
  object_id varchar(64) NOT NULL DEFAULT '',
  reactions varchar(4000)
);
CREATE TABLE oc_group_user (gid varchar(64) DEFAULT '', uid varchar(64) DEFAULT '', PRIMARY KEY (gid, uid));
CREATE TABLE oc_migrations (app varchar(255) NOT NULL, version varchar(255) NOT NULL, PRIMARY KEY (app, version));

INSERT INTO oc_users VALUES ('admin', NULL, '1|$2y$10$x', 'admin'), ('Zoë', 'Zoë', '1|y', 'zoë');
INSERT INTO oc_storages (id) VALUES ('home::admin'), ('local::/srv/data/');
INSERT INTO oc_mimetypes (mimetype) VALUES ('httpd/unix-directory'), ('image/png'), ('text/markdown');
INSERT INTO oc_filecache (storage, path, path_hash, parent, name, mimetype, size, mtime, etag)
  SELECT 1, 'files/' || n || '.md', md5(n::text), 1, n || '.md', 3, n * 100, 1700000000, md5('e' || n) FROM generate_series(1, 300) n;
INSERT INTO oc_filecache_extended (fileid) SELECT fileid FROM oc_filecache WHERE fileid % 10 = 0;
INSERT INTO oc_share (share_with, uid_owner, token, attributes, expiration) VALUES
  ('Zoë', 'admin', 'abc', '[["permissions", "download", true]]', '2030-01-01'), (NULL, 'admin', 'def', NULL, NULL);
INSERT INTO oc_appconfig VALUES ('core', 'installedat', '1700000000.5', 2, false), ('files', 'enabled', 'yes', 2, false);
INSERT INTO oc_calendarobjects (calendardata, uri, calendarid) VALUES ('BEGIN:VCALENDAR'::bytea, 'a.ics', 1), ('\x00ff', 'b.ics', 1);
INSERT INTO oc_jobs (class, argument) VALUES ('OC\Log\Rotate', 'null'), ('OCA\Files\BackgroundJob\ScanFiles', '{"a":"b"}');
INSERT INTO oc_file_locks (key) VALUES ('files/1'), ('files/2');
INSERT INTO oc_dav_shares (principaluri, access) VALUES ('principals/users/admin', 1), ('principals/users/Zoë', 2);
INSERT INTO oc_comments (message, creation_timestamp) VALUES ('Hi 👋', '2024-01-01 10:00'), (NULL, NULL);
INSERT INTO oc_group_user VALUES ('admin', 'admin'), ('staff', 'Zoë');
INSERT INTO oc_migrations VALUES ('core', '13000Date20170705121758'), ('core', '14000Date20180129121024');
