# PowerShell completion for cloudctl
# In this shell: cloudctl completion powershell | Out-String | Invoke-Expression
# In every one: the same line in $PROFILE

Register-ArgumentCompleter -Native -CommandName 'cloudctl' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)

  $everywhere = [ordered]@{
    '--profile' = @{ Text = 'the profile to use'; Value = @{ Kind = 'profile' } }
    '-o' = @{ Text = 'how data is printed: table, json, ndjson, yaml or csv'; Value = @{ Kind = 'words'; Words = @('table', 'json', 'ndjson', 'yaml', 'csv') } }
    '--output' = @{ Text = 'how data is printed: table, json, ndjson, yaml or csv'; Value = @{ Kind = 'words'; Words = @('table', 'json', 'ndjson', 'yaml', 'csv') } }
    '--format' = @{ Text = 'the columns to print'; Value = @{ Kind = 'nothing' } }
    '--no-header' = @{ Text = 'leave the header line out'; Value = $null }
    '--query' = @{ Text = 'filter the data before it is printed'; Value = @{ Kind = 'nothing' } }
    '--auth-url' = @{ Text = 'origin of the authorization server'; Value = @{ Kind = 'nothing' } }
    '--base-url' = @{ Text = 'origin of the resource API'; Value = @{ Kind = 'nothing' } }
    '--no-input' = @{ Text = 'never ask; a missing value is an error'; Value = $null }
    '-y' = @{ Text = 'answer yes to every confirmation'; Value = $null }
    '--yes' = @{ Text = 'answer yes to every confirmation'; Value = $null }
    '-q' = @{ Text = 'no progress and no notices'; Value = $null }
    '--quiet' = @{ Text = 'no progress and no notices'; Value = $null }
    '--trace' = @{ Text = 'print each HTTP request on stderr, without its secrets'; Value = $null }
    '--timeout' = @{ Text = 'the limit of one HTTP request, as in 90s, 5m or 2h (30s)'; Value = @{ Kind = 'nothing' } }
    '--no-color' = @{ Text = 'no colour'; Value = $null }
    '-h' = @{ Text = 'print help'; Value = $null }
    '--help' = @{ Text = 'print help'; Value = $null }
    '-V' = @{ Text = 'print the version'; Value = $null }
    '--version' = @{ Text = 'print the version'; Value = $null }
  }
  $levels = @{
    '/' = @{
      Commands = [ordered]@{ 'auth' = 'log in and out, and see who is logged in'; 'actions' = 'see what was done on the account'; 'droplets' = 'list and create droplets'; 'db' = 'judge an external database and migrate it online into a managed cluster'; 'api' = 'send any request to the resource API'; 'config' = 'read and change the configuration'; 'doctor' = 'look for what would stop a login on this machine'; 'completion' = 'print a completion script for a shell'; 'sandbox' = 'run the whole service on this machine' }
      Options = [ordered]@{}
      Places = @()
    }
    '/auth' = @{
      Commands = [ordered]@{ 'setup' = 'tell a profile its servers and its registered application'; 'login' = 'log in through the browser'; 'status' = 'show who is logged in, and for how long'; 'token' = 'print the access token'; 'refresh' = 'renew the session now'; 'logout' = 'revoke the session and delete it'; 'list' = 'list the profiles'; 'switch' = 'make another profile the current one' }
      Options = [ordered]@{}
      Places = @()
    }
    '/auth/setup' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--client-id' = @{ Text = 'client ID of the registered application'; Value = @{ Kind = 'nothing' } }
        '--client-secret-stdin' = @{ Text = 'read the client secret from standard input'; Value = $null }
        '--callback-url' = @{ Text = 'a registered callback URL on this machine; several are tried in order'; Value = @{ Kind = 'nothing' } }
        '--scope' = @{ Text = 'read or "read write"'; Value = @{ Kind = 'nothing' } }
        '--flow' = @{ Text = 'code or implicit'; Value = @{ Kind = 'words'; Words = @('code', 'implicit') } }
        '--issuer' = @{ Text = 'what the server calls itself in `iss`, if it does'; Value = @{ Kind = 'nothing' } }
        '--token-params' = @{ Text = 'query, or for standard servers body or basic'; Value = @{ Kind = 'words'; Words = @('query', 'body', 'basic') } }
        '--no-pkce' = @{ Text = 'for servers that refuse PKCE'; Value = $null }
        '--credential-store' = @{ Text = 'keychain, or file for a file of mode 0600'; Value = @{ Kind = 'words'; Words = @('keychain', 'file') } }
      }
      Places = @()
    }
    '/auth/login' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--flow' = @{ Text = 'code, or implicit for applications that cannot keep a secret'; Value = @{ Kind = 'words'; Words = @('code', 'implicit') } }
        '--scope' = @{ Text = 'read (the default) or "read write"'; Value = @{ Kind = 'nothing' } }
        '--any-scope' = @{ Text = 'let any scope pass, for servers that know others'; Value = $null }
        '--prompt' = @{ Text = 'none: without a page if the browser is signed in; select_account: always ask'; Value = @{ Kind = 'words'; Words = @('none', 'select_account') } }
        '--account-hint' = @{ Text = 'with --prompt none: the first 6 characters of the expected account UUID'; Value = @{ Kind = 'nothing' } }
        '--no-browser' = @{ Text = 'print the address and open nothing'; Value = $null }
        '--paste' = @{ Text = 'no listener; paste the address of the page you end on'; Value = $null }
        '--login-timeout' = @{ Text = 'how long to wait for the browser (5m)'; Value = @{ Kind = 'nothing' } }
        '--accept-scope' = @{ Text = 'keep the session even if another scope was granted'; Value = $null }
        '--force' = @{ Text = 'do not ask before replacing a session that is still good'; Value = $null }
        '--token-params' = @{ Text = 'query, or for standard servers body or basic'; Value = @{ Kind = 'words'; Words = @('query', 'body', 'basic') } }
        '--no-pkce' = @{ Text = 'for servers that refuse PKCE'; Value = $null }
        '--credential-store' = @{ Text = 'keychain, or file for a file of mode 0600'; Value = @{ Kind = 'words'; Words = @('keychain', 'file') } }
      }
      Places = @()
    }
    '/auth/status' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--check' = @{ Text = 'ask the resource API whether it takes the token, renewing the session first when that is due'; Value = $null }
      }
      Places = @()
    }
    '/auth/token' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/auth/refresh' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/auth/logout' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--all' = @{ Text = 'every profile'; Value = $null }
        '--local' = @{ Text = 'delete only; tell the server nothing'; Value = $null }
      }
      Places = @()
    }
    '/auth/list' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/auth/switch' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'profile' } })
    }
    '/actions' = @{
      Commands = [ordered]@{ 'list' = 'list actions, newest first' }
      Options = [ordered]@{
        '--page-size' = @{ Text = 'actions in one request, 1 to 200 (200)'; Value = @{ Kind = 'nothing' } }
        '--limit' = @{ Text = 'stop after so many'; Value = @{ Kind = 'nothing' } }
        '--status' = @{ Text = 'only those in this status'; Value = @{ Kind = 'words'; Words = @('in-progress', 'completed', 'errored') } }
        '--type' = @{ Text = 'only those of this type, such as create'; Value = @{ Kind = 'nothing' } }
        '--resource-type' = @{ Text = 'only those on this type of resource, such as droplet'; Value = @{ Kind = 'nothing' } }
        '--region' = @{ Text = 'only those in this region'; Value = @{ Kind = 'nothing' } }
        '--after' = @{ Text = 'only those started after this time (ISO 8601, UTC)'; Value = @{ Kind = 'nothing' } }
        '--before' = @{ Text = 'only those started before this time (ISO 8601, UTC)'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/actions/list' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--page-size' = @{ Text = 'actions in one request, 1 to 200 (200)'; Value = @{ Kind = 'nothing' } }
        '--limit' = @{ Text = 'stop after so many'; Value = @{ Kind = 'nothing' } }
        '--status' = @{ Text = 'only those in this status'; Value = @{ Kind = 'words'; Words = @('in-progress', 'completed', 'errored') } }
        '--type' = @{ Text = 'only those of this type, such as create'; Value = @{ Kind = 'nothing' } }
        '--resource-type' = @{ Text = 'only those on this type of resource, such as droplet'; Value = @{ Kind = 'nothing' } }
        '--region' = @{ Text = 'only those in this region'; Value = @{ Kind = 'nothing' } }
        '--after' = @{ Text = 'only those started after this time (ISO 8601, UTC)'; Value = @{ Kind = 'nothing' } }
        '--before' = @{ Text = 'only those started before this time (ISO 8601, UTC)'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/droplets' = @{
      Commands = [ordered]@{ 'list' = 'list droplets'; 'create' = 'create droplets, one or many' }
      Options = [ordered]@{
        '--region' = @{ Text = 'only those in this region'; Value = @{ Kind = 'nothing' } }
        '--tag' = @{ Text = 'only those with this tag'; Value = @{ Kind = 'nothing' } }
        '--limit' = @{ Text = 'stop after so many'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/droplets/list' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--region' = @{ Text = 'only those in this region'; Value = @{ Kind = 'nothing' } }
        '--tag' = @{ Text = 'only those with this tag'; Value = @{ Kind = 'nothing' } }
        '--limit' = @{ Text = 'stop after so many'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/droplets/create' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--names' = @{ Text = 'names, or patterns of names'; Value = @{ Kind = 'nothing' } }
        '--names-from' = @{ Text = 'names from a file, one a line; - is standard input'; Value = @{ Kind = 'file' } }
        '--size' = @{ Text = 'size of every droplet'; Value = @{ Kind = 'nothing' } }
        '--image' = @{ Text = 'image of every droplet: a slug or a number'; Value = @{ Kind = 'nothing' } }
        '--region' = @{ Text = 'region of every droplet'; Value = @{ Kind = 'nothing' } }
        '--set' = @{ Text = 'any other attribute, as in --set tags=''["web"]'''; Value = @{ Kind = 'nothing' } }
        '--wait' = @{ Text = 'wait until the droplets are active'; Value = $null }
        '--dry-run' = @{ Text = 'print the requests, also as curl commands, and send nothing'; Value = $null }
        '--batch-size' = @{ Text = 'names in one request, 1 to 10 (10)'; Value = @{ Kind = 'nothing' } }
        '--concurrency' = @{ Text = 'requests in flight, 1 to 32 (4)'; Value = @{ Kind = 'nothing' } }
        '--if-exists' = @{ Text = 'when droplets have some of the names: fail, skip those names, or create more (fail)'; Value = @{ Kind = 'words'; Words = @('fail', 'skip', 'create') } }
        '--mark' = @{ Text = 'tag every droplet with the id of this batch: proof of whose it is'; Value = $null }
        '--resume' = @{ Text = 'go on with the batch of this ledger'; Value = @{ Kind = 'file' } }
      }
      Places = @(@{ Variadic = $true; Value = @{ Kind = 'nothing' } })
    }
    '/db' = @{
      Commands = [ordered]@{ 'preflight' = 'tell the truth about a source database before anything is touched'; 'migrate' = 'start the online migration of an external database into a cluster'; 'watch' = 'follow a migration from its source, and see what would break it'; 'rehearse' = 'do the whole migration into a server of your own, compare, and remove it again'; 'sequences' = 'print the statements that set the target''s sequences at cut-over' }
      Options = [ordered]@{}
      Places = @()
    }
    '/db/preflight' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--source' = @{ Text = 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--engine' = @{ Text = 'when there is no URL'; Value = @{ Kind = 'words'; Words = @('postgresql', 'redis') } }
        '--host' = @{ Text = 'public name or address of the source, or a connection string'; Value = @{ Kind = 'nothing' } }
        '--port' = @{ Text = 'its port (5432 or 6379)'; Value = @{ Kind = 'nothing' } }
        '--dbname' = @{ Text = 'its database (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--username' = @{ Text = 'its user'; Value = @{ Kind = 'nothing' } }
        '--password-stdin' = @{ Text = 'read the password from standard input'; Value = $null }
        '--disable-ssl' = @{ Text = 'connect without TLS, here and from the service'; Value = $null }
        '--ignore-dbs' = @{ Text = 'databases to leave out (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--ca-file' = @{ Text = 'certificates that sign that of the source'; Value = @{ Kind = 'file' } }
        '--target-version' = @{ Text = 'version of the target, as in 17, redis-7.2 or valkey-8'; Value = @{ Kind = 'nothing' } }
        '--target-extensions' = @{ Text = 'extensions, or Redis modules, the target offers'; Value = @{ Kind = 'nothing' } }
        '--method' = @{ Text = 'the method that must be possible (continuous)'; Value = @{ Kind = 'words'; Words = @('continuous', 'dump', 'scan') } }
        '--accept' = @{ Text = 'waive findings by id; the report records it'; Value = @{ Kind = 'nothing' } }
        '--strict' = @{ Text = 'warnings block as well'; Value = $null }
        '--probe' = @{ Text = 'allow checks that write or fork on the source; the report says what they did'; Value = $null }
        '--source-disk-free' = @{ Text = 'free space on the disk of the source, which SQL cannot tell'; Value = @{ Kind = 'nothing' } }
        '--target-memory' = @{ Text = 'memory of the target (Redis)'; Value = @{ Kind = 'nothing' } }
        '--allow-private' = @{ Text = 'let private and loopback addresses pass'; Value = $null }
        '--judge-as-public' = @{ Text = 'judge addresses as the service would see them, whatever base_url is'; Value = $null }
        '--deadline' = @{ Text = 'the limit of the whole preflight (60s)'; Value = @{ Kind = 'nothing' } }
        '--show-queries' = @{ Text = 'print on stderr all that is sent to the source'; Value = $null }
        '--report' = @{ Text = 'write the report, by its ending: .json .md .html .xml .sarif'; Value = @{ Kind = 'file' } }
        '--fix-sql' = @{ Text = 'write one script that cures what can be cured'; Value = @{ Kind = 'file' } }
        '--undo-sql' = @{ Text = 'write the script that restores what was observed'; Value = @{ Kind = 'file' } }
        '--baseline' = @{ Text = 'save the report there, or compare with the one that is there'; Value = @{ Kind = 'file' } }
      }
      Places = @()
    }
    '/db/migrate' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--source' = @{ Text = 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--engine' = @{ Text = 'when there is no URL'; Value = @{ Kind = 'words'; Words = @('postgresql', 'redis') } }
        '--host' = @{ Text = 'public name or address of the source, or a connection string'; Value = @{ Kind = 'nothing' } }
        '--port' = @{ Text = 'its port (5432 or 6379)'; Value = @{ Kind = 'nothing' } }
        '--dbname' = @{ Text = 'its database (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--username' = @{ Text = 'its user'; Value = @{ Kind = 'nothing' } }
        '--password-stdin' = @{ Text = 'read the password from standard input'; Value = $null }
        '--disable-ssl' = @{ Text = 'connect without TLS, here and from the service'; Value = $null }
        '--ignore-dbs' = @{ Text = 'databases to leave out (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--ca-file' = @{ Text = 'certificates that sign that of the source'; Value = @{ Kind = 'file' } }
        '--target-version' = @{ Text = 'version of the target, as in 17, redis-7.2 or valkey-8'; Value = @{ Kind = 'nothing' } }
        '--target-extensions' = @{ Text = 'extensions, or Redis modules, the target offers'; Value = @{ Kind = 'nothing' } }
        '--method' = @{ Text = 'the method that must be possible (continuous)'; Value = @{ Kind = 'words'; Words = @('continuous', 'dump', 'scan') } }
        '--accept' = @{ Text = 'waive findings by id; the report records it'; Value = @{ Kind = 'nothing' } }
        '--strict' = @{ Text = 'warnings block as well'; Value = $null }
        '--probe' = @{ Text = 'allow checks that write or fork on the source; the report says what they did'; Value = $null }
        '--source-disk-free' = @{ Text = 'free space on the disk of the source, which SQL cannot tell'; Value = @{ Kind = 'nothing' } }
        '--target-memory' = @{ Text = 'memory of the target (Redis)'; Value = @{ Kind = 'nothing' } }
        '--allow-private' = @{ Text = 'let private and loopback addresses pass'; Value = $null }
        '--judge-as-public' = @{ Text = 'judge addresses as the service would see them, whatever base_url is'; Value = $null }
        '--deadline' = @{ Text = 'the limit of the whole preflight (60s)'; Value = @{ Kind = 'nothing' } }
        '--show-queries' = @{ Text = 'print on stderr all that is sent to the source'; Value = $null }
        '--report' = @{ Text = 'write the report, by its ending: .json .md .html .xml .sarif'; Value = @{ Kind = 'file' } }
        '--fix-sql' = @{ Text = 'write one script that cures what can be cured'; Value = @{ Kind = 'file' } }
        '--undo-sql' = @{ Text = 'write the script that restores what was observed'; Value = @{ Kind = 'file' } }
        '--baseline' = @{ Text = 'save the report there, or compare with the one that is there'; Value = @{ Kind = 'file' } }
        '--skip-preflight' = @{ Text = 'start without judging the source'; Value = $null }
        '--watch' = @{ Text = 'follow the migration once it is accepted, as `db watch` does'; Value = $null }
        '--interval' = @{ Text = 'between two looks (2s)'; Value = @{ Kind = 'nothing' } }
        '--until-idle' = @{ Text = 'end with exit 0 once nothing is left to replicate'; Value = $null }
        '--slot' = @{ Text = 'the migration''s replication slot, or ADDRESS:PORT of its replica, where that cannot be told'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/db/watch' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--source' = @{ Text = 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--engine' = @{ Text = 'when there is no URL'; Value = @{ Kind = 'words'; Words = @('postgresql', 'redis') } }
        '--host' = @{ Text = 'public name or address of the source, or a connection string'; Value = @{ Kind = 'nothing' } }
        '--port' = @{ Text = 'its port (5432 or 6379)'; Value = @{ Kind = 'nothing' } }
        '--dbname' = @{ Text = 'its database (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--username' = @{ Text = 'its user'; Value = @{ Kind = 'nothing' } }
        '--password-stdin' = @{ Text = 'read the password from standard input'; Value = $null }
        '--disable-ssl' = @{ Text = 'connect without TLS, here and from the service'; Value = $null }
        '--ignore-dbs' = @{ Text = 'databases to leave out (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--ca-file' = @{ Text = 'certificates that sign that of the source'; Value = @{ Kind = 'file' } }
        '--interval' = @{ Text = 'between two looks (2s)'; Value = @{ Kind = 'nothing' } }
        '--until-idle' = @{ Text = 'end with exit 0 once nothing is left to replicate'; Value = $null }
        '--slot' = @{ Text = 'the migration''s replication slot, or ADDRESS:PORT of its replica, where that cannot be told'; Value = @{ Kind = 'nothing' } }
        '--show-queries' = @{ Text = 'print on stderr all that is sent to the source'; Value = $null }
      }
      Places = @()
    }
    '/db/rehearse' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--source' = @{ Text = 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--engine' = @{ Text = 'when there is no URL'; Value = @{ Kind = 'words'; Words = @('postgresql', 'redis') } }
        '--host' = @{ Text = 'public name or address of the source, or a connection string'; Value = @{ Kind = 'nothing' } }
        '--port' = @{ Text = 'its port (5432 or 6379)'; Value = @{ Kind = 'nothing' } }
        '--dbname' = @{ Text = 'its database (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--username' = @{ Text = 'its user'; Value = @{ Kind = 'nothing' } }
        '--password-stdin' = @{ Text = 'read the password from standard input'; Value = $null }
        '--disable-ssl' = @{ Text = 'connect without TLS, here and from the service'; Value = $null }
        '--ignore-dbs' = @{ Text = 'databases to leave out (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--ca-file' = @{ Text = 'certificates that sign that of the source'; Value = @{ Kind = 'file' } }
        '--into' = @{ Text = 'the server that is filled: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--method' = @{ Text = 'the method that must be possible (continuous)'; Value = @{ Kind = 'words'; Words = @('continuous', 'dump', 'scan') } }
        '--accept' = @{ Text = 'waive findings by id; the report records it'; Value = @{ Kind = 'nothing' } }
        '--strict' = @{ Text = 'warnings block as well'; Value = $null }
        '--probe' = @{ Text = 'allow checks that write or fork on the source; the report says what they did'; Value = $null }
        '--source-disk-free' = @{ Text = 'free space on the disk of the source, which SQL cannot tell'; Value = @{ Kind = 'nothing' } }
        '--deadline' = @{ Text = 'the limit of the whole preflight (60s)'; Value = @{ Kind = 'nothing' } }
        '--show-queries' = @{ Text = 'print on stderr all that is sent to the source'; Value = $null }
        '--keep' = @{ Text = 'leave the copies on the target'; Value = $null }
        '--patience' = @{ Text = 'without any progress for so long it counts as failed (60s)'; Value = @{ Kind = 'nothing' } }
        '--interval' = @{ Text = 'between two looks of the watch (1s)'; Value = @{ Kind = 'nothing' } }
        '--report' = @{ Text = 'write the report there as JSON'; Value = @{ Kind = 'file' } }
        '--fix-sql' = @{ Text = 'write one script that cures what can be cured'; Value = @{ Kind = 'file' } }
        '--undo-sql' = @{ Text = 'write the script that restores what was observed'; Value = @{ Kind = 'file' } }
      }
      Places = @()
    }
    '/db/sequences' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--source' = @{ Text = 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'; Value = @{ Kind = 'nothing' } }
        '--engine' = @{ Text = 'when there is no URL'; Value = @{ Kind = 'words'; Words = @('postgresql', 'redis') } }
        '--host' = @{ Text = 'public name or address of the source, or a connection string'; Value = @{ Kind = 'nothing' } }
        '--port' = @{ Text = 'its port (5432 or 6379)'; Value = @{ Kind = 'nothing' } }
        '--dbname' = @{ Text = 'its database (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--username' = @{ Text = 'its user'; Value = @{ Kind = 'nothing' } }
        '--password-stdin' = @{ Text = 'read the password from standard input'; Value = $null }
        '--disable-ssl' = @{ Text = 'connect without TLS, here and from the service'; Value = $null }
        '--ignore-dbs' = @{ Text = 'databases to leave out (PostgreSQL)'; Value = @{ Kind = 'nothing' } }
        '--ca-file' = @{ Text = 'certificates that sign that of the source'; Value = @{ Kind = 'file' } }
      }
      Places = @()
    }
    '/api' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--data' = @{ Text = 'the body: JSON, @FILE, or - for standard input'; Value = @{ Kind = 'file' } }
        '--paginate' = @{ Text = 'follow links.pages.next to the end'; Value = $null }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE') } }, @{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/config' = @{
      Commands = [ordered]@{ 'get' = 'print one value of the profile'; 'set' = 'set one value of the profile'; 'unset' = 'remove one value of the profile'; 'list' = 'list the values in force and where each comes from'; 'path' = 'print where the configuration file is' }
      Options = [ordered]@{}
      Places = @()
    }
    '/config/get' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('auth_url', 'base_url', 'client_id', 'callback_urls', 'issuer', 'scope', 'flow', 'token_params', 'pkce', 'credential_store', 'output') } })
    }
    '/config/set' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('auth_url', 'base_url', 'client_id', 'callback_urls', 'issuer', 'scope', 'flow', 'token_params', 'pkce', 'credential_store', 'output') } }, @{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/config/unset' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('auth_url', 'base_url', 'client_id', 'callback_urls', 'issuer', 'scope', 'flow', 'token_params', 'pkce', 'credential_store', 'output') } })
    }
    '/config/list' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/config/path' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/doctor' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @()
    }
    '/completion' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{}
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('bash', 'zsh', 'fish', 'powershell') } })
    }
    '/sandbox' = @{
      Commands = [ordered]@{ 'start' = 'start the sandbox'; 'env' = 'print the variables that point to the sandbox'; 'clock' = 'read, move, stop or start the virtual clock'; 'faults' = 'make requests go wrong: cut connections, delays, broken answers'; 'requests' = 'list the requests the sandbox answered'; 'token' = 'issue tokens without a browser'; 'snapshot' = 'write everything the sandbox knows into a file'; 'restore' = 'put the sandbox back into a state that was written into a file'; 'reset' = 'put the sandbox back to its beginning' }
      Options = [ordered]@{}
      Places = @()
    }
    '/sandbox/start' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--port' = @{ Text = 'of the authorization server; 0 is any free port (0)'; Value = @{ Kind = 'nothing' } }
        '--api-port' = @{ Text = 'of the resource API; 0 is any free port (0)'; Value = @{ Kind = 'nothing' } }
        '--host' = @{ Text = 'a loopback address (127.0.0.1)'; Value = @{ Kind = 'nothing' } }
        '--callback-url' = @{ Text = 'a callback URL to register, instead of one on a free port'; Value = @{ Kind = 'nothing' } }
        '--app' = @{ Text = 'register one more application'; Value = @{ Kind = 'nothing' } }
        '--seed' = @{ Text = 'the same ids and secrets at every start'; Value = @{ Kind = 'nothing' } }
        '--state' = @{ Text = 'keep everything in this folder, so that the next start goes on, after a crash as well (memory)'; Value = @{ Kind = 'folder' } }
        '--consent' = @{ Text = '"approve EMAIL", "approve EMAIL TEAM", deny or ask: answers the consent page by itself (ask)'; Value = @{ Kind = 'nothing' } }
        '--cluster' = @{ Text = 'a server (postgres://, redis://) that migrations into this cluster really fill'; Value = @{ Kind = 'nothing' } }
        '--finish-when-idle' = @{ Text = 'such a migration ends when nothing was left to replicate for 60 s'; Value = $null }
        '--rate-limit' = @{ Text = 'enforce limits on the virtual clock, as in 5000/h,250/m'; Value = @{ Kind = 'nothing' } }
        '--droplet-limit' = @{ Text = 'refuse more droplets than this'; Value = @{ Kind = 'nothing' } }
        '--revoke-on-replay' = @{ Text = 'a code that is used twice kills the tokens of its first use'; Value = $null }
        '--unknown-token-status' = @{ Text = 'how an unknown access token is answered: 404 or 401 (404)'; Value = @{ Kind = 'words'; Words = @('404', '401') } }
        '--no-profile' = @{ Text = 'do not write the profile `sandbox`'; Value = $null }
      }
      Places = @()
    }
    '/sandbox/env' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/clock' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'nothing' } })
    }
    '/sandbox/faults' = @{
      Commands = [ordered]@{ 'add' = 'make requests go wrong'; 'list' = 'list the faults that were added'; 'clear' = 'take every fault back' }
      Options = [ordered]@{}
      Places = @()
    }
    '/sandbox/faults/add' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--match' = @{ Text = 'the requests it is for, as in "POST /v2/droplets"; the method may be left out, and a path may end in * or be written as the route is, as in "GET /v2/droplets/{id}"'; Value = @{ Kind = 'nothing' } }
        '--grant-type' = @{ Text = 'only token requests of this grant type, as in refresh_token'; Value = @{ Kind = 'nothing' } }
        '--action' = @{ Text = 'what happens to them'; Value = @{ Kind = 'words'; Words = @('delay', 'status', 'drop_before_commit', 'commit_then_drop', 'half_body', 'bad_json', 'html_502', 'redirect_307', 'reset', 'slow_drip', 'rate_limit') } }
        '--nth' = @{ Text = 'the first request that fits to meet it (1)'; Value = @{ Kind = 'nothing' } }
        '--times' = @{ Text = 'how many requests meet it (1)'; Value = @{ Kind = 'nothing' } }
        '--delay' = @{ Text = 'real time before the answer, as in 2s or 500ms; between two bytes of a slow_drip (10ms)'; Value = @{ Kind = 'nothing' } }
        '--status' = @{ Text = 'of the action status, 200 to 599 (500)'; Value = @{ Kind = 'nothing' } }
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/faults/list' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/faults/clear' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/requests' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--endpoint' = @{ Text = 'only those of one endpoint, as in "POST /v1/oauth/token"'; Value = @{ Kind = 'nothing' } }
        '--wait' = @{ Text = 'answer when there are at least so many, 30 s at most'; Value = @{ Kind = 'nothing' } }
        '--clear' = @{ Text = 'forget them all; prints nothing'; Value = $null }
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/token' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--user' = @{ Text = 'the person the grant is for'; Value = @{ Kind = 'nothing' } }
        '--scope' = @{ Text = 'read or "read write" (read)'; Value = @{ Kind = 'nothing' } }
        '--team' = @{ Text = 'under a team of that person'; Value = @{ Kind = 'nothing' } }
        '--client-id' = @{ Text = 'the application the grant is for; the first one when left out'; Value = @{ Kind = 'nothing' } }
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
    '/sandbox/snapshot' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'file' } })
    }
    '/sandbox/restore' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @(@{ Variadic = $false; Value = @{ Kind = 'file' } })
    }
    '/sandbox/reset' = @{
      Commands = [ordered]@{  }
      Options = [ordered]@{
        '--admin-url' = @{ Text = 'the sandbox to talk to, instead of the one started last'; Value = @{ Kind = 'nothing' } }
      }
      Places = @()
    }
  }

  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $path = '/'
  $place = 0
  $option = $null
  $ended = $false
  foreach ($word in $words) {
    if ($option) { $option = $null; continue }
    if ($ended) { $place++; continue }
    if ($word -eq '--') { $ended = $true; continue }
    if ($word.StartsWith('-')) {
      $known = if ($levels[$path].Options.Contains($word)) { $levels[$path].Options[$word] } else { $everywhere[$word] }
      if ($known -and $known.Value) { $option = $known }
      continue
    }
    $next = $path.TrimEnd('/') + '/' + $word
    if ($place -eq 0 -and $levels.ContainsKey($next)) { $path = $next } else { $place++ }
  }

  $level = $levels[$path]
  $typed = [string]$wordToComplete
  $prefix = ''
  if (-not $option -and -not $ended -and $typed -match '^(--[^=]+)=(.*)$') {
    $flag = $Matches[1]
    $typed = $Matches[2]
    $prefix = "$flag="
    $option = if ($level.Options.Contains($flag)) { $level.Options[$flag] } else { $everywhere[$flag] }
  }

  $found = [ordered]@{}
  $offer = $null
  if ($option) { $offer = $option.Value }
  elseif (-not $ended -and $typed.StartsWith('-')) {
    foreach ($table in @($everywhere, $level.Options)) {
      foreach ($flag in $table.Keys) { $found[$flag] = $table[$flag].Text }
    }
  } else {
    if ($place -eq 0 -and -not $ended) {
      foreach ($name in $level.Commands.Keys) { $found[$name] = $level.Commands[$name] }
    }
    if ($level.Places.Count -gt 0) {
      $last = $level.Places[$level.Places.Count - 1]
      if ($place -lt $level.Places.Count) { $offer = $level.Places[$place].Value }
      elseif ($last.Variadic) { $offer = $last.Value }
    }
  }
  if ($offer) {
    switch ($offer.Kind) {
      'words' { foreach ($word in $offer.Words) { $found[$word] = $word } }
      'profile' { foreach ($word in @(& 'cloudctl' auth list --output table --format Profile --no-header --no-input 2>$null)) { if ($word) { $found[$word] = $word } } }
      'file' { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) }
      'folder' { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) }
    }
  }

  foreach ($word in $found.Keys) {
    if ($word.StartsWith($typed, [System.StringComparison]::Ordinal)) {
      $text = if ($found[$word]) { $found[$word] } else { $word }
      [System.Management.Automation.CompletionResult]::new("$prefix$word", $word, 'ParameterValue', $text)
    }
  }
}
