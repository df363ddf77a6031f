import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { misused } from './failure.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { readChoice } from './arguments.ts';
import type { World } from './terminal.ts';

/** As the API names them (`REJECTION_REASONS`). */
const REASONS = ['recipient_refused', 'blocked_by_policy', 'message_refused'] as const;

const requeueOne = async (inside: Inside, sendId: string): Promise<Answer> => {
  const { client, projectId } = inside;
  const send = await ask(inside, () => client.sends.requeue.mutate({ projectId, sendId }));
  return { value: send, text: `The send ${send.id} is ${send.status}.` };
};

const requeueAll = async (
  inside: Inside,
  { reason, provider }: { reason: string; provider: string | undefined },
): Promise<Answer> => {
  const { client, projectId } = inside;
  const wanted = {
    projectId,
    reason: readChoice('--reason', reason, REASONS),
    ...(provider === undefined ? {} : { providerId: provider }),
  };
  let queued = 0;
  for (;;) {
    const told = await ask(inside, () => client.sends.requeueAll.mutate(wanted));
    queued += told.queued;
    if (!told.has_more || told.queued === 0) break;
  }
  const text = `${queued} ${queued === 1 ? 'send is' : 'sends are'} queued again.`;
  return { value: { queued }, text };
};

const requeue = async (given: Given, world: World): Promise<Answer> => {
  const [sendId, reason, provider] = [
    given.words[0],
    given.text('reason'),
    given.text('provider-id'),
  ];
  if ((sendId === undefined) === (reason === undefined))
    throw misused(
      'Say which: trunkline requeue <send id>, or trunkline requeue --reason message_refused.',
    );
  if (provider !== undefined && reason === undefined)
    throw misused('--provider-id is for --reason.');
  const inside = await inProject(given, world, connect(given, world));
  if (sendId !== undefined) return requeueOne(inside, sendId);
  return requeueAll(inside, { reason: reason ?? '', provider });
};

export const requeueCommand: Command = {
  name: 'requeue',
  takes: '[send id]',
  wordsMax: 1,
  says: 'Queue a rejected send again, or all of one reason.',
  more:
    `Reasons: ${REASONS.join(', ')}. Correct the cause at the provider first. Bounces stay ended, so ` +
    'recipient_refused means refusals that do not say that the mailbox is missing or full. Suppressions still stop ' +
    'a send. Each is rendered again: with the template version that it was planned with, and the traits of today.',
  options: {
    reason: {
      takes: 'text',
      says: 'All rejected sends that have this reason, of every email provider.',
    },
    'provider-id': { takes: 'id', says: 'With --reason: only sends of this email provider.' },
  },
  isOfProject: true,
  run: requeue,
};
