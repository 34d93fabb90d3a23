# bash completion for cloudctl
# In this shell: source <(cloudctl completion bash)
# In every one: cloudctl completion bash > ~/.local/share/bash-completion/completions/cloudctl

# Adds those of the words, one on a line, that begin with what was typed.
_cloudctl_words() {
  local word
  while IFS= read -r word; do
    if [[ -n $word && $word == "$typed"* ]]; then COMPREPLY+=("$prefix$word"); fi
  done
}

_cloudctl_files() {
  local word
  # Readline completes files best by itself; bash 3 has no compopt.
  if compopt -o default 2>/dev/null; then return; fi
  while IFS= read -r word; do
    if [[ -n $word ]]; then COMPREPLY+=("$prefix$word"); fi
  done < <(compgen "$1" -- "$typed")
}

_cloudctl_profiles() {
  _cloudctl_words < <(cloudctl auth list --output table --format Profile --no-header --no-input 2>/dev/null)
}

_cloudctl() {
  local path=/ option='' ended='' place=0 at=1 word typed prefix=''
  COMPREPLY=()
  while [[ $at -lt $COMP_CWORD ]]; do
    word=${COMP_WORDS[at]}
    at=$((at + 1))
    if [[ -n $option ]]; then
      # Bash splits --output=json at the equals sign.
      if [[ $word != = ]]; then option=''; fi
    elif [[ -n $ended ]]; then
      place=$((place + 1))
    else
      case $word in
        --) ended=1 ;;
        -*=*) ;;
        -*)
          case $path:$word in
            *:--profile | *:-o | *:--output | *:--format | *:--query | *:--auth-url | *:--base-url | *:--timeout | /auth/setup:--client-id | /auth/setup:--callback-url | /auth/setup:--scope | /auth/setup:--flow | /auth/setup:--issuer | /auth/setup:--token-params | /auth/setup:--credential-store | /auth/login:--flow | /auth/login:--scope | /auth/login:--prompt | /auth/login:--account-hint | /auth/login:--login-timeout | /auth/login:--token-params | /auth/login:--credential-store | /actions:--page-size | /actions:--limit | /actions:--status | /actions:--type | /actions:--resource-type | /actions:--region | /actions:--after | /actions:--before | /actions/list:--page-size | /actions/list:--limit | /actions/list:--status | /actions/list:--type | /actions/list:--resource-type | /actions/list:--region | /actions/list:--after | /actions/list:--before | /droplets:--region | /droplets:--tag | /droplets:--limit | /droplets/list:--region | /droplets/list:--tag | /droplets/list:--limit | /droplets/create:--names | /droplets/create:--names-from | /droplets/create:--size | /droplets/create:--image | /droplets/create:--region | /droplets/create:--set | /droplets/create:--batch-size | /droplets/create:--concurrency | /droplets/create:--if-exists | /droplets/create:--resume | /db/preflight:--source | /db/preflight:--engine | /db/preflight:--host | /db/preflight:--port | /db/preflight:--dbname | /db/preflight:--username | /db/preflight:--ignore-dbs | /db/preflight:--ca-file | /db/preflight:--target-version | /db/preflight:--target-extensions | /db/preflight:--method | /db/preflight:--accept | /db/preflight:--source-disk-free | /db/preflight:--target-memory | /db/preflight:--deadline | /db/preflight:--report | /db/preflight:--fix-sql | /db/preflight:--undo-sql | /db/preflight:--baseline | /db/migrate:--source | /db/migrate:--engine | /db/migrate:--host | /db/migrate:--port | /db/migrate:--dbname | /db/migrate:--username | /db/migrate:--ignore-dbs | /db/migrate:--ca-file | /db/migrate:--target-version | /db/migrate:--target-extensions | /db/migrate:--method | /db/migrate:--accept | /db/migrate:--source-disk-free | /db/migrate:--target-memory | /db/migrate:--deadline | /db/migrate:--report | /db/migrate:--fix-sql | /db/migrate:--undo-sql | /db/migrate:--baseline | /db/migrate:--interval | /db/migrate:--slot | /db/watch:--source | /db/watch:--engine | /db/watch:--host | /db/watch:--port | /db/watch:--dbname | /db/watch:--username | /db/watch:--ignore-dbs | /db/watch:--ca-file | /db/watch:--interval | /db/watch:--slot | /db/rehearse:--source | /db/rehearse:--engine | /db/rehearse:--host | /db/rehearse:--port | /db/rehearse:--dbname | /db/rehearse:--username | /db/rehearse:--ignore-dbs | /db/rehearse:--ca-file | /db/rehearse:--into | /db/rehearse:--method | /db/rehearse:--accept | /db/rehearse:--source-disk-free | /db/rehearse:--deadline | /db/rehearse:--patience | /db/rehearse:--interval | /db/rehearse:--report | /db/rehearse:--fix-sql | /db/rehearse:--undo-sql | /db/sequences:--source | /db/sequences:--engine | /db/sequences:--host | /db/sequences:--port | /db/sequences:--dbname | /db/sequences:--username | /db/sequences:--ignore-dbs | /db/sequences:--ca-file | /api:--data | /sandbox/start:--port | /sandbox/start:--api-port | /sandbox/start:--host | /sandbox/start:--callback-url | /sandbox/start:--app | /sandbox/start:--seed | /sandbox/start:--state | /sandbox/start:--consent | /sandbox/start:--cluster | /sandbox/start:--rate-limit | /sandbox/start:--droplet-limit | /sandbox/start:--unknown-token-status | /sandbox/env:--admin-url | /sandbox/clock:--admin-url | /sandbox/faults/add:--match | /sandbox/faults/add:--grant-type | /sandbox/faults/add:--action | /sandbox/faults/add:--nth | /sandbox/faults/add:--times | /sandbox/faults/add:--delay | /sandbox/faults/add:--status | /sandbox/faults/add:--admin-url | /sandbox/faults/list:--admin-url | /sandbox/faults/clear:--admin-url | /sandbox/requests:--endpoint | /sandbox/requests:--wait | /sandbox/requests:--admin-url | /sandbox/token:--user | /sandbox/token:--scope | /sandbox/token:--team | /sandbox/token:--client-id | /sandbox/token:--admin-url | /sandbox/snapshot:--admin-url | /sandbox/restore:--admin-url | /sandbox/reset:--admin-url) option=$word ;;
          esac
          ;;
        *)
          case $place:${path%/}/$word in
            0:/auth | 0:/auth/setup | 0:/auth/login | 0:/auth/status | 0:/auth/token | 0:/auth/refresh | 0:/auth/logout | 0:/auth/list | 0:/auth/switch | 0:/actions | 0:/actions/list | 0:/droplets | 0:/droplets/list | 0:/droplets/create | 0:/db | 0:/db/preflight | 0:/db/migrate | 0:/db/watch | 0:/db/rehearse | 0:/db/sequences | 0:/api | 0:/config | 0:/config/get | 0:/config/set | 0:/config/unset | 0:/config/list | 0:/config/path | 0:/doctor | 0:/completion | 0:/sandbox | 0:/sandbox/start | 0:/sandbox/env | 0:/sandbox/clock | 0:/sandbox/faults | 0:/sandbox/faults/add | 0:/sandbox/faults/list | 0:/sandbox/faults/clear | 0:/sandbox/requests | 0:/sandbox/token | 0:/sandbox/snapshot | 0:/sandbox/restore | 0:/sandbox/reset) path=${path%/}/$word ;;
            *) place=$((place + 1)) ;;
          esac
          ;;
      esac
    fi
  done
  typed=${COMP_WORDS[COMP_CWORD]}
  if [[ -n $option && $typed == = ]]; then typed=''; fi
  if [[ -z $option && -z $ended && $typed == --*=* ]]; then
    option=${typed%%=*}
    prefix=$option=
    typed=${typed#*=}
  fi
  if [[ -n $option ]]; then
    case $path:$option in
      /auth/setup:--flow)
        _cloudctl_words <<'WORDS'
