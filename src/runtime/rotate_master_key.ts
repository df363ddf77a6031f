// `make rotate-master-key`: step by step, says what comes next. Nothing has to stop for it.
import { asOperator } from '../base/audit.ts';
import { openDb } from '../base/db.ts';
import { runtimeUrl } from '../base/roles.ts';
import { readSetting } from './read_setting.ts';
import { findDatabase } from './find_database.ts';
import { hasSecrets, keepSecrets, masterKeysOf, readHome, readKeys, writeSecrets } from './home.ts';
import { nextMasterKey, rewrapAll } from './rewrap.ts';
import { runCommand } from './run_command.ts';

const rewrap = async (): Promise<number> => {
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), 1);
  try {
    return await rewrapAll(asOperator({ db, keys }, 'make rotate-master-key'));
  } finally {
    await db.end();
  }
};

/** Where the settings are somebody else's: says them. */
const rotateGiven = async ({ MASTER_KEY = '', MASTER_KEY_PREVIOUS }: Record<string, string>) => {
  if (MASTER_KEY_PREVIOUS !== undefined) {
    console.log(`${await rewrap()} data keys are wrapped with the new MASTER_KEY.`);
    console.log('Take MASTER_KEY_PREVIOUS away from every process and from here, and destroy it.');
    return;
  }
  console.log('Give every process these two settings, then run this again with both:\n');
  console.log(`MASTER_KEY=${nextMasterKey(MASTER_KEY)}\nMASTER_KEY_PREVIOUS=${MASTER_KEY}`);
};

/** Where they are the local installation's: keeps them. */
const rotateLocal = async (): Promise<void> => {
  const home = readHome();
  // Whoever only wants to see what it says makes no installation by that.
  if (!hasSecrets(home))
    throw new Error(`There is no installation in ${home.folder}: "make start" makes one.`);
  const { master_key_previous: previous, ...secrets } = await keepSecrets(home);
  if (previous === undefined) {
    const { master_key } = secrets;
    const next = { master_key: nextMasterKey(master_key), master_key_previous: master_key };
    await writeSecrets(home, { ...secrets, ...next });
    console.log('A new master key is in secrets.json. Restart "make start", then run this again.');
    return;
  }
  console.log(`${await rewrap()} data keys are wrapped with the new master key.`);
  await writeSecrets(home, secrets);
  console.log('The one before it is forgotten: it opens backups of before, and nothing else.');
};

await runCommand(() => {
  const given = readSetting('MASTER_KEY');
  return given === undefined ? rotateLocal() : rotateGiven(masterKeysOf(null));
});
