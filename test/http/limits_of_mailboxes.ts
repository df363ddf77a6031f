// How much of a bounce mailbox is read, and what its settings may be, at the bound and one past it.
import { expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { boundEmail } from '../../src/feedback/bounce_email/bound_email.ts';
import { readMailbox } from '../../src/providers/providers.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import type { ImapServer } from '../support/imap_server.ts';
import { keepProvider } from '../support/kept_provider.ts';

type Given = { api: TestApi; database: TestDatabase; imap: ImapServer };
const DAY_MS = 86_400_000;
const MARGIN_DAYS = 1;

export const limitsOfMailboxes = ({ api, database, imap }: Given) => {
  /** A provider with these settings of its mailbox. */
  const connect = async (given: object = {}) => {
    const providerId = newId();
    await keepProvider(database, api.project.project_id, providerId, `${providerId}@shop.test`);
    const answer = await api.call('PATCH', `/v1/email-providers/${providerId}`, {
      key: api.project.server_key,
      body: { bounce_mailbox: { ...imap.settings, ...given } },
    });
    return { providerId, status: answer.status };
  };
  const statusesOf = async (settings: readonly object[]) => {
    const statuses = [];
    for (const one of settings) statuses.push((await connect(one)).status);
    return statuses;
  };
  /** The sizes of the messages that one turn reads. */
  const readAll = async (): Promise<number[]> => {
    const { providerId } = await connect();
    const sizes: number[] = [];
    const take = (raw: Buffer) => Promise.resolve(sizes.push(raw.length) < 0);
    await readMailbox(database.deps, { projectId: api.project.project_id, providerId }, { take });
    return sizes;
  };
  return {
    'Bounce address with VERP, before its @': async (value: number) => {
      const of = (chars: number) => ({
        verp: true,
        bounce_address: `${'b'.repeat(chars)}@shop.test`,
      });
      expect(await statusesOf([of(value), of(value + 1)])).toEqual([200, 400]);
    },
    'Name of a folder of a bounce mailbox': async (value: number) => {
      const [longest, longer] = ['f'.repeat(value), 'f'.repeat(value + 1)];
      for (const name of [longest, longer]) imap.folder(name);
      expect(await statusesOf([{ folder: longest }, { folder: longer }])).toEqual([200, 400]);
      const move = (move_to: string) => ({ after_read: 'move', move_to });
      expect(await statusesOf([move(longest), move(longer)])).toEqual([200, 400]);
    },
    'Messages of a bounce mailbox that are read at once; the others wait a minute': async (
      value: number,
    ) => {
      for (let nth = 0; nth <= value; nth += 1) imap.deliver('Hi');
      expect(await readAll()).toHaveLength(value);
    },
    'Start of a message in a bounce mailbox that is read': async (value: number) => {
      for (const bytes of [value, value + 1]) imap.deliver(Buffer.alloc(bytes, 'a'));
      expect(await readAll()).toEqual([value, value]);
      expect(boundEmail(Buffer.alloc(value + 1, 'a'))).toHaveLength(value);
    },
    'How far back a new bounce mailbox is read': async (value: number) => {
      imap.deliver('old', new Date(Date.now() - (value + MARGIN_DAYS) * DAY_MS));
      imap.deliver('within', new Date(Date.now() - value * DAY_MS));
      expect(await readAll()).toEqual(['within'.length]);
    },
  };
};
