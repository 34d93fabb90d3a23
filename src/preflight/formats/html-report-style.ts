/** Of the HTML report: light and dark, narrow and wide, and paper. */
export const htmlReportStyle = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6470;--paper:#fff;--card:#f6f7f9;--line:#dde1e6;--good:#1a7f45;--bad:#b42318;--warn:#9a5b00;--open:#6941a5;--bar:#3b6fd4}
@media (prefers-color-scheme:dark){:root{--ink:#e7eaee;--soft:#a0a9b4;--paper:#14171b;--card:#1d2127;--line:#343a43;--good:#4cc38a;--bad:#ff7b6e;--warn:#f0b04d;--open:#b79cf0;--bar:#7aa2f7}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2rem 1.25rem 4rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.5rem 0 .75rem}h3{font-size:1rem;margin:0}
code,pre{font:.875em/1.45 ui-monospace,monospace}
.soft{color:var(--soft)}
.verdict{border-left:.5rem solid var(--edge);background:var(--card);padding:1rem 1.25rem;border-radius:.4rem}
.continuous{--edge:var(--good)}.dump,.scan{--edge:var(--warn)}.blocked{--edge:var(--bad)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:1rem 0 0}.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right;white-space:nowrap}
.finding{border:1px solid var(--line);border-left:.35rem solid var(--edge);border-radius:.4rem;padding:.75rem 1rem;margin:.6rem 0;break-inside:avoid}
.finding p{margin:.35rem 0 0;overflow-wrap:anywhere}
.fail{--edge:var(--bad)}.unknown{--edge:var(--open)}.warn{--edge:var(--warn)}.info,.skip{--edge:var(--line)}.pass{--edge:var(--good)}
.tag{display:inline-block;font-size:.8rem;font-weight:600;padding:0 .5rem;border-radius:1rem;border:1px solid var(--edge);color:var(--edge);margin-right:.5rem}
.info .tag,.skip .tag{color:var(--soft);border-color:var(--soft)}
pre{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:1rem;overflow:auto;white-space:pre-wrap;user-select:all}
.chart{display:grid;grid-template-columns:minmax(6rem,14rem) 1fr max-content;gap:.3rem .75rem;align-items:center;margin-bottom:1.25rem}.chart span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.chart svg{width:100%;height:1rem;display:block}.chart rect{fill:var(--bar)}
summary{cursor:pointer;font-weight:600;margin:2rem 0 .5rem}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--line:#999;--good:#060;--bad:#900;--warn:#740;--open:#407;--bar:#555}body{max-width:none;padding:0;font-size:11pt}details>*{display:block}pre{white-space:pre-wrap}h2{break-after:avoid}}
`.trim();
