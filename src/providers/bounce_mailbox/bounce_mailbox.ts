/** The mailbox to which an SMTP provider's bounces come: its settings, its address, and one turn of reading it. */
export { mailboxLimits } from './mailbox_limits.ts';
export { findMailbox } from './queries.ts';
export type { MailboxRow } from './queries.ts';
export { readMailbox } from './read_mailbox.ts';
export type { Turn, WhichMailbox } from './read_mailbox.ts';
export {
  completeMailbox,
  findBounceAddress,
  keepMailbox,
  proveMailbox,
  testMailbox,
} from './records.ts';
export type { MailboxChange } from './records.ts';
export { BounceMailbox, BounceMailboxInput } from './schema.ts';
export { toBounceMailbox } from './shown.ts';
export type { TakeMessage } from './turn.ts';
export { makeEnvelopeSender, readEnvelopeSender } from './verp.ts';
export type { BounceAddress } from './verp.ts';
