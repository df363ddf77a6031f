// `make hold-sending` and `make resume-sending`: whether anything may leave the house, as after a restore.
import { asOperator } from '../base/audit.ts';
import { inInstallation, inProject, openDb } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { runtimeUrl } from '../base/roles.ts';
import { countTimeline, holdSending, readSending, resumeSending } from '../base/sending.ts';
import { holdRestored } from '../delivery/delivery.ts';
import { everyProject } from '../projects/projects.ts';
import { findDatabase } from './find_database.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';

type CommandDeps = Pick<Deps, 'db' | 'keys' | 'audit'>;

const HOW = `  make resume-sending                  what was due before is not sent (it may have been, after the backup)
  make resume-sending overdue=send     what was due before is sent too, as far as its expires_after allows
  … failover=trusted                   from now on a failover to a standby does not hold sending`;

/** What may have been handed over after the backup was made is unknown from here on. Answers how many. */
const holdAll = async (deps: CommandDeps, restoredAt: Date): Promise<number> => {
  let count = 0;
  for await (const projectId of everyProject(deps)) {
    let held: number;
    do {
      held = await inProject(deps, projectId, (scope) => holdRestored(scope, restoredAt));
      count += held;
    } while (held > 0);
  }
  return count;
};

const hold = async (deps: CommandDeps): Promise<void> => {
  const since = await inInstallation(deps, holdSending);
  console.log(`Nothing is sent since ${since.toISOString()}. To go on:\n${HOW}`);
};

const resume = async (deps: CommandDeps, overdue: string, failover: string): Promise<void> => {
  if (!['', 'skip', 'send'].includes(overdue) || !['', 'trusted', 'held'].includes(failover))
    throw new Error(`Say overdue=skip or overdue=send, failover=trusted or failover=held:\n${HOW}`);
  const { is_held: isHeld } = await readSending(deps.db);
  const countsTimeline = failover === '' ? null : failover === 'held';
  if (!isHeld) {
    if (countsTimeline === null) {
      console.log('Sending is not held: there is nothing to resume.');
      return;
    }
    await inInstallation(deps, (tx) => countTimeline(tx, countsTimeline));
    console.log('Sending goes on.');
    return;
  }
  const restoredAt = overdue !== 'send' ? await inInstallation(deps, holdSending) : null;
  const unknown = restoredAt ? await holdAll(deps, restoredAt) : 0;
  await inInstallation(deps, (tx) => resumeSending(tx, { restoredAt, countsTimeline }));
  console.log(`Sending goes on.`);
  if (restoredAt)
    console.log(
      `${unknown} sends that waited are unknown now: look for them, and say what became of them.`,
    );
};

const main = async (command: string, overdue: string, failover: string): Promise<void> => {
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), 1);
  try {
    const deps = asOperator({ db, keys }, `make ${command}-sending`);
    await (command === 'hold' ? hold(deps) : resume(deps, overdue, failover));
  } finally {
    await db.end();
  }
};

const [, , command = '', overdue = '', failover = ''] = process.argv;
await runCommand(() => main(command, overdue, failover));
