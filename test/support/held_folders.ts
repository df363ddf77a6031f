import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { inHalves } from './session.ts';

export type HeldFolders = {
  /** What those were answered that were. */
  answers: IncomingMessage[];
  /** Gives up so many of the others, or all. */
  letGo: (count?: number) => void;
};

/** Folders that somebody begins to send, all at once, and does not finish. */
export const holdFolders = (
  url: string,
  { cookie, count }: { cookie: string; count: number },
): HeldFolders => {
  const answers: IncomingMessage[] = [];
  const open = new Set<ClientRequest>();
  const headers = {
    ...inHalves(cookie),
    origin: url,
    'content-type': 'application/json',
    'content-length': '100',
  };
  for (let at = 0; at < count; at += 1) {
    const one = request(`${url}/admin/trpc/folder.compareFiles`, { method: 'POST', headers });
    open.add(one);
    one.on('error', () => {});
    one.on('response', (answer) => {
      open.delete(one);
      answers.push(answer);
    });
    one.write('{');
  }
  return {
    answers,
    letGo: (some = open.size) => {
      for (const one of [...open].slice(0, some)) {
        open.delete(one);
        one.destroy();
      }
    },
  };
};