code
implicit
WORDS
        ;;
      /auth/setup:--token-params)
        _cloudctl_words <<'WORDS'
query
body
basic
WORDS
        ;;
      /auth/setup:--credential-store)
        _cloudctl_words <<'WORDS'
keychain
file
WORDS
        ;;
      /auth/login:--flow)
        _cloudctl_words <<'WORDS'
code
implicit
WORDS
        ;;
      /auth/login:--prompt)
        _cloudctl_words <<'WORDS'
none
select_account
WORDS
        ;;
      /auth/login:--token-params)
        _cloudctl_words <<'WORDS'
query
body
basic
WORDS
        ;;
      /auth/login:--credential-store)
        _cloudctl_words <<'WORDS'
keychain
file
WORDS
        ;;
      /actions:--status)
        _cloudctl_words <<'WORDS'
in-progress
completed
errored
WORDS
        ;;
      /actions/list:--status)
        _cloudctl_words <<'WORDS'
in-progress
completed
errored
WORDS
        ;;
      /droplets/create:--names-from) _cloudctl_files -f ;;
      /droplets/create:--if-exists)
        _cloudctl_words <<'WORDS'
fail
skip
create
WORDS
        ;;
      /droplets/create:--resume) _cloudctl_files -f ;;
      /db/preflight:--engine)
        _cloudctl_words <<'WORDS'
postgresql
redis
WORDS
        ;;
      /db/preflight:--ca-file) _cloudctl_files -f ;;
      /db/preflight:--method)
        _cloudctl_words <<'WORDS'
