import { execFileSync } from 'node:child_process';
import type { TestApi } from '../support/api.ts';

/** What stands for a project's own tokens in what a shell has read. */
const TOKENS = {
  publishable_key: '<the publishable key>',
  server_key: '<the server key>',
  hook_token: '<the hook token>',
} as const;

/** A shell reads a line once, however many projects are asked by it: starting one takes longer than a request. */
const readByShell = new Map<string, string[]>();
const readAsShell = (line: string): string[] => {
  const known = readByShell.get(line);
  if (known) return known;
  const args = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${line}`], {
    encoding: 'utf8',
    env: {
      PUBLISHABLE_KEY: TOKENS.publishable_key,
      SERVER_KEY: TOKENS.server_key,
      WEBHOOK_TOKEN: TOKENS.hook_token,
    },
  })
    .split('\0')
    .slice(0, -1);
  readByShell.set(line, args);
  return args;
};

/** The arguments that a line gives to curl, as a shell reads it. */
export const readCurl = (line: string, project: TestApi['project']) => {
  const args = readAsShell(line).map((arg) =>
    Object.entries(TOKENS).reduce(
      (text, [name, token]) => text.replaceAll(token, project[name as keyof typeof TOKENS]),
      arg,
    ),
  );
  const after = (flag: string) => args.flatMap((arg, at) => (args[at - 1] === flag ? [arg] : []));
  const headers = Object.fromEntries(
    after('-H').map((header) => header.split(': ') as [string, string]),
  );
  const [body] = after('-d');
  const url = args.find((arg) => arg.includes('/v1/') || arg.includes('/webhooks/')) ?? '';
  const method = after('-X')[0] ?? (body === undefined ? 'GET' : 'POST');
  return { url, method, headers, ...(body === undefined ? {} : { body }) };
};
