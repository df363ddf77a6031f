// `make erasures-export file=…` and `make erasures-replay file=…`: the ledger of erasures, kept outside the backups.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { sayDisk } from '../admin/folder/disk.ts';
import { asOperator } from '../base/audit.ts';
import { openDb } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { openLog } from '../base/log.ts';
import { runtimeUrl } from '../base/roles.ts';
import { LedgerEntry, listLedger, replayErasures } from '../profiles/profiles.ts';
import { everyProject, findProject } from '../projects/projects.ts';
import { findDatabase } from './find_database.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';

/** One line of the file: an erase, and whose project it was in. */
const Line = z.strictObject({ project_id: z.uuid(), ...LedgerEntry.shape });

type LedgerDeps = Pick<Deps, 'db' | 'keys' | 'log'>;

async function* toLines(deps: LedgerDeps): AsyncGenerator<string> {
  for await (const projectId of everyProject(deps))
    for await (const entry of listLedger(deps, projectId))
      yield `${JSON.stringify({ project_id: projectId, ...entry })}\n`;
}

/** Writes every erase of every project. The file is there whole or as it was; without one, to stdout. */
const exportLedger = async (deps: LedgerDeps, file: string): Promise<void> => {
  let count = 0;
  if (file === '') {
    for await (const line of toLines(deps))
      if (!process.stdout.write(line)) await once(process.stdout, 'drain');
    return;
  }
  const written = await open(`${file}.new`, 'w', 0o600);
  try {
    for await (const line of toLines(deps)) {
      await written.appendFile(line);
      count += 1;
    }
    await written.sync();
  } finally {
    await written.close();
  }
  await rename(`${file}.new`, file);
  console.error(
    `${file} holds every erasure (${count}): keep it where no backup of the database goes.`,
  );
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

async function* toTexts(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(file) });
  } catch (error) {
    throw sayDisk(error, file);
  }
}

/** The ledger by project. Throws where a line is none: an erase that is passed over would come back. */
const readLedger = async (file: string): Promise<Map<string, LedgerEntry[]>> => {
  const ledger = new Map<string, LedgerEntry[]>();
  let number = 0;
  for await (const text of toTexts(file)) {
    number += 1;
    const line = Line.safeParse(parsed(text));
    if (!line.success) throw new Error(`${file}: line ${number} is no line of a ledger.`);
    const { project_id: projectId, ...entry } = line.data;
    const known = ledger.get(projectId) ?? [];
    known.push(entry);
    ledger.set(projectId, known);
  }
  return ledger;
};

/** Asks again for every erase that the database knows nothing of; a worker does them. */
const replayLedger = async (deps: LedgerDeps, file: string): Promise<void> => {
  if (file === '') throw new Error('Say which ledger: make erasures-replay file=erasures.jsonl');
  for (const [projectId, entries] of await readLedger(file)) {
    if (!(await findProject(deps.db, projectId))) {
      console.error(`  ${projectId}: no such project here; ${entries.length} erasures left out`);
      continue;
    }
    const count = await replayErasures(deps, projectId, entries);
    console.log(`${projectId}: ${count} of ${entries.length} erasures asked for again`);
  }
};

const main = async (command: string, file: string): Promise<void> => {
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), 1);
  const work = command === 'replay' ? replayLedger : exportLedger;
  try {
    await work(asOperator({ db, keys, log: openLog('silent') }, 'make erasures-replay'), file);
  } catch (error) {
    throw sayDisk(error);
  } finally {
    await db.end();
  }
};

const [, , command = '', file = ''] = process.argv;
await runCommand(() => main(command, file));
