// What the README shows to be copied. That each does what it says is run where its package is installed:
// `browser_package.test.ts`, `server_package.test.ts`.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  moduleSnippet,
  scriptTagSnippet,
  segmentSnippet,
  serverSnippet,
} from '../../src/sdk/snippets.ts';

const SNIPPETS = { scriptTagSnippet, moduleSnippet, serverSnippet, segmentSnippet };
const ENTRIES = Object.entries(SNIPPETS);

test.each(ENTRIES)('the README shows the %s as it is', async (_, snippet) => {
  const readme = await readFile(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
  expect(readme).toContain(snippet().replaceAll(/^(?=.)/gm, '    '));
});

test.each(ENTRIES)('the %s has the key and the host of its reader, each once', (_, snippet) => {
  const filled = snippet({ key: 'svc_own_key', apiHost: 'https://own.test' });
  for (const own of ["'svc_own_key'", 'https://own.test'])
    expect(filled.split(own)).toHaveLength(2);
  expect(filled).not.toMatch(/…|example\.com/);
});

test.each(ENTRIES)('nothing that is filled into the %s ends its quotes', (_, snippet) => {
  const odd = `'"\`<>\\ \n`;
  const filled = snippet({ key: odd, apiHost: `https://own.test/${odd}` });
  expect(filled.split('%27%22%60%3c%3e%5c%20%0a')).toHaveLength(3);
});