continuous
dump
scan
WORDS
        ;;
      /db/preflight:--report) _cloudctl_files -f ;;
      /db/preflight:--fix-sql) _cloudctl_files -f ;;
      /db/preflight:--undo-sql) _cloudctl_files -f ;;
      /db/preflight:--baseline) _cloudctl_files -f ;;
      /db/migrate:--engine)
        _cloudctl_words <<'WORDS'
postgresql
redis
WORDS
        ;;
      /db/migrate:--ca-file) _cloudctl_files -f ;;
      /db/migrate:--method)
        _cloudctl_words <<'WORDS'
continuous
dump
scan
WORDS
        ;;
      /db/migrate:--report) _cloudctl_files -f ;;
      /db/migrate:--fix-sql) _cloudctl_files -f ;;
      /db/migrate:--undo-sql) _cloudctl_files -f ;;
      /db/migrate:--baseline) _cloudctl_files -f ;;
      /db/watch:--engine)
        _cloudctl_words <<'WORDS'
postgresql
redis
WORDS
        ;;
      /db/watch:--ca-file) _cloudctl_files -f ;;
      /db/rehearse:--engine)
        _cloudctl_words <<'WORDS'
postgresql
redis
WORDS
        ;;
      /db/rehearse:--ca-file) _cloudctl_files -f ;;
      /db/rehearse:--method)
        _cloudctl_words <<'WORDS'
continuous
dump
scan
WORDS
        ;;
      /db/rehearse:--report) _cloudctl_files -f ;;
      /db/rehearse:--fix-sql) _cloudctl_files -f ;;
      /db/rehearse:--undo-sql) _cloudctl_files -f ;;
      /db/sequences:--engine)
        _cloudctl_words <<'WORDS'
postgresql
redis
WORDS
        ;;
      /db/sequences:--ca-file) _cloudctl_files -f ;;
      /api:--data) _cloudctl_files -f ;;
      /sandbox/start:--state) _cloudctl_files -d ;;
      /sandbox/start:--unknown-token-status)
        _cloudctl_words <<'WORDS'
404
401
WORDS
        ;;
      /sandbox/faults/add:--action)
        _cloudctl_words <<'WORDS'
delay
status
drop_before_commit
commit_then_drop
half_body
bad_json
html_502
redirect_307
reset
slow_drip
rate_limit
WORDS
        ;;
      *:--profile) _cloudctl_profiles ;;
      *:-o | *:--output)
        _cloudctl_words <<'WORDS'
table
json
ndjson
yaml
csv
WORDS
        ;;
    esac
    return 0
  fi
  if [[ -z $ended && $typed == -* ]]; then
    _cloudctl_words <<'WORDS'
--profile
-o
--output
--format
--no-header
--query
--auth-url
--base-url
--no-input
-y
--yes
-q
--quiet
--trace
--timeout
--no-color
-h
--help
-V
--version
WORDS
    case $path in
      /auth/setup)
        _cloudctl_words <<'WORDS'
--client-id
--client-secret-stdin
--callback-url
--scope
--flow
--issuer
--token-params
--no-pkce
--credential-store
WORDS
        ;;
      /auth/login)
        _cloudctl_words <<'WORDS'
--flow
--scope
--any-scope
--prompt
--account-hint
--no-browser
--paste
--login-timeout
--accept-scope
--force
--token-params
--no-pkce
--credential-store
WORDS
        ;;
      /auth/status)
        _cloudctl_words <<'WORDS'
--check
WORDS
        ;;
      /auth/logout)
        _cloudctl_words <<'WORDS'
--all
--local
WORDS
        ;;
      /actions)
        _cloudctl_words <<'WORDS'
--page-size
--limit
--status
--type
--resource-type
--region
--after
--before
WORDS
        ;;
      /actions/list)
        _cloudctl_words <<'WORDS'
--page-size
--limit
--status
--type
--resource-type
--region
--after
--before
WORDS
        ;;
      /droplets)
        _cloudctl_words <<'WORDS'
--region
--tag
--limit
WORDS
        ;;
      /droplets/list)
        _cloudctl_words <<'WORDS'
--region
--tag
--limit
WORDS
        ;;
      /droplets/create)
        _cloudctl_words <<'WORDS'
--names
--names-from
--size
--image
--region
--set
--wait
--dry-run
--batch-size
--concurrency
--if-exists
--mark
--resume
WORDS
        ;;
      /db/preflight)
        _cloudctl_words <<'WORDS'
--source
--engine
--host
--port
--dbname
--username
--password-stdin
--disable-ssl
--ignore-dbs
--ca-file
--target-version
--target-extensions
--method
--accept
--strict
--probe
--source-disk-free
--target-memory
--allow-private
--judge-as-public
--deadline
--show-queries
--report
--fix-sql
--undo-sql
--baseline
WORDS
        ;;
      /db/migrate)
        _cloudctl_words <<'WORDS'
