# fish completion for cloudctl
# In this shell: cloudctl completion fish | source
# In every one: cloudctl completion fish > ~/.config/fish/completions/cloudctl.fish

function __cloudctl_profiles
  cloudctl auth list --output table --format Profile --no-header --no-input 2>/dev/null
end

# Whether the words before the cursor lead to this command; with a number, whether so many arguments stand behind it.
function __cloudctl_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l path
  set -l place 0
  set -l skip no
  set -l ended no
  for word in $words
    if test $skip = yes
      set skip no
    else if test $ended = yes
      set place (math $place + 1)
    else if test "$word" = --
      set ended yes
    else if string match -q -- '-*' "$word"
      switch "$path/:$word"
        case '*:--profile' '*:-o' '*:--output' '*:--format' '*:--query' '*:--auth-url' '*:--base-url' '*:--timeout' '/auth/setup/:--client-id' '/auth/setup/:--callback-url' '/auth/setup/:--scope' '/auth/setup/:--flow' '/auth/setup/:--issuer' '/auth/setup/:--token-params' '/auth/setup/:--credential-store' '/auth/login/:--flow' '/auth/login/:--scope' '/auth/login/:--prompt' '/auth/login/:--account-hint' '/auth/login/:--login-timeout' '/auth/login/:--token-params' '/auth/login/:--credential-store' '/actions/:--page-size' '/actions/:--limit' '/actions/:--status' '/actions/:--type' '/actions/:--resource-type' '/actions/:--region' '/actions/:--after' '/actions/:--before' '/actions/list/:--page-size' '/actions/list/:--limit' '/actions/list/:--status' '/actions/list/:--type' '/actions/list/:--resource-type' '/actions/list/:--region' '/actions/list/:--after' '/actions/list/:--before' '/droplets/:--region' '/droplets/:--tag' '/droplets/:--limit' '/droplets/list/:--region' '/droplets/list/:--tag' '/droplets/list/:--limit' '/droplets/create/:--names' '/droplets/create/:--names-from' '/droplets/create/:--size' '/droplets/create/:--image' '/droplets/create/:--region' '/droplets/create/:--set' '/droplets/create/:--batch-size' '/droplets/create/:--concurrency' '/droplets/create/:--if-exists' '/droplets/create/:--resume' '/db/preflight/:--source' '/db/preflight/:--engine' '/db/preflight/:--host' '/db/preflight/:--port' '/db/preflight/:--dbname' '/db/preflight/:--username' '/db/preflight/:--ignore-dbs' '/db/preflight/:--ca-file' '/db/preflight/:--target-version' '/db/preflight/:--target-extensions' '/db/preflight/:--method' '/db/preflight/:--accept' '/db/preflight/:--source-disk-free' '/db/preflight/:--target-memory' '/db/preflight/:--deadline' '/db/preflight/:--report' '/db/preflight/:--fix-sql' '/db/preflight/:--undo-sql' '/db/preflight/:--baseline' '/db/migrate/:--source' '/db/migrate/:--engine' '/db/migrate/:--host' '/db/migrate/:--port' '/db/migrate/:--dbname' '/db/migrate/:--username' '/db/migrate/:--ignore-dbs' '/db/migrate/:--ca-file' '/db/migrate/:--target-version' '/db/migrate/:--target-extensions' '/db/migrate/:--method' '/db/migrate/:--accept' '/db/migrate/:--source-disk-free' '/db/migrate/:--target-memory' '/db/migrate/:--deadline' '/db/migrate/:--report' '/db/migrate/:--fix-sql' '/db/migrate/:--undo-sql' '/db/migrate/:--baseline' '/db/migrate/:--interval' '/db/migrate/:--slot' '/db/watch/:--source' '/db/watch/:--engine' '/db/watch/:--host' '/db/watch/:--port' '/db/watch/:--dbname' '/db/watch/:--username' '/db/watch/:--ignore-dbs' '/db/watch/:--ca-file' '/db/watch/:--interval' '/db/watch/:--slot' '/db/rehearse/:--source' '/db/rehearse/:--engine' '/db/rehearse/:--host' '/db/rehearse/:--port' '/db/rehearse/:--dbname' '/db/rehearse/:--username' '/db/rehearse/:--ignore-dbs' '/db/rehearse/:--ca-file' '/db/rehearse/:--into' '/db/rehearse/:--method' '/db/rehearse/:--accept' '/db/rehearse/:--source-disk-free' '/db/rehearse/:--deadline' '/db/rehearse/:--patience' '/db/rehearse/:--interval' '/db/rehearse/:--report' '/db/rehearse/:--fix-sql' '/db/rehearse/:--undo-sql' '/db/sequences/:--source' '/db/sequences/:--engine' '/db/sequences/:--host' '/db/sequences/:--port' '/db/sequences/:--dbname' '/db/sequences/:--username' '/db/sequences/:--ignore-dbs' '/db/sequences/:--ca-file' '/api/:--data' '/sandbox/start/:--port' '/sandbox/start/:--api-port' '/sandbox/start/:--host' '/sandbox/start/:--callback-url' '/sandbox/start/:--app' '/sandbox/start/:--seed' '/sandbox/start/:--state' '/sandbox/start/:--consent' '/sandbox/start/:--cluster' '/sandbox/start/:--rate-limit' '/sandbox/start/:--droplet-limit' '/sandbox/start/:--unknown-token-status' '/sandbox/env/:--admin-url' '/sandbox/clock/:--admin-url' '/sandbox/faults/add/:--match' '/sandbox/faults/add/:--grant-type' '/sandbox/faults/add/:--action' '/sandbox/faults/add/:--nth' '/sandbox/faults/add/:--times' '/sandbox/faults/add/:--delay' '/sandbox/faults/add/:--status' '/sandbox/faults/add/:--admin-url' '/sandbox/faults/list/:--admin-url' '/sandbox/faults/clear/:--admin-url' '/sandbox/requests/:--endpoint' '/sandbox/requests/:--wait' '/sandbox/requests/:--admin-url' '/sandbox/token/:--user' '/sandbox/token/:--scope' '/sandbox/token/:--team' '/sandbox/token/:--client-id' '/sandbox/token/:--admin-url' '/sandbox/snapshot/:--admin-url' '/sandbox/restore/:--admin-url' '/sandbox/reset/:--admin-url'
          set skip yes
      end
    else
      switch "$place:$path/$word"
        case 0:/auth 0:/auth/setup 0:/auth/login 0:/auth/status 0:/auth/token 0:/auth/refresh 0:/auth/logout 0:/auth/list 0:/auth/switch 0:/actions 0:/actions/list 0:/droplets 0:/droplets/list 0:/droplets/create 0:/db 0:/db/preflight 0:/db/migrate 0:/db/watch 0:/db/rehearse 0:/db/sequences 0:/api 0:/config 0:/config/get 0:/config/set 0:/config/unset 0:/config/list 0:/config/path 0:/doctor 0:/completion 0:/sandbox 0:/sandbox/start 0:/sandbox/env 0:/sandbox/clock 0:/sandbox/faults 0:/sandbox/faults/add 0:/sandbox/faults/list 0:/sandbox/faults/clear 0:/sandbox/requests 0:/sandbox/token 0:/sandbox/snapshot 0:/sandbox/restore 0:/sandbox/reset
          set path "$path/$word"
        case '*'
          set place (math $place + 1)
      end
    end
  end
  test "$path/" = "$argv[1]"; and begin
    not set -q argv[2]; or test $place = $argv[2]
  end
