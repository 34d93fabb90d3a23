-- Written for this test, with features of the public database schema of Keycloak (Apache-2.0); no line of it was copied.
CREATE TABLE realm (
  id varchar(36) CONSTRAINT constraint_4a PRIMARY KEY,
  name varchar(255) CONSTRAINT uk_orvsdmla56612eaefiq6wl5oi UNIQUE,
  enabled boolean NOT NULL DEFAULT false,
  access_token_lifespan int,
  not_before int
);
CREATE TABLE client (
  id varchar(36) CONSTRAINT constraint_7 PRIMARY KEY,
  client_id varchar(255),
  realm_id varchar(36) REFERENCES realm,
  secret varchar(255),
  public_client boolean NOT NULL DEFAULT false,
  CONSTRAINT uk_b71cjlbenv945rb6gcon438at UNIQUE (realm_id, client_id)
);
CREATE TABLE client_attributes (
  client_id varchar(36) NOT NULL REFERENCES client,
  name varchar(255) NOT NULL,
  value text,
  CONSTRAINT constraint_3c PRIMARY KEY (client_id, name)
);
CREATE INDEX idx_client_att_by_name_value ON client_attributes (name, substr(value, 1, 255));
CREATE TABLE redirect_uris (
  client_id varchar(36) NOT NULL REFERENCES client,
  value varchar(255) NOT NULL,
  CONSTRAINT constraint_redirect_uris PRIMARY KEY (client_id, value)
);
CREATE TABLE user_entity (
  id varchar(36) CONSTRAINT constraint_fb PRIMARY KEY,
  email varchar(255),
  email_constraint varchar(255),
  email_verified boolean NOT NULL DEFAULT false,
  realm_id varchar(255),
  username varchar(255),
  created_timestamp bigint,
  CONSTRAINT uk_dykn684sl8up1crfei6eckhd7 UNIQUE (realm_id, email_constraint),
  CONSTRAINT uk_ru8tt6t700s9v50bu18ws5ha6 UNIQUE (realm_id, username)
);
CREATE TABLE user_attribute (
  name varchar(255) NOT NULL,
  value varchar(255),
  user_id varchar(36) NOT NULL REFERENCES user_entity,
  id varchar(36) DEFAULT 'sybase-needs-something-here' CONSTRAINT constraint_user_attribute_pk PRIMARY KEY,
  long_value_hash bytea,
  long_value_hash_lower_case bytea,
  long_value text
);
CREATE INDEX user_attr_long_values ON user_attribute (long_value_hash, name);
CREATE TABLE credential (
  id varchar(36) CONSTRAINT constraint_f PRIMARY KEY,
  salt bytea,
  type varchar(255),
  user_id varchar(36) REFERENCES user_entity,
  secret_data text,
  credential_data text,
  priority int
);
CREATE TABLE keycloak_role (
  id varchar(36) CONSTRAINT constraint_a PRIMARY KEY,
  client_realm_constraint varchar(255),
  client_role boolean NOT NULL DEFAULT false,
  description varchar(255),
  name varchar(255),
  realm varchar(36) REFERENCES realm,
  CONSTRAINT "UK_J3RWUVD56ONTGSUHOGM184WW2-2" UNIQUE (name, client_realm_constraint)
);
CREATE TABLE composite_role (
  composite varchar(36) NOT NULL REFERENCES keycloak_role,
  child_role varchar(36) NOT NULL REFERENCES keycloak_role,
  CONSTRAINT constraint_composite_role PRIMARY KEY (composite, child_role)
);
CREATE TABLE offline_user_session (
  user_session_id varchar(36) NOT NULL,
  user_id varchar(255) NOT NULL,
  offline_flag varchar(4) NOT NULL,
  data text,
  last_session_refresh int NOT NULL DEFAULT 0,
  CONSTRAINT constraint_offl_us_ses_pk2 PRIMARY KEY (user_session_id, offline_flag)
);
CREATE TABLE event_entity (
  id varchar(36) CONSTRAINT constraint_4 PRIMARY KEY,
  details_json varchar(2550),
  event_time bigint,
  type varchar(255)
);
CREATE TABLE databasechangelog (
  id varchar(255) NOT NULL,
  author varchar(255) NOT NULL,
  filename varchar(255) NOT NULL,
  dateexecuted timestamp NOT NULL,
  orderexecuted int NOT NULL,
  exectype varchar(10) NOT NULL,
  md5sum varchar(35)
);
CREATE TABLE databasechangeloglock (id int PRIMARY KEY, locked boolean NOT NULL, lockgranted timestamp, lockedby varchar(255));

INSERT INTO realm VALUES ('r1', 'master', true, 60, 0), ('r2', 'Kunden & Partner', true, 300, 0);
INSERT INTO client SELECT 'c' || n, 'client-' || n, 'r' || 1 + n % 2, md5(n::text), n % 3 = 0 FROM generate_series(1, 40) n;
INSERT INTO client_attributes SELECT id, 'post.logout.redirect.uris', repeat('https://example.com/', 40) FROM client;
INSERT INTO redirect_uris SELECT id, '/*' FROM client;
INSERT INTO user_entity (id, email, email_constraint, realm_id, username, created_timestamp)
  SELECT 'u' || n, n || '@example.com', n || '@example.com', 'r1', 'user' || n, 1700000000000 + n FROM generate_series(1, 200) n;
INSERT INTO user_attribute (id, name, value, user_id) SELECT 'a' || id, 'locale', 'de', id FROM user_entity;
INSERT INTO credential SELECT 'k' || id, '\x0102', 'password', id, '{"value":"…"}', '{"hashIterations":27500}', 10 FROM user_entity;
INSERT INTO keycloak_role VALUES ('o1', 'r1', false, '${role_admin}', 'admin', 'r1'), ('o2', 'r1', false, NULL, 'viewer', 'r1');
INSERT INTO composite_role VALUES ('o1', 'o2');
INSERT INTO offline_user_session VALUES ('s1', 'u1', '0', '{}', 1), ('s2', 'u2', '1', '{}', 2);
INSERT INTO event_entity VALUES ('e1', '{"a":"b"}', 1, 'LOGIN'), ('e2', NULL, 2, 'LOGOUT');
INSERT INTO databasechangelog VALUES ('1.0.0', 'someone', 'changelog.xml', now(), 1, 'EXECUTED', md5('a'));
INSERT INTO databasechangeloglock VALUES (1, false, NULL, NULL), (1000, false, NULL, NULL);
