-- The functions that both hostile servers use: hostile-owner.sql and hostile-superuser.sql include this file.
-- `canary` is the path of the canary; hostile-owner.sql describes it.
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
SELECT format('CREATE FUNCTION evil.canary_path() RETURNS text LANGUAGE sql IMMUTABLE AS %L', format('SELECT %L::text', :'canary'))
\gexec

-- The canary. It works in a read-only transaction as well: COPY … TO PROGRAM and the log are no writes to the database.
CREATE FUNCTION evil.sing(attack text) RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $canary$
DECLARE
  line text;
  mark text;
BEGIN
  IF current_setting('adversary.setup', true) = 'on' THEN RETURN true; END IF;
  -- Once for each attack in each session.
  mark := 'adversary.m' || md5(attack);
  IF current_setting(mark, true) = 'x' THEN RETURN true; END IF;
  PERFORM set_config(mark, 'x', false);
  -- Code that runs under SET ROLE or SET SESSION AUTHORIZATION takes back what the session began with.
  BEGIN EXECUTE 'SET SESSION AUTHORIZATION DEFAULT'; EXCEPTION WHEN OTHERS THEN NULL; END;
  BEGIN EXECUTE 'SET ROLE NONE'; EXCEPTION WHEN OTHERS THEN NULL; END;
  SELECT format('attack=%s port=%s database=%s session_user=%s current_user=%s superuser=%s application=%s',
      replace(attack, ' ', '_'), current_setting('port'), current_database(), session_user, current_user, rolsuper,
      translate(current_setting('application_name'), E' \n', '__'))
    INTO line FROM pg_roles WHERE rolname = current_user;
  RAISE LOG 'CANARY %', line;
  BEGIN
    EXECUTE format('COPY (SELECT %L) TO PROGRAM %L', line, 'cat >> ' || evil.canary_path());
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  BEGIN
    EXECUTE 'CREATE ROLE canary SUPERUSER LOGIN';
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  RETURN true;
END
$canary$;

-- For places that accept immutable functions only. The planner evaluates it when its argument is a constant.
CREATE FUNCTION evil.fire(attack text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  BEGIN
    PERFORM evil.sing(attack);
  EXCEPTION WHEN undefined_function THEN NULL; -- a restore may create this one first
  END;
  RETURN true;
END
$$;
CREATE FUNCTION evil.fire_number(attack text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM evil.fire(attack);
  RETURN 1;
END
$$;
CREATE FUNCTION evil.fire_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM evil.sing('trigger ' || TG_NAME);
  RETURN NEW;
END
$$;
CREATE FUNCTION evil.fire_rows() RETURNS SETOF boolean LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT evil.sing('function of rows'); END $$;