end

complete -c cloudctl -f
complete -c cloudctl -l profile -x -a '(__cloudctl_profiles)' -d 'the profile to use'
complete -c cloudctl -s o -l output -x -a 'table json ndjson yaml csv' -d 'how data is printed: table, json, ndjson, yaml or csv'
complete -c cloudctl -l format -x -d 'the columns to print'
complete -c cloudctl -l no-header -d 'leave the header line out'
complete -c cloudctl -l query -x -d 'filter the data before it is printed'
complete -c cloudctl -l auth-url -x -d 'origin of the authorization server'
complete -c cloudctl -l base-url -x -d 'origin of the resource API'
complete -c cloudctl -l no-input -d 'never ask; a missing value is an error'
complete -c cloudctl -s y -l yes -d 'answer yes to every confirmation'
complete -c cloudctl -s q -l quiet -d 'no progress and no notices'
complete -c cloudctl -l trace -d 'print each HTTP request on stderr, without its secrets'
complete -c cloudctl -l timeout -x -d 'the limit of one HTTP request, as in 90s, 5m or 2h (30s)'
complete -c cloudctl -l no-color -d 'no colour'
complete -c cloudctl -s h -l help -d 'print help'
complete -c cloudctl -s V -l version -d 'print the version'

complete -c cloudctl -n '__cloudctl_at / 0' -a auth -d 'log in and out, and see who is logged in'
complete -c cloudctl -n '__cloudctl_at / 0' -a actions -d 'see what was done on the account'
complete -c cloudctl -n '__cloudctl_at / 0' -a droplets -d 'list and create droplets'
complete -c cloudctl -n '__cloudctl_at / 0' -a db -d 'judge an external database and migrate it online into a managed cluster'
complete -c cloudctl -n '__cloudctl_at / 0' -a api -d 'send any request to the resource API'
complete -c cloudctl -n '__cloudctl_at / 0' -a config -d 'read and change the configuration'
complete -c cloudctl -n '__cloudctl_at / 0' -a doctor -d 'look for what would stop a login on this machine'
complete -c cloudctl -n '__cloudctl_at / 0' -a completion -d 'print a completion script for a shell'
complete -c cloudctl -n '__cloudctl_at / 0' -a sandbox -d 'run the whole service on this machine'

complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a setup -d 'tell a profile its servers and its registered application'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a login -d 'log in through the browser'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a status -d 'show who is logged in, and for how long'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a token -d 'print the access token'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a refresh -d 'renew the session now'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a logout -d 'revoke the session and delete it'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a list -d 'list the profiles'
complete -c cloudctl -n '__cloudctl_at /auth/ 0' -a switch -d 'make another profile the current one'

complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l client-id -x -d 'client ID of the registered application'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l client-secret-stdin -d 'read the client secret from standard input'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l callback-url -x -d 'a registered callback URL on this machine; several are tried in order'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l scope -x -d 'read or "read write"'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l flow -x -a 'code implicit' -d 'code or implicit'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l issuer -x -d 'what the server calls itself in `iss`, if it does'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l token-params -x -a 'query body basic' -d 'query, or for standard servers body or basic'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l no-pkce -d 'for servers that refuse PKCE'
complete -c cloudctl -n '__cloudctl_at /auth/setup/' -l credential-store -x -a 'keychain file' -d 'keychain, or file for a file of mode 0600'

complete -c cloudctl -n '__cloudctl_at /auth/login/' -l flow -x -a 'code implicit' -d 'code, or implicit for applications that cannot keep a secret'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l scope -x -d 'read (the default) or "read write"'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l any-scope -d 'let any scope pass, for servers that know others'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l prompt -x -a 'none select_account' -d 'none: without a page if the browser is signed in; select_account: always ask'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l account-hint -x -d 'with --prompt none: the first 6 characters of the expected account UUID'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l no-browser -d 'print the address and open nothing'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l paste -d 'no listener; paste the address of the page you end on'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l login-timeout -x -d 'how long to wait for the browser (5m)'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l accept-scope -d 'keep the session even if another scope was granted'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l force -d 'do not ask before replacing a session that is still good'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l token-params -x -a 'query body basic' -d 'query, or for standard servers body or basic'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l no-pkce -d 'for servers that refuse PKCE'
complete -c cloudctl -n '__cloudctl_at /auth/login/' -l credential-store -x -a 'keychain file' -d 'keychain, or file for a file of mode 0600'

complete -c cloudctl -n '__cloudctl_at /auth/status/' -l check -d 'ask the resource API whether it takes the token, renewing the session first when that is due'





complete -c cloudctl -n '__cloudctl_at /auth/logout/' -l all -d 'every profile'
complete -c cloudctl -n '__cloudctl_at /auth/logout/' -l local -d 'delete only; tell the server nothing'



complete -c cloudctl -n '__cloudctl_at /auth/switch/ 0' -a '(__cloudctl_profiles)'

