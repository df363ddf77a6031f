import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { FolderError } from './folder_error.ts';

const Sender = z.strictObject({ provider_id: z.uuid(), from_email: z.string() });
export type Sender = z.output<typeof Sender>;

/** Who may send in a project: its providers, which a folder names by their from_email. */
export const listSenders = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Sender)`
    select provider_id, from_email from providers.providers where project_id = ${projectId} order by from_email
  `);

export type Wish = {
  /** The automation that sends. */
  by: string;
  /** Whom its file names. */
  named: string | undefined;
  /** Whom whoever applies it names, where a file names nobody. */
  said: string | undefined;
  /** Who sends this step as it is. */
  now: string | undefined;
};

const CONNECT = 'in the Console, under Settings, Email providers';

const refuse = (senders: readonly Sender[], { by, named, said }: Wish): FolderError => {
  if (senders.length === 0)
    return new FolderError(
      `"${by}" sends mail, and the project has no e-mail provider yet: connect one first ${CONNECT}. ` +
        'Where there are several, --provider says which (with make: provider=).',
    );
  const there = `There are: ${senders.map(({ from_email }) => from_email).join(', ')}`;
  if (named !== undefined)
    return new FolderError(
      `The file of "${by}" names ${named} as who sends, and the project has no such provider: connect it ` +
        `${CONNECT}, or name another in the file. ${there}`,
    );
  return new FolderError(
    `${said === undefined ? '' : `The project has no provider ${said}. `}Say which provider sends "${by}", ` +
      `by its from_email: --provider (with make: provider=). ${there}`,
  );
};

/** The provider of a step: whom the file names, else whom somebody says, else who sends it now, else the only one. */
export const chooseSender = (senders: readonly Sender[], wish: Wish): string => {
  const wanted = wish.named ?? wish.said;
  if (wanted === undefined && wish.now !== undefined) return wish.now;
  const [only, ...more] =
    wanted === undefined ? senders : senders.filter(({ from_email }) => from_email === wanted);
  if (only && more.length === 0) return only.provider_id;
  throw refuse(senders, wish);
};
