import { createHash } from 'node:crypto';

/** The style sheet of every panel page. The contrast of the colours meets WCAG AA in both colour schemes. */
export const STYLE = `
:root{color-scheme:light dark;--background:#f4f6f8;--card:#fff;--ink:#1c2733;--soft:#526070;--line:#d5dce3;--accent:#0b5cad;--on-accent:#fff;--bad:#a4161a;--wash:#eef3f8}
@media (prefers-color-scheme:dark){:root{--background:#12181f;--card:#1a222b;--ink:#e6ebf0;--soft:#a3b0bd;--line:#33404d;--accent:#7cb8f5;--on-accent:#0c1620;--bad:#ff9a9a;--wash:#212c37}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--background);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;padding:1rem 1.5rem;border-bottom:1px solid var(--line);background:var(--card)}
header strong{font-weight:650}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;flex:1 1 20rem}
nav [aria-current]{color:var(--ink);font-weight:650;text-decoration:none}
header p{margin:0;color:var(--soft);font-size:.9rem}
header form{margin:0}
main{max-width:34rem;margin:1.5rem auto;padding:0 1rem}
main.wide{max-width:64rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.75rem}
.card>:last-child{margin-bottom:0}
h1{font-size:1.45rem;line-height:1.3;font-weight:650;margin:0 0 .75rem}
h2{font-size:1.1rem;font-weight:650;margin:0 0 .25rem}
p{margin:0 0 1rem}
.soft{color:var(--soft)}
a{color:var(--accent)}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,.scroll:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
label,legend{display:block;font-weight:600;margin:0 0 .3rem}
input[type=email],input[type=password]{width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:8px;padding:.6rem .75rem;margin-bottom:1.1rem}
fieldset{border:1px solid var(--line);border-radius:8px;padding:.85rem 1rem;margin:0 0 1.25rem}
fieldset label{display:flex;gap:.6rem;align-items:center;font-weight:400;margin:0;padding:.25rem 0}
fieldset.choice{display:flex;flex-wrap:wrap;gap:0 1.5rem;padding:.35rem 1rem;margin:0 0 1rem}
fieldset.choice legend{padding:0 .25rem;margin:0 0 0 -.25rem}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0}
form>.actions:last-child{margin-bottom:.5rem}
button{font:inherit;font-weight:600;border-radius:8px;padding:.6rem 1.2rem;border:1px solid var(--soft);background:var(--card);color:var(--ink);cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.bad{color:var(--bad);border-color:var(--bad)}
button.quiet{border-color:transparent;background:none;color:var(--accent);padding:.6rem .25rem;text-decoration:underline}
form>button.quiet:last-child{padding:.25rem 0}
header button.quiet{padding:.25rem}
.alert{border-left:4px solid var(--bad);background:var(--wash);padding:.75rem 1rem;border-radius:4px}
ul.plain{list-style:none;margin:0 0 1.25rem;padding:0;border:1px solid var(--line);border-radius:8px;background:var(--wash)}
ul.plain li{padding:.55rem 1rem}
ul.plain li+li{border-top:1px solid var(--line)}
.application{display:flex;flex-wrap:wrap;gap:1rem;align-items:center;justify-content:space-between;padding:1.25rem 0;border-top:1px solid var(--line)}
.application p{margin:0}
.application form{margin:0}
.application>div{flex:1 1 20rem}
select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:8px;padding:.6rem .75rem;max-width:100%}
.filter{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center;margin:0 0 1.25rem}
.filter label{margin:0}
.tabs,.pager{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0 0 1rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:0 0 1.25rem}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem;font-weight:400}
thead th{font-weight:600;background:var(--wash);white-space:nowrap}
tbody tr{border-top:1px solid var(--line)}
tbody th{font-weight:600;overflow-wrap:anywhere}
td.number{font-variant-numeric:tabular-nums;white-space:nowrap}
td.code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.86rem;overflow-wrap:anywhere;min-width:15rem}
dl{display:grid;grid-template-columns:auto 1fr;gap:.4rem 1rem;margin:0 0 1rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.92rem}
@media (max-width:40rem){main{margin:.75rem auto;padding:0 .5rem}.card{padding:1rem}header{padding:.6rem 1rem}ul.plain li{padding:.4rem .75rem}}
`;

export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
