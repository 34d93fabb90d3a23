import { createHash } from 'node:crypto';

/** The style sheet of every panel page. The contrast of the colours meets WCAG AA in both colour schemes. */
export const STYLE_SHEET = `
:root{color-scheme:light dark;--background:#f4f6f8;--card:#fff;--ink:#1c2733;--soft:#526070;--line:#d5dce3;--accent:#0b5cad;--on-accent:#fff;--bad:#a4161a;--good:#1a6b3c;--wash:#eef3f8}
@media (prefers-color-scheme:dark){:root{--background:#12181f;--card:#1a222b;--ink:#e6ebf0;--soft:#a3b0bd;--line:#33404d;--accent:#7cb8f5;--on-accent:#0c1620;--bad:#ff9a9a;--good:#7fd6a0;--wash:#212c37}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--background);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;padding:1rem 1.5rem;border-bottom:1px solid var(--line);background:var(--card)}
header strong{font-weight:650}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;flex:1 1 100%;order:1}
nav [aria-current]{color:var(--ink);font-weight:650;text-decoration:none}
header p{margin:0 0 0 auto;color:var(--soft);font-size:.9rem}
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
a:focus-visible,button:focus-visible,summary:focus-visible,input:focus-visible,select:focus-visible,.scroll:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
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
.application{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start;justify-content:space-between;padding:1.25rem 0;border-top:1px solid var(--line)}
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
code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.9em;overflow-wrap:anywhere}
code.hint{white-space:nowrap}
h3{font-size:1rem;font-weight:650;margin:0 0 .5rem}
.badge{display:inline-block;border:1px solid currentColor;border-radius:99px;padding:0 .55rem;font-size:.82rem;font-weight:600;line-height:1.5;color:var(--soft);white-space:nowrap;vertical-align:.05em}
.badge.good{color:var(--good)}
.badge.bad{color:var(--bad)}
.group{border-top:1px solid var(--line);padding:1.25rem 0 .25rem}
.group h2{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:center;margin:0 0 .5rem}
.group:target h2{color:var(--accent)}
.steps{list-style:none;margin:.75rem 0 1rem;padding:0}
.steps li{position:relative;display:grid;grid-template-columns:10.5rem 1fr;gap:.15rem 1rem;padding:0 0 .9rem 1.6rem}
.steps li:before{content:"";position:absolute;left:.2rem;top:.5rem;width:.7rem;height:.7rem;border-radius:50%;background:var(--good)}
.steps li.minor:before{background:var(--card);border:2px solid var(--soft)}
.steps li.bad:before{background:var(--bad);border-radius:2px}
.steps li:not(:last-child):after{content:"";position:absolute;left:.49rem;top:1.35rem;bottom:-.35rem;width:2px;background:var(--line)}
.steps.short li{grid-template-columns:6.5rem 1fr}
.group:last-child{padding-bottom:0}
.group:last-child>:last-child,.steps li:last-child{margin-bottom:0;padding-bottom:0}
.group form{margin:0 0 1rem}
.steps p{margin:.1rem 0 0;font-size:.92rem;color:var(--soft)}
.when{color:var(--soft);font-variant-numeric:tabular-nums;font-size:.92rem}
.time{font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums;margin:0 0 .5rem}
.fields{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));gap:.25rem 1.25rem}
.fields input,.fields select{width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:8px;padding:.6rem .75rem}
.fields .soft{font-size:.85rem}
.flow{display:flex;flex-wrap:wrap;align-items:stretch;margin:.75rem 0 1rem}
.flow .end{flex:1 1 12rem;border:1px solid var(--line);border-radius:8px;background:var(--wash);padding:.5rem .9rem;overflow-wrap:anywhere}
.flow .end .soft{display:block;font-size:.85rem}
.flow .link{flex:1 1 8rem;position:relative;display:flex;align-items:center;justify-content:center;min-height:2.5rem;margin:0 .35rem}
.flow .link:before{content:"";position:absolute;left:0;right:.45rem;top:50%;border-top:2px solid var(--soft)}
.flow .link:after{content:"";position:absolute;right:0;top:50%;margin-top:-.4rem;border:.45rem solid transparent;border-left-color:var(--soft);border-right:0}
.flow .badge{position:relative;background:var(--card)}
.application .bar{display:flex;margin:0 0 .5rem;flex-wrap:wrap;gap:.25rem .75rem;align-items:center;font-size:.92rem}
.bar svg{flex:1 1 14rem;height:.6rem;border-radius:99px}
.bar span{flex:2 1 16rem}
rect.empty{fill:var(--line)}
rect.done{fill:var(--good)}
rect.active{fill:var(--accent)}
rect.early{fill:var(--soft)}
.database{border-top:1px dashed var(--line);padding:.75rem 0 0;margin:.75rem 0 0}
.application .database p,.application .database ul{margin:0 0 .5rem}
.phases{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem .35rem;margin:0 0 .75rem;padding:0;font-size:.88rem}
.phases li{padding:.1rem .65rem;border-radius:99px;border:1px solid var(--line);color:var(--soft)}
.phases .past{color:var(--good);border-color:currentColor}
.phases .now{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
summary{cursor:pointer;margin:0 0 .5rem}
@media (max-width:40rem){main{margin:.75rem auto;padding:0 .5rem}header p{margin:0}.card{padding:1rem}header{padding:.6rem 1rem}ul.plain li{padding:.4rem .75rem}
.steps li,.steps.short li{grid-template-columns:1fr}
dl{grid-template-columns:1fr;gap:0}
dd{margin:0 0 .5rem}
table,tbody,tr,tbody th,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{padding:.6rem .75rem}
tbody tr:first-child{border-top:0}
tbody th,td{display:grid;grid-template-columns:7rem 1fr;gap:.75rem;padding:.1rem 0}
td.code{min-width:0}
td.empty{display:none}
tbody th:before,td:before{content:attr(data-title);color:var(--soft);font:400 .86rem/1.7 system-ui,sans-serif}
.flow{flex-direction:column}
.flow .end,.flow .link{flex:none}
.flow .link:before{left:50%;right:auto;top:0;bottom:.45rem;border-top:0;border-left:2px solid var(--soft)}
.flow .link:after{right:auto;left:50%;top:auto;bottom:0;margin:0 0 0 -.38rem;border:.45rem solid transparent;border-top-color:var(--soft);border-bottom:0}}
`;

export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE_SHEET).digest('base64')}'`;
