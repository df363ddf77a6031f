import type { Limit } from '../../base/route.ts';
import { MESSAGE_BYTES_MAX } from './imap.ts';
import { FOLDER_CHARS_MAX, VERP_LOCAL_CHARS_MAX } from './schema.ts';
import { LOOK_BACK_DAYS, MESSAGES_PER_TURN_MAX } from './turn.ts';

const WHERE = '`bounce_mailbox`';

/** The limits of bounce mailboxes. */
export const mailboxLimits: readonly Limit[] = [
  {
    name: 'Bounce address with VERP, before its @',
    value: VERP_LOCAL_CHARS_MAX,
    unit: 'characters',
    where: '`bounce_mailbox.bounce_address`',
  },
  {
    name: 'Name of a folder of a bounce mailbox',
    value: FOLDER_CHARS_MAX,
    unit: 'characters',
    where: '`bounce_mailbox.folder`, `bounce_mailbox.move_to`',
  },
  {
    name: 'Messages of a bounce mailbox that are read at once; the others wait a minute',
    value: MESSAGES_PER_TURN_MAX,
    unit: 'items',
    where: WHERE,
  },
  {
    name: 'Start of a message in a bounce mailbox that is read',
    value: MESSAGE_BYTES_MAX,
    unit: 'bytes',
    where: WHERE,
  },
  {
    name: 'How far back a new bounce mailbox is read',
    value: LOOK_BACK_DAYS,
    unit: 'days',
    where: WHERE,
  },
];
