// `make hold-sending` and `make resume-sending`: whether anything may leave the house, as after a restore.
import { asOperator } from '../base/audit.ts';
import { inInstallation, openDb } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { runtimeUrl } from '../base/roles.ts';
import { holdSending } from '../base/sending.ts';
import { FAILOVERS, OVERDUE, resume as resumeAll } from '../delivery/delivery.ts';
import { findDatabase } from './find_database.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';

type CommandDeps = Pick<Deps, 'db' | 'keys' | 'audit'>;

const HOW = `  make resume-sending                  what was due before is not sent (it may have been, after the backup)
  make resume-sending overdue=send     what was due before is sent too, as far as its expires_after allows
  … failover=trusted                   from now on a failover to a standby does not hold sending`;

const hold = async (deps: CommandDeps): Promise<void> => {
  const since = await inInstallation(deps, holdSending);
  console.log(`Nothing is sent since ${since.toISOString()}. To go on:\n${HOW}`);
};

const isOneOf = <Known extends string>(known: readonly Known[], said: string): said is Known =>
  (known as readonly string[]).includes(said);

const resume = async (deps: CommandDeps, overdue: string, failover: string): Promise<void> => {
  const isOverdueSaid = isOneOf(OVERDUE, overdue);
  const isFailoverSaid = isOneOf(FAILOVERS, failover);
  if ((overdue !== '' && !isOverdueSaid) || (failover !== '' && !isFailoverSaid))
    throw new Error(`Say overdue=skip or overdue=send, failover=trusted or failover=held:\n${HOW}`);
  const said = {
    overdue: isOverdueSaid ? overdue : 'skip',
    failover: isFailoverSaid ? failover : null,
  };
  const { was_held: wasHeld, unknown } = await resumeAll(deps, said);
  if (!wasHeld && said.failover === null) {
    console.log('Sending is not held: there is nothing to resume.');
    return;
  }
  console.log('Sending goes on.');
  if (wasHeld && said.overdue === 'skip')
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
