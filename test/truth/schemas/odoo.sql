-- Written for this test, with features of the public database schema of Odoo 17 (LGPL-3.0); no line of it was copied.
CREATE EXTENSION pg_trgm;
CREATE EXTENSION unaccent;
CREATE FUNCTION unaccent_immutable(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT public.unaccent('public.unaccent'::regdictionary, $1)
$$;

CREATE TABLE res_company (id serial PRIMARY KEY, name varchar NOT NULL UNIQUE, create_date timestamp);
CREATE TABLE res_partner (
  id serial PRIMARY KEY,
  company_id int REFERENCES res_company ON DELETE SET NULL,
  parent_id int REFERENCES res_partner ON DELETE RESTRICT,
  name varchar,
  complete_name varchar,
  ref varchar,
  comment text,
  partner_latitude numeric,
  active boolean,
  type varchar,
  CONSTRAINT res_partner_check_name CHECK ((type = 'contact' AND name IS NOT NULL) OR type <> 'contact')
);
CREATE INDEX res_partner_name_index ON res_partner USING gin (unaccent_immutable(name::text) gin_trgm_ops);
CREATE INDEX res_partner_active ON res_partner (complete_name, id) WHERE active IS TRUE;

CREATE TABLE product_template (
  id serial PRIMARY KEY,
  name jsonb NOT NULL,
  list_price numeric,
  description_sale jsonb,
  create_uid int,
  write_date timestamp
);
CREATE INDEX product_template_name_index ON product_template
  USING gin ((jsonb_path_query_array(name, '$.*')::text) gin_trgm_ops);

CREATE TABLE sale_order (
  id serial PRIMARY KEY,
  name varchar NOT NULL,
  partner_id int NOT NULL REFERENCES res_partner ON DELETE RESTRICT,
  state varchar,
  date_order timestamp NOT NULL,
  amount_total numeric,
  access_token varchar,
  CONSTRAINT sale_order_date_order_conditional_required
    CHECK ((state = 'sale' AND date_order IS NOT NULL) OR state <> 'sale')
);
CREATE TABLE sale_order_line (
  id serial PRIMARY KEY,
  order_id int NOT NULL REFERENCES sale_order ON DELETE CASCADE,
  product_id int REFERENCES product_template,
  product_uom_qty numeric NOT NULL,
  price_unit numeric NOT NULL,
  display_type varchar,
  CONSTRAINT sale_order_line_accountable_required_fields
    CHECK (display_type IS NOT NULL OR product_id IS NOT NULL)
);
CREATE TABLE sale_order_tag_rel (
  order_id int NOT NULL REFERENCES sale_order ON DELETE CASCADE,
  tag_id int NOT NULL,
  PRIMARY KEY (order_id, tag_id)
);
CREATE INDEX ON sale_order_tag_rel (tag_id, order_id);

CREATE TABLE ir_attachment (
  id serial PRIMARY KEY,
  name varchar NOT NULL,
  db_datas bytea,
  checksum varchar(40),
  res_id int
);
CREATE TABLE ir_sequence (id serial PRIMARY KEY, name varchar NOT NULL, prefix varchar);
CREATE SEQUENCE ir_sequence_001 INCREMENT 1 START 1;

CREATE VIEW sale_report AS
  SELECT min(l.id) AS id, l.product_id, t.name AS product, sum(l.product_uom_qty) AS qty,
    sum(l.price_unit * l.product_uom_qty) AS total, s.partner_id
  FROM sale_order_line l
  LEFT JOIN sale_order s ON s.id = l.order_id
  LEFT JOIN product_template t ON t.id = l.product_id
  WHERE l.display_type IS NULL
  GROUP BY l.product_id, t.name, s.partner_id;

INSERT INTO res_company (name) VALUES ('My Company');
INSERT INTO res_partner (name, complete_name, type, active, company_id, partner_latitude) VALUES
  ('Azúr Interiör', 'Azúr Interiör', 'contact', true, 1, 48.13), ('Deco', 'Deco', 'contact', false, NULL, NULL);
INSERT INTO product_template (name, list_price)
  SELECT jsonb_build_object('en_US', 'Desk ' || n, 'de_DE', 'Tisch ' || n), n * 1.5 FROM generate_series(1, 80) n;
INSERT INTO sale_order (name, partner_id, state, date_order, amount_total)
  SELECT 'S' || lpad(n::text, 5, '0'), 1 + n % 2, 'sale', '2024-03-01', n FROM generate_series(1, 50) n;
INSERT INTO sale_order_line (order_id, product_id, product_uom_qty, price_unit)
  SELECT 1 + n % 50, 1 + n % 80, n, 9.99 FROM generate_series(1, 150) n;
INSERT INTO sale_order_tag_rel VALUES (1, 1), (1, 2), (2, 1);
INSERT INTO ir_attachment (name, db_datas, checksum) VALUES ('logo', '\x89504e470d0a', md5('logo')), ('empty', NULL, NULL);
INSERT INTO ir_sequence (name, prefix) VALUES ('Sales Order', 'S');
SELECT nextval('ir_sequence_001') FROM generate_series(1, 50);
