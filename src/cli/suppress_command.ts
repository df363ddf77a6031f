import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { misused } from './failure.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { plain, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

type State = Awaited<ReturnType<Inside['client']['suppressions']['read']['query']>>;

const show = (email: string, { suppressed, unsubscribed_at }: State): string =>
  [
    suppressed === null
      ? `${plain(email)} is not suppressed.`
      : `${plain(email)} is suppressed since ${toTime(suppressed.created_at)}: ` +
        `${suppressed.reason.replaceAll('_', ' ')}, by ${plain(suppressed.source)}.`,
    ...(unsubscribed_at === null
      ? []
      : [`It gets no marketing mail either: unsubscribed at ${toTime(unsubscribed_at)}.`]),
  ].join('\n');

const suppress = async (given: Given, world: World): Promise<Answer> => {
  const email = given.word(0, 'which address: trunkline suppress ann@example.com').trim();
  const reason = given.text('reason');
  const isLifted = given.is('lift');
  if (isLifted && reason === undefined)
    throw misused('Say why it is lifted: --reason "They asked for it"');
  if (given.is('lift-complaint') && !isLifted) throw misused('--lift-complaint is for --lift.');
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const state = await ask(inside, () =>
    isLifted
      ? client.suppressions.lift.mutate({
          projectId,
          email,
          reason: reason ?? '',
          lift_complaint: given.is('lift-complaint'),
        })
      : client.suppressions.suppress.mutate({
          projectId,
          email,
          ...(reason === undefined ? {} : { note: reason }),
        }),
  );
  return { value: state, text: show(email, state) };
};

export const suppressCommand: Command = {
  name: 'suppress',
  takes: '<address>',
  wordsMax: 1,
  says: 'Leave an address alone from now on, or lift that.',
  options: {
    reason: { takes: 'text', says: 'Why; it stays with the address. Needed to lift.' },
    lift: { says: 'Let it have mail again.' },
    'lift-complaint': {
      says: 'Lift it also where the recipient complained, who asks for mail now.',
    },
  },
  isOfProject: true,
  run: suppress,
};