--source
--engine
--host
--port
--dbname
--username
--password-stdin
--disable-ssl
--ignore-dbs
--ca-file
--target-version
--target-extensions
--method
--accept
--strict
--probe
--source-disk-free
--target-memory
--allow-private
--judge-as-public
--deadline
--show-queries
--report
--fix-sql
--undo-sql
--baseline
--skip-preflight
--watch
--interval
--until-idle
--slot
WORDS
        ;;
      /db/watch)
        _cloudctl_words <<'WORDS'
--source
--engine
--host
--port
--dbname
--username
--password-stdin
--disable-ssl
--ignore-dbs
--ca-file
--interval
--until-idle
--slot
--show-queries
WORDS
        ;;
      /db/rehearse)
        _cloudctl_words <<'WORDS'
--source
--engine
--host
--port
--dbname
--username
--password-stdin
--disable-ssl
--ignore-dbs
--ca-file
--into
--method
--accept
--strict
--probe
--source-disk-free
--deadline
--show-queries
--keep
--patience
--interval
--report
--fix-sql
--undo-sql
WORDS
        ;;
      /db/sequences)
        _cloudctl_words <<'WORDS'
--source
--engine
--host
--port
--dbname
--username
--password-stdin
--disable-ssl
--ignore-dbs
--ca-file
WORDS
        ;;
      /api)
        _cloudctl_words <<'WORDS'
--data
--paginate
WORDS
        ;;
      /sandbox/start)
        _cloudctl_words <<'WORDS'
--port
--api-port
--host
--callback-url
--app
--seed
--state
--consent
--cluster
--finish-when-idle
--rate-limit
--droplet-limit
--revoke-on-replay
--unknown-token-status
--no-profile
WORDS
        ;;
      /sandbox/env)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/clock)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/faults/add)
        _cloudctl_words <<'WORDS'
--match
--grant-type
--action
--nth
--times
--delay
--status
--admin-url
WORDS
        ;;
      /sandbox/faults/list)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/faults/clear)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/requests)
        _cloudctl_words <<'WORDS'
--endpoint
--wait
--clear
--admin-url
WORDS
        ;;
      /sandbox/token)
        _cloudctl_words <<'WORDS'
--user
--scope
--team
--client-id
--admin-url
WORDS
        ;;
      /sandbox/snapshot)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/restore)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
      /sandbox/reset)
        _cloudctl_words <<'WORDS'
--admin-url
WORDS
        ;;
    esac
    return 0
  fi
  if [[ -z $ended && $place == 0 ]]; then
    case $path in
      /)
        _cloudctl_words <<'WORDS'
auth
actions
droplets
db
api
config
doctor
completion
sandbox
WORDS
        ;;
      /auth)
        _cloudctl_words <<'WORDS'
setup
login
status
token
refresh
logout
list
switch
WORDS
        ;;
      /actions)
        _cloudctl_words <<'WORDS'
list
WORDS
        ;;
      /droplets)
        _cloudctl_words <<'WORDS'
list
create
WORDS
        ;;
      /db)
        _cloudctl_words <<'WORDS'
preflight
migrate
watch
rehearse
sequences
WORDS
        ;;
      /config)
        _cloudctl_words <<'WORDS'
get
set
unset
list
path
WORDS
        ;;
      /sandbox)
        _cloudctl_words <<'WORDS'
start
env
clock
faults
requests
token
snapshot
restore
reset
WORDS
        ;;
      /sandbox/faults)
        _cloudctl_words <<'WORDS'
add
list
clear
WORDS
        ;;
    esac
  fi
  case $path:$place in
      /auth/switch:0) _cloudctl_profiles ;;
      /api:0)
        _cloudctl_words <<'WORDS'
GET
HEAD
POST
PUT
PATCH
DELETE
WORDS
        ;;
      /config/get:0)
        _cloudctl_words <<'WORDS'
auth_url
base_url
client_id
callback_urls
issuer
scope
flow
token_params
pkce
credential_store
output
WORDS
        ;;
      /config/set:0)
        _cloudctl_words <<'WORDS'
auth_url
base_url
client_id
callback_urls
issuer
scope
flow
token_params
pkce
credential_store
output
WORDS
        ;;
      /config/unset:0)
        _cloudctl_words <<'WORDS'
auth_url
base_url
client_id
callback_urls
issuer
scope
flow
token_params
pkce
credential_store
output
WORDS
        ;;
      /completion:0)
        _cloudctl_words <<'WORDS'
bash
zsh
fish
powershell
WORDS
        ;;
      /sandbox/snapshot:0) _cloudctl_files -f ;;
      /sandbox/restore:0) _cloudctl_files -f ;;
  esac
}

complete -F _cloudctl cloudctl
