import { test } from 'vitest';
import { readFileSync } from 'node:fs';
import { readBounceEmail } from '../../src/feedback/bounce_email/bounce_email.ts';
import { judgeReport } from '../../src/feedback/bounce_email/judge.ts';
test('x', async () => {
  const d = JSON.parse(readFileSync('/work/shared/facts/replies/dsn.json','utf8')) as any[];
  for (const e of d) {
    const r = await readBounceEmail(Buffer.from(e.raw));
    const j = r.kind==='report' ? r.report.recipients.map(one => { const x = judgeReport({...r.report, recipients:[one]}, one.addresses[0] ?? 'x@y.zz'); return x && `${x.kind}/${x.bounceType}/${x.suppresses} <${one.addresses}> {${one.diagnostic?.replaceAll(/\s+/g,' ').slice(0,230)}}`; }) : r.kind;
    console.log(e.id, '|', e.meaning, '|', e.kind, '=>', JSON.stringify(j), r.kind==='report' ? `${r.report.sendId} ${r.report.messageIds}`:'');
  }
});
