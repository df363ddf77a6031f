import { readChoice } from './arguments.ts';
import { askPassword, confirm } from './ask.ts';
import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { toTime } from './terminal.ts';
import type { World } from './terminal.ts';

const OVERDUE = ['skip', 'send'] as const;
const FAILOVERS = ['trusted', 'held'] as const;

const WHY = {
  restored: 'the database was restored, or failed over',
  by_hand: 'somebody said so',
} as const;

const DECIDED = {
  trusted: 'From now on a failover to a standby holds nothing.',
  held: 'From now on a failover to a standby holds sending.',
} as const;

const LOOK =
  'Look for them at the provider, and say what became of them: the send log, status unknown.';

const resume = async (given: Given, world: World): Promise<Answer> => {
  const overdue = readChoice('--overdue', given.text('overdue') ?? 'skip', OVERDUE);
  const said = given.text('failover');
  const failover = said === undefined ? null : readChoice('--failover', said, FAILOVERS);
  const connection = connect(given, world);
  const { client, url } = connection;
  const { is_held, why, held_at } = await ask(connection, () =>
    client.installation.sending.query(),
  );
  if (!is_held && failover === null)
    return {
      value: { was_held: false, unknown: 0 },
      text: 'Sending is not held: nothing to resume.',
    };
  const since = held_at === null ? '' : ` since ${toTime(held_at)}`;
  const state = is_held ? `Nothing is sent${since}: ${WHY[why ?? 'by_hand']}.` : 'Sending goes on.';
  const after =
    overdue === 'skip' ? 'What was due before is not sent.' : 'What was due before is sent, too.';
  await confirm(world, {
    isSaid: given.is('yes'),
    question: `${state}\n${is_held ? `${after} Let mail leave ${url}` : 'Decide about failovers'}?`,
  });
  const password = await askPassword(world, {
    isPiped: given.is('password-stdin'),
    question: 'It is done only with your password again: ',
  });
  const told = await ask(connection, () =>
    client.installation.resumeSending.mutate({ overdue, failover, password }),
  );
  const unknown =
    told.unknown === 0 ? [] : [`${told.unknown} sends that waited are unknown now. ${LOOK}`];
  const decided = failover === null ? [] : [DECIDED[failover]];
  const goesOn = is_held ? 'Sending goes on.' : 'Sending was not held, and goes on.';
  return { value: told, text: [goesOn, ...decided, ...unknown].join('\n') };
};

export const resumeCommand: Command = {
  name: 'resume-sending',
  wordsMax: 0,
  says: 'Let mail leave again after a restore; for administrators.',
  more:
    'What waited in the backup and was due since is unknown then, and not sent: it may have been, in the time ' +
    'that the backup does not know of. With --overdue send it is sent, as far as its expires_after allows.',
  options: {
    overdue: {
      takes: 'skip or send',
      says: 'What becomes of what was due; skip if it is not said.',
    },
    failover: { takes: 'trusted or held', says: 'Whether a failover to a standby holds sending.' },
    yes: { short: 'y', says: 'Do it without asking.' },
    'password-stdin': { says: 'Read your password from standard input.' },
  },
  run: resume,
};
