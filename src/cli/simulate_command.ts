import { readNumber } from './arguments.ts';
import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { findAutomation } from './find.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { plain, styleOf, toTable, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

const PARTLY = ' (of the newest: there was more)';
const DAYS_DEFAULT = 30;
/** The service says how many it goes back; this only keeps what is typed wrongly from being asked. */
const DAYS_MAX = 3_650;

type Simulation = Awaited<ReturnType<Inside['client']['automations']['simulate']['query']>>;

const inPairs = (counts: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(counts)
    .filter(([, count]) => (count ?? 0) > 0)
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
    .join(', ');

const line = (name: string, said: string): string[] =>
  said === '' ? [] : [`${name}: ${plain(said)}`];

const show = (name: string, told: Simulation, world: World): string => {
  const style = styleOf(world);
  const { reached, sent, called } = told;
  const rows = Object.entries(reached).map(([step, count]) => [
    step,
    String(count),
    String(sent[step] ?? ''),
    String(called[step] ?? ''),
  ]);
  const assumed = told.assumed.map(
    ({ says, name: of }) => `  ${says}${of === null ? '' : ` (${of})`}`,
  );
  return [
    style.bold(
      `${plain(name)}, version ${told.version}, from ${toTime(told.from)} to ${toTime(told.to)}`,
    ),
    `triggered: ${told.triggered}, entered: ${told.entered}${told.is_partial ? PARTLY : ''}`,
    ...line('kept out', inPairs(told.kept_out)),
    ...(rows.length === 0 ? [] : [toTable(['STEP', 'REACHED', 'MAILS', 'CALLS'], rows, style)]),
    ...line('not sent', inPairs(told.skipped)),
    ...line('outcomes', inPairs(told.outcomes)),
    ...line('reached the goal before', inPairs(told.converted_before)),
    ...(assumed.length === 0 ? [] : ['What cannot be known of the past:', ...assumed.map(plain)]),
    style.dim('Nobody was mailed.'),
  ].join('\n');
};

const simulate = async (given: Given, world: World): Promise<Answer> => {
  const called = given.word(0, 'which automation: trunkline simulate <automation>');
  const days = readNumber('days', given.text('days') ?? String(DAYS_DEFAULT), {
    min: 1,
    max: DAYS_MAX,
  });
  const inside = await inProject(given, world, connect(given, world));
  const { id: automationId, name } = await findAutomation(inside, called);
  const { client, projectId } = inside;
  const asked = { projectId, automationId, days };
  const told = await ask(inside, () => client.automations.simulate.query(asked));
  return { value: told, text: show(name, told, world) };
};

export const simulateCommand: Command = {
  name: 'simulate',
  takes: '<automation>',
  wordsMax: 1,
  says: 'Say what its latest version would have sent lately.',
  more: 'It is run over the project’s own past, in a snapshot: nobody is mailed.',
  options: {
    days: { takes: 'number', says: 'How far back; 30 if it is not said.' },
  },
  isOfProject: true,
  run: simulate,
};
