-- Written for this test, with features of the public database schema of Discourse (GPL-2.0); no line of it was copied.
CREATE EXTENSION hstore;
CREATE EXTENSION pg_trgm;
CREATE EXTENSION unaccent;
CREATE SCHEMA discourse_functions;
CREATE FUNCTION discourse_functions.raise_topics_old_column_readonly() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Discourse: old_column in topics is readonly';
END
$$;
CREATE TYPE hotlinked_media_status AS ENUM ('downloaded', 'too_large', 'download_failed', 'upload_create_failed');

CREATE TABLE users (
  id serial PRIMARY KEY,
  username varchar(60) NOT NULL,
  username_lower varchar(60) NOT NULL,
  name varchar,
  ip_address inet,
  trust_level int NOT NULL,
  silenced_till timestamp,
  created_at timestamp NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX index_users_on_username_lower ON users (username_lower);
CREATE INDEX idx_users_admin ON users (id) WHERE trust_level >= 4;

CREATE TABLE topics (
  id serial PRIMARY KEY,
  title varchar NOT NULL,
  user_id int REFERENCES users,
  archetype varchar NOT NULL DEFAULT 'regular',
  category_id int,
  deleted_at timestamp,
  bumped_at timestamp NOT NULL DEFAULT now(),
  old_column int,
  CONSTRAINT has_category_id CHECK (category_id IS NOT NULL OR archetype <> 'regular'),
  CONSTRAINT pm_has_no_category CHECK (category_id IS NULL OR archetype <> 'private_message')
);
CREATE INDEX idxtopicslug ON topics (lower(title)) WHERE deleted_at IS NULL;
CREATE INDEX index_topics_on_title_trgm ON topics USING gin (title gin_trgm_ops);
CREATE TRIGGER topics_old_column_readonly BEFORE INSERT OR UPDATE OF old_column ON topics
  FOR EACH ROW WHEN (NEW.old_column IS NOT NULL)
  EXECUTE FUNCTION discourse_functions.raise_topics_old_column_readonly();

CREATE TABLE posts (
  id serial PRIMARY KEY,
  topic_id int NOT NULL REFERENCES topics,
  post_number int NOT NULL,
  raw text NOT NULL,
  cooked text NOT NULL,
  image_sizes hstore,
  UNIQUE (topic_id, post_number)
);
CREATE TABLE post_search_data (
  post_id int PRIMARY KEY,
  search_data tsvector,
  raw_data text,
  locale text,
  version int DEFAULT 0,
  private_message boolean NOT NULL
);
CREATE INDEX idx_search_post ON post_search_data USING gin (search_data);

CREATE TABLE post_hotlinked_media (
  id bigserial PRIMARY KEY,
  post_id bigint NOT NULL,
  url varchar NOT NULL,
  status hotlinked_media_status NOT NULL
);
CREATE UNIQUE INDEX index_post_hotlinked_media_on_post_id_and_url_md5 ON post_hotlinked_media (post_id, md5(url::text));

CREATE TABLE categories (
  id serial PRIMARY KEY,
  name varchar(50) NOT NULL,
  parent_category_id int
);
CREATE UNIQUE INDEX unique_index_categories_on_name ON categories (coalesce(parent_category_id, -1), lower(name::text));

CREATE TABLE topic_tags (id serial PRIMARY KEY, topic_id int NOT NULL, tag_id int NOT NULL, UNIQUE (topic_id, tag_id));
CREATE TABLE schema_migrations (version varchar PRIMARY KEY);
CREATE VIEW badge_posts AS
  SELECT p.id, p.topic_id, t.category_id FROM posts p JOIN topics t ON t.id = p.topic_id WHERE t.deleted_at IS NULL;

INSERT INTO users (username, username_lower, trust_level, ip_address) VALUES
  ('Admin', 'admin', 4, '192.0.2.9'), ('Jürgen', 'jürgen', 1, NULL);
INSERT INTO categories (name) VALUES ('Meta'), ('General');
INSERT INTO topics (title, user_id, category_id) SELECT 'Topic ' || n, 1, 1 + n % 2 FROM generate_series(1, 60) n;
INSERT INTO topics (title, user_id, archetype) VALUES ('Hello', 2, 'private_message');
INSERT INTO posts (topic_id, post_number, raw, cooked, image_sizes)
  SELECT n, 1, 'raw ' || n, '<p>raw</p>', '"w"=>"10", "h"=>NULL' FROM generate_series(1, 60) n;
INSERT INTO post_search_data SELECT id, to_tsvector('english', raw), raw, 'en', 1, false FROM posts;
INSERT INTO post_hotlinked_media (post_id, url, status) VALUES
  (1, 'https://example.com/a.png', 'downloaded'), (2, 'https://example.com/b.png', 'too_large');
INSERT INTO topic_tags (topic_id, tag_id) VALUES (1, 1), (2, 1);
INSERT INTO schema_migrations VALUES ('20240101000000');