complete -c cloudctl -n '__cloudctl_at /actions/ 0' -a list -d 'list actions, newest first'
complete -c cloudctl -n '__cloudctl_at /actions/' -l page-size -x -d 'actions in one request, 1 to 200 (200)'
complete -c cloudctl -n '__cloudctl_at /actions/' -l limit -x -d 'stop after so many'
complete -c cloudctl -n '__cloudctl_at /actions/' -l status -x -a 'in-progress completed errored' -d 'only those in this status'
complete -c cloudctl -n '__cloudctl_at /actions/' -l type -x -d 'only those of this type, such as create'
complete -c cloudctl -n '__cloudctl_at /actions/' -l resource-type -x -d 'only those on this type of resource, such as droplet'
complete -c cloudctl -n '__cloudctl_at /actions/' -l region -x -d 'only those in this region'
complete -c cloudctl -n '__cloudctl_at /actions/' -l after -x -d 'only those started after this time (ISO 8601, UTC)'
complete -c cloudctl -n '__cloudctl_at /actions/' -l before -x -d 'only those started before this time (ISO 8601, UTC)'

complete -c cloudctl -n '__cloudctl_at /actions/list/' -l page-size -x -d 'actions in one request, 1 to 200 (200)'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l limit -x -d 'stop after so many'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l status -x -a 'in-progress completed errored' -d 'only those in this status'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l type -x -d 'only those of this type, such as create'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l resource-type -x -d 'only those on this type of resource, such as droplet'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l region -x -d 'only those in this region'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l after -x -d 'only those started after this time (ISO 8601, UTC)'
complete -c cloudctl -n '__cloudctl_at /actions/list/' -l before -x -d 'only those started before this time (ISO 8601, UTC)'

complete -c cloudctl -n '__cloudctl_at /droplets/ 0' -a list -d 'list droplets'
complete -c cloudctl -n '__cloudctl_at /droplets/ 0' -a create -d 'create droplets, one or many'
complete -c cloudctl -n '__cloudctl_at /droplets/' -l region -x -d 'only those in this region'
complete -c cloudctl -n '__cloudctl_at /droplets/' -l tag -x -d 'only those with this tag'
complete -c cloudctl -n '__cloudctl_at /droplets/' -l limit -x -d 'stop after so many'

complete -c cloudctl -n '__cloudctl_at /droplets/list/' -l region -x -d 'only those in this region'
complete -c cloudctl -n '__cloudctl_at /droplets/list/' -l tag -x -d 'only those with this tag'
complete -c cloudctl -n '__cloudctl_at /droplets/list/' -l limit -x -d 'stop after so many'

complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l names -x -d 'names, or patterns of names'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l names-from -r -F -d 'names from a file, one a line; - is standard input'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l size -x -d 'size of every droplet'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l image -x -d 'image of every droplet: a slug or a number'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l region -x -d 'region of every droplet'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l set -x -d 'any other attribute, as in --set tags=\'["web"]\''
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l wait -d 'wait until the droplets are active'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l dry-run -d 'print the requests, also as curl commands, and send nothing'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l batch-size -x -d 'names in one request, 1 to 10 (10)'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l concurrency -x -d 'requests in flight, 1 to 32 (4)'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l if-exists -x -a 'fail skip create' -d 'when droplets have some of the names: fail, skip those names, or create more (fail)'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l mark -d 'tag every droplet with the id of this batch: proof of whose it is'
complete -c cloudctl -n '__cloudctl_at /droplets/create/' -l resume -r -F -d 'go on with the batch of this ledger'

complete -c cloudctl -n '__cloudctl_at /db/ 0' -a preflight -d 'tell the truth about a source database before anything is touched'
complete -c cloudctl -n '__cloudctl_at /db/ 0' -a migrate -d 'start the online migration of an external database into a cluster'
complete -c cloudctl -n '__cloudctl_at /db/ 0' -a watch -d 'follow a migration from its source, and see what would break it'
complete -c cloudctl -n '__cloudctl_at /db/ 0' -a rehearse -d 'do the whole migration into a server of your own, compare, and remove it again'
complete -c cloudctl -n '__cloudctl_at /db/ 0' -a sequences -d 'print the statements that set the target\'s sequences at cut-over'

complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l source -x -d 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l engine -x -a 'postgresql redis' -d 'when there is no URL'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l host -x -d 'public name or address of the source, or a connection string'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l port -x -d 'its port (5432 or 6379)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l dbname -x -d 'its database (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l username -x -d 'its user'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l password-stdin -d 'read the password from standard input'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l disable-ssl -d 'connect without TLS, here and from the service'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l ignore-dbs -x -d 'databases to leave out (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l ca-file -r -F -d 'certificates that sign that of the source'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l target-version -x -d 'version of the target, as in 17, redis-7.2 or valkey-8'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l target-extensions -x -d 'extensions, or Redis modules, the target offers'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l method -x -a 'continuous dump scan' -d 'the method that must be possible (continuous)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l accept -x -d 'waive findings by id; the report records it'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l strict -d 'warnings block as well'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l probe -d 'allow checks that write or fork on the source; the report says what they did'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l source-disk-free -x -d 'free space on the disk of the source, which SQL cannot tell'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l target-memory -x -d 'memory of the target (Redis)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l allow-private -d 'let private and loopback addresses pass'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l judge-as-public -d 'judge addresses as the service would see them, whatever base_url is'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l deadline -x -d 'the limit of the whole preflight (60s)'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l show-queries -d 'print on stderr all that is sent to the source'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l report -r -F -d 'write the report, by its ending: .json .md .html .xml .sarif'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l fix-sql -r -F -d 'write one script that cures what can be cured'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l undo-sql -r -F -d 'write the script that restores what was observed'
complete -c cloudctl -n '__cloudctl_at /db/preflight/' -l baseline -r -F -d 'save the report there, or compare with the one that is there'

complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l source -x -d 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l engine -x -a 'postgresql redis' -d 'when there is no URL'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l host -x -d 'public name or address of the source, or a connection string'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l port -x -d 'its port (5432 or 6379)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l dbname -x -d 'its database (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l username -x -d 'its user'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l password-stdin -d 'read the password from standard input'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l disable-ssl -d 'connect without TLS, here and from the service'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l ignore-dbs -x -d 'databases to leave out (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l ca-file -r -F -d 'certificates that sign that of the source'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l target-version -x -d 'version of the target, as in 17, redis-7.2 or valkey-8'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l target-extensions -x -d 'extensions, or Redis modules, the target offers'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l method -x -a 'continuous dump scan' -d 'the method that must be possible (continuous)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l accept -x -d 'waive findings by id; the report records it'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l strict -d 'warnings block as well'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l probe -d 'allow checks that write or fork on the source; the report says what they did'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l source-disk-free -x -d 'free space on the disk of the source, which SQL cannot tell'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l target-memory -x -d 'memory of the target (Redis)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l allow-private -d 'let private and loopback addresses pass'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l judge-as-public -d 'judge addresses as the service would see them, whatever base_url is'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l deadline -x -d 'the limit of the whole preflight (60s)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l show-queries -d 'print on stderr all that is sent to the source'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l report -r -F -d 'write the report, by its ending: .json .md .html .xml .sarif'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l fix-sql -r -F -d 'write one script that cures what can be cured'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l undo-sql -r -F -d 'write the script that restores what was observed'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l baseline -r -F -d 'save the report there, or compare with the one that is there'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l skip-preflight -d 'start without judging the source'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l watch -d 'follow the migration once it is accepted, as `db watch` does'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l interval -x -d 'between two looks (2s)'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l until-idle -d 'end with exit 0 once nothing is left to replicate'
complete -c cloudctl -n '__cloudctl_at /db/migrate/' -l slot -x -d 'the migration\'s replication slot, or ADDRESS:PORT of its replica, where that cannot be told'

complete -c cloudctl -n '__cloudctl_at /db/watch/' -l source -x -d 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l engine -x -a 'postgresql redis' -d 'when there is no URL'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l host -x -d 'public name or address of the source, or a connection string'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l port -x -d 'its port (5432 or 6379)'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l dbname -x -d 'its database (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l username -x -d 'its user'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l password-stdin -d 'read the password from standard input'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l disable-ssl -d 'connect without TLS, here and from the service'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l ignore-dbs -x -d 'databases to leave out (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l ca-file -r -F -d 'certificates that sign that of the source'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l interval -x -d 'between two looks (2s)'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l until-idle -d 'end with exit 0 once nothing is left to replicate'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l slot -x -d 'the migration\'s replication slot, or ADDRESS:PORT of its replica, where that cannot be told'
complete -c cloudctl -n '__cloudctl_at /db/watch/' -l show-queries -d 'print on stderr all that is sent to the source'

complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l source -x -d 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l engine -x -a 'postgresql redis' -d 'when there is no URL'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l host -x -d 'public name or address of the source, or a connection string'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l port -x -d 'its port (5432 or 6379)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l dbname -x -d 'its database (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l username -x -d 'its user'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l password-stdin -d 'read the password from standard input'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l disable-ssl -d 'connect without TLS, here and from the service'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l ignore-dbs -x -d 'databases to leave out (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l ca-file -r -F -d 'certificates that sign that of the source'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l into -x -d 'the server that is filled: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l method -x -a 'continuous dump scan' -d 'the method that must be possible (continuous)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l accept -x -d 'waive findings by id; the report records it'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l strict -d 'warnings block as well'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l probe -d 'allow checks that write or fork on the source; the report says what they did'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l source-disk-free -x -d 'free space on the disk of the source, which SQL cannot tell'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l deadline -x -d 'the limit of the whole preflight (60s)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l show-queries -d 'print on stderr all that is sent to the source'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l keep -d 'leave the copies on the target'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l patience -x -d 'without any progress for so long it counts as failed (60s)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l interval -x -d 'between two looks of the watch (1s)'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l report -r -F -d 'write the report there as JSON'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l fix-sql -r -F -d 'write one script that cures what can be cured'
complete -c cloudctl -n '__cloudctl_at /db/rehearse/' -l undo-sql -r -F -d 'write the script that restores what was observed'

complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l source -x -d 'postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l engine -x -a 'postgresql redis' -d 'when there is no URL'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l host -x -d 'public name or address of the source, or a connection string'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l port -x -d 'its port (5432 or 6379)'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l dbname -x -d 'its database (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l username -x -d 'its user'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l password-stdin -d 'read the password from standard input'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l disable-ssl -d 'connect without TLS, here and from the service'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l ignore-dbs -x -d 'databases to leave out (PostgreSQL)'
complete -c cloudctl -n '__cloudctl_at /db/sequences/' -l ca-file -r -F -d 'certificates that sign that of the source'

complete -c cloudctl -n '__cloudctl_at /api/' -l data -r -F -d 'the body: JSON, @FILE, or - for standard input'
complete -c cloudctl -n '__cloudctl_at /api/' -l paginate -d 'follow links.pages.next to the end'
complete -c cloudctl -n '__cloudctl_at /api/ 0' -a 'GET HEAD POST PUT PATCH DELETE'

complete -c cloudctl -n '__cloudctl_at /config/ 0' -a get -d 'print one value of the profile'
complete -c cloudctl -n '__cloudctl_at /config/ 0' -a set -d 'set one value of the profile'
complete -c cloudctl -n '__cloudctl_at /config/ 0' -a unset -d 'remove one value of the profile'
complete -c cloudctl -n '__cloudctl_at /config/ 0' -a list -d 'list the values in force and where each comes from'
complete -c cloudctl -n '__cloudctl_at /config/ 0' -a path -d 'print where the configuration file is'

complete -c cloudctl -n '__cloudctl_at /config/get/ 0' -a 'auth_url base_url client_id callback_urls issuer scope flow token_params pkce credential_store output'

complete -c cloudctl -n '__cloudctl_at /config/set/ 0' -a 'auth_url base_url client_id callback_urls issuer scope flow token_params pkce credential_store output'

complete -c cloudctl -n '__cloudctl_at /config/unset/ 0' -a 'auth_url base_url client_id callback_urls issuer scope flow token_params pkce credential_store output'







complete -c cloudctl -n '__cloudctl_at /completion/ 0' -a 'bash zsh fish powershell'

complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a start -d 'start the sandbox'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a env -d 'print the variables that point to the sandbox'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a clock -d 'read, move, stop or start the virtual clock'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a faults -d 'make requests go wrong: cut connections, delays, broken answers'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a requests -d 'list the requests the sandbox answered'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a token -d 'issue tokens without a browser'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a snapshot -d 'write everything the sandbox knows into a file'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a restore -d 'put the sandbox back into a state that was written into a file'
complete -c cloudctl -n '__cloudctl_at /sandbox/ 0' -a reset -d 'put the sandbox back to its beginning'

complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l port -x -d 'of the authorization server; 0 is any free port (0)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l api-port -x -d 'of the resource API; 0 is any free port (0)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l host -x -d 'a loopback address (127.0.0.1)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l callback-url -x -d 'a callback URL to register, instead of one on a free port'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l app -x -d 'register one more application'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l seed -x -d 'the same ids and secrets at every start'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l state -x -a '(__fish_complete_directories)' -d 'keep everything in this folder, so that the next start goes on, after a crash as well (memory)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l consent -x -d '"approve EMAIL", "approve EMAIL TEAM", deny or ask: answers the consent page by itself (ask)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l cluster -x -d 'a server (postgres://, redis://) that migrations into this cluster really fill'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l finish-when-idle -d 'such a migration ends when nothing was left to replicate for 60 s'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l rate-limit -x -d 'enforce limits on the virtual clock, as in 5000/h,250/m'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l droplet-limit -x -d 'refuse more droplets than this'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l revoke-on-replay -d 'a code that is used twice kills the tokens of its first use'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l unknown-token-status -x -a '404 401' -d 'how an unknown access token is answered: 404 or 401 (404)'
complete -c cloudctl -n '__cloudctl_at /sandbox/start/' -l no-profile -d 'do not write the profile `sandbox`'

complete -c cloudctl -n '__cloudctl_at /sandbox/env/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/clock/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/faults/ 0' -a add -d 'make requests go wrong'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/ 0' -a list -d 'list the faults that were added'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/ 0' -a clear -d 'take every fault back'

complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l match -x -d 'the requests it is for, as in "POST /v2/droplets"; the method may be left out, and a path may end in * or be written as the route is, as in "GET /v2/droplets/{id}"'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l grant-type -x -d 'only token requests of this grant type, as in refresh_token'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l action -x -a 'delay status drop_before_commit commit_then_drop half_body bad_json html_502 redirect_307 reset slow_drip rate_limit' -d 'what happens to them'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l nth -x -d 'the first request that fits to meet it (1)'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l times -x -d 'how many requests meet it (1)'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l delay -x -d 'real time before the answer, as in 2s or 500ms; between two bytes of a slow_drip (10ms)'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l status -x -d 'of the action status, 200 to 599 (500)'
complete -c cloudctl -n '__cloudctl_at /sandbox/faults/add/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/faults/list/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/faults/clear/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/requests/' -l endpoint -x -d 'only those of one endpoint, as in "POST /v1/oauth/token"'
complete -c cloudctl -n '__cloudctl_at /sandbox/requests/' -l wait -x -d 'answer when there are at least so many, 30 s at most'
complete -c cloudctl -n '__cloudctl_at /sandbox/requests/' -l clear -d 'forget them all; prints nothing'
complete -c cloudctl -n '__cloudctl_at /sandbox/requests/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/token/' -l user -x -d 'the person the grant is for'
complete -c cloudctl -n '__cloudctl_at /sandbox/token/' -l scope -x -d 'read or "read write" (read)'
complete -c cloudctl -n '__cloudctl_at /sandbox/token/' -l team -x -d 'under a team of that person'
complete -c cloudctl -n '__cloudctl_at /sandbox/token/' -l client-id -x -d 'the application the grant is for; the first one when left out'
complete -c cloudctl -n '__cloudctl_at /sandbox/token/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'

complete -c cloudctl -n '__cloudctl_at /sandbox/snapshot/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'
complete -c cloudctl -n '__cloudctl_at /sandbox/snapshot/ 0' -F

complete -c cloudctl -n '__cloudctl_at /sandbox/restore/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'
complete -c cloudctl -n '__cloudctl_at /sandbox/restore/ 0' -F

complete -c cloudctl -n '__cloudctl_at /sandbox/reset/' -l admin-url -x -d 'the sandbox to talk to, instead of the one started last'
